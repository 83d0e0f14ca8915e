"""Finds passwords in pairs without the word: "wifi is FritzNet / geheim123", "Zugangsdaten: anna / Rosenkohl-12".

A pair is the name of an account and a text that can hardly be a word, after a name of access data (the table "access_data"
of `policy/data/secret_words.json`). After each name a limited number of characters is read.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from slowwave.policy.guard.secret_statements import ends_clause, is_distinct
from slowwave.policy.guard.secret_words import choice
from slowwave.policy.text.lazy_regex import lazy_regex

_BEFORE: Final = 120
"""Characters before a value in which the name of access data is looked for."""
_VALUE: Final = lazy_regex(r"(?:\s{1,3}[/|]\s{1,3}|(?<=[^\s|])\|(?=[^\s|]))([^\s/|,;]{6,100})")


@cache
def _lead() -> re.Pattern[str]:
    return lazy_regex(
        rf"(?<![^\W_])(?:{choice('access_data')})(?:\s[^\s:=/|]{{1,15}}){{0,3}}?"
        rf"(?:\s{{0,3}}[:=：]\s{{0,3}}|\s(?:{choice('copulas')})\s)[^\s/|]{{2,80}}(?:\s[^\s/|]{{1,20}}){{0,2}}\Z",
        re.IGNORECASE,
    )


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The passwords of the pairs in a text, as begin, end and kind."""
    for pair in _VALUE.finditer(text):
        value = pair[1].rstrip(".!?\"'`)")
        end = pair.start(1) + len(value)
        if (
            is_distinct(value)
            and ends_clause(text, end)
            and _lead().search(text[max(0, pair.start() - _BEFORE) : pair.start()])
        ):
            yield pair.start(1), end, "secret"
