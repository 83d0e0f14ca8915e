"""Finds exercises in arithmetic, whose figures belong to no person: "I have 12 apples and give Tom 5, how many are left?"."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

_ASKED: Final = lazy_regex(
    r"\bhow (?:many|much|old|long|far|fast|tall|heavy)\b(?P<rest>[^.!?\n]{0,120})", re.IGNORECASE
)
_COUNTED: Final = lazy_regex(
    r"\b(?:left|remain(?:s|ing)?|altogether|in total|in all|each|combined|does (?:he|she|it|(?-i:[A-Z]\w+)|each|the \w+) (?:have|has|need|pay|travel|take|weigh)|do they (?:have|need)|(?:have|get) (?:at the end|then|after)|are there)\b",
    re.IGNORECASE,
)
_FIGURE: Final = lazy_regex(
    r"\b(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twice|half|each)\b", re.IGNORECASE
)
_FIGURES_LEAST: Final = 2


def exercise_spans(text: str) -> Iterator[tuple[int, int]]:
    """The paragraphs that give at least two figures and ask how many there are then.

    >>> list(exercise_spans("I have 12 apples and give Tom 5, how many are left?"))
    [(0, 51)]
    """
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        asked = max((match.start() for match in _ASKED.finditer(text, start, end)), default=start)
        figures = islice(_FIGURE.finditer(text, start, asked), _FIGURES_LEAST)
        if len(list(figures)) == _FIGURES_LEAST and _COUNTED.search(text, start, end):
            yield start, end
        start = end + 1
