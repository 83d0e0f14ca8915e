"""Patterns that are tried only near the words that they need: most messages have none, and a search for a word is cheap."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

REACH: Final = 150
"""Characters from a word that a pattern needs to the beginning and to the end of a match."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Lower-case parts of words, one of which must be near a match. Each group is its own key: comparing words takes long."""

    words: tuple[str, ...]


class Words:
    """Where words are in a text; each word is searched for once.

    Attributes:
        text: The text.
        lower: The text in lower case, of the same length.
    """

    def __init__(self, text: str) -> None:
        lower = text.lower()
        self.text = text
        # A few letters become two in lower case; the second is left out, so that positions agree.
        self.lower = lower if len(lower) == len(text) else "".join(c.lower()[0] for c in text)
        self._near: dict[Group, tuple[tuple[int, int], ...]] = {}

    def near(self, group: Group) -> tuple[tuple[int, int], ...]:
        """The spans [start, end) that reach REACH characters before and twice as far behind a word, in order and apart."""
        spans = self._near.get(group)
        if spans is None:
            spans = self._near[group] = self._spans(group.words)
        return spans

    def _spans(self, words: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
        if len(self.lower) <= 2 * REACH:
            for word in words:
                if word in self.lower:
                    return ((0, len(self.lower)),)
            return ()
        places: list[int] = []
        for word in words:
            place = self.lower.find(word)
            while place >= 0:
                places.append(place)
                place = self.lower.find(word, place + REACH // 2)  # those between lie in the same span
        spans: list[tuple[int, int]] = []
        for place in sorted(places):
            start, end = max(0, place - REACH), min(len(self.lower), place + 2 * REACH)
            if spans and start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        return tuple(spans)


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern and the words without which it cannot match.

    Attributes:
        pattern: The pattern.
        needs: Groups of words; one of each group must be near a match.
    """

    pattern: re.Pattern[str]
    needs: tuple[Group, ...] = ()

    def find(self, words: Words) -> Iterator[re.Match[str]]:
        """The matches in order."""
        spans: Sequence[tuple[int, int]] = ((0, len(words.text)),)
        for group in self.needs:
            spans = _common(spans, words.near(group))
            if not spans:
                return
        place = 0
        for start, end in spans:
            for found in self.pattern.finditer(words.text, max(start, place), end):
                # A match that ends with the span may go on, or may have taken its end for the end of the text.
                cut = found.end() == end < len(words.text)
                match = self.pattern.match(words.text, found.start()) if cut else found
                if match:
                    place = match.end()
                    yield match


def _common(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts that lie in both of two ordered lists of spans."""
    common, a, b = [], 0, 0
    while a < len(some) and b < len(others):
        start, end = max(some[a][0], others[b][0]), min(some[a][1], others[b][1])
        if start < end:
            common.append((start, end))
        if some[a][1] < others[b][1]:
            a += 1
        else:
            b += 1
    return common


def cue(pattern: str, *needs: str, flags: int = re.IGNORECASE) -> Cue:
    """A cue; each of `needs` is a group of words (see `group`). The shortest groups are looked for first."""
    return Cue(lazy_regex(pattern, flags), tuple(sorted(map(group, needs), key=lambda one: len(one.words))))


@cache
def group(words: str) -> Group:
    """A group of words separated by spaces, in which "_" is a space and "¶" a line break."""
    return Group(tuple(word.replace("_", " ").replace("¶", "\n") for word in words.split()))
