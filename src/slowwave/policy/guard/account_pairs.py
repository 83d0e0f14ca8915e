"""Finds passwords in pairs without the word: "wifi is FritzNet / geheim123", "Zugangsdaten: anna / Rosenkohl-12".

A pair is the name of an account and a text that can hardly be a word, after a name of access data (the table "access_data"
of `policy/data/secret_words.json`). After each name a limited number of characters is read.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from slowwave.policy.guard.secret_statements import choice, ends_clause, is_distinct
from slowwave.policy.text.lazy_regex import lazy_regex

_READ: Final = 160


@cache
def _pair() -> re.Pattern[str]:
    return lazy_regex(
        rf"(?<![^\W_])(?:{choice('access_data')})(?:\s[^\s:=/|]{{1,15}}){{0,3}}?"
        rf"(?:\s{{0,3}}[:=：]\s{{0,3}}|\s(?:{choice('copulas')})\s)"
        r"[^\s/|]{2,80}(?:\s[^\s/|]{1,20}){0,2}?(?:\s{1,3}[/|]\s{1,3}|[/|])([^\s/|,;]{6,100})",
        re.IGNORECASE,
    )


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The passwords of the pairs in a text, as begin, end and kind."""
    if "/" not in text and "|" not in text:
        return
    for pair in _pair().finditer(text):
        value = pair[1].rstrip(".!?\"'`)")
        end = pair.start(1) + len(value)
        if is_distinct(value) and ends_clause(text, end):
            yield pair.start(1), end, "secret"
