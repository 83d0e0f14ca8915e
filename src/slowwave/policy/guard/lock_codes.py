"""Finds the codes that a text says open a lock or silence an alarm: "the safe opens with 7719", "press 4417 at the gate".

A number is such a code if a word before it says that it is used ("with", "press"), a statement ends after it, and its
sentence names a lock and what is done to it. The words are tables in `policy/data/secret_words.json`. Around each number a
limited number of characters is read, so the time is in proportion to the length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from slowwave.policy.guard.secret_statements import choice, ends_clause, table
from slowwave.policy.text.lazy_regex import lazy_regex

_CODE: Final = lazy_regex(r"(?<![\w.,:/+-])[0-9](?:[ -]?[0-9]){2,9}[#*]?(?![\w.,:/-]?[0-9]|[\w%€$£°-])")
_NEXT: Final = lazy_regex(r"\s{1,3}([^\s.,;:!?]+)")
_SENTENCE_END: Final = lazy_regex(r"[.!?]\s|\n")
_BEFORE: Final = 90
_AFTER: Final = 60
"""Characters before and after a number in which its sentence is read."""


@dataclass(frozen=True, slots=True)
class _Words:
    """Patterns of what stands directly before a code, of locks, and of what is done to them."""

    lead: re.Pattern[str]
    lock: re.Pattern[str]
    verb: re.Pattern[str]


@cache
def _words() -> _Words:
    instruments, fillers = choice("lock_instruments"), choice("lock_fillers")
    return _Words(
        lead=lazy_regex(
            rf"(?:(?<![^\W_])(?:{instruments}|{choice('lock_presses')})(?:\s{{1,3}}(?:{fillers})){{0,3}}\s{{1,3}}|"
            rf"(?<![^\W_])(?:{choice('locks')})\s{{0,2}}[:=]\s{{0,2}})\Z",
            re.IGNORECASE,
        ),
        lock=lazy_regex(
            rf"(?<![^\W_])(?:{choice('locks')}|[^\W_]{{1,20}}(?:{choice('lock_ends')}))(?![^\W_])", re.IGNORECASE
        ),
        verb=lazy_regex(rf"(?<![^\W_])(?:{choice('lock_verbs')}|{choice('lock_presses')})(?![^\W_])", re.IGNORECASE),
    )


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The codes of locks and alarms in a text, as begin, end and kind."""
    words = _words()
    for code in _CODE.finditer(text):
        begin, end = code.span()
        before = _SENTENCE_END.split(text[max(0, begin - _BEFORE) : begin])[-1]
        if words.lead.search(before) is None or not _is_end(text, end):
            continue
        sentence = f"{before} {_SENTENCE_END.split(text[end : end + _AFTER])[0]}"
        if words.lock.search(sentence) and words.verb.search(sentence):
            yield begin, end, "PIN"


def _is_end(text: str, end: int) -> bool:
    """Whether a statement ends after a number, or its verb or place follows: "opens with 7719 on the keypad"."""
    following = _NEXT.match(text, end)
    return ends_clause(text, end) or (
        following is not None and following[1].lower() in {*table("lock_verbs"), *table("lock_places")}
    )
