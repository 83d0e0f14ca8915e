"""Finds the codes that a text says open a lock or silence an alarm: "the safe opens with 7719", "press 4417 at the gate".

A number is such a code if a word before it says that it is used ("with", "press"), a statement ends after it, and its
sentence names a lock and what is done to it; if it follows a code of a lock or place ("the code for the shed is 5580",
"garage combo: 4471", "alarm at the shop, code 7719"); or if it has directions of a dial after a lock. The words are tables in
`policy/data/secret_words.json`. Around each number a limited number of characters is read, so the time is in proportion
to the length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from slowwave.policy.guard.secret_statements import ends_clause
from slowwave.policy.guard.secret_words import choice, word_set
from slowwave.policy.text.lazy_regex import lazy_regex

_CODE: Final = lazy_regex(
    r"(?<![\w.,:/+-])([#*]?(?:[0-9](?:[ -]?[0-9]){2,9}|(?=[0-9A-F]{0,6}[0-9][0-9A-F]{0,6}[0-9])[0-9A-F]{4,7})[#*]?)"
    r"(?![\w.,:/-]?[0-9]|[\w%€$£°-])"
)
_NEXT: Final = lazy_regex(r"\s{1,3}([^\s.,;:!?]+)")
_YEAR: Final = lazy_regex(r"(?:19|20)[0-9]{2}")
_SENTENCE_END: Final = lazy_regex(r"[.!?]\s|\n")
_TURNS: Final = 2
"""The least directions of a dial: "14 right, 32 left, 7"."""
_BEFORE: Final = 90
_AFTER: Final = 60
"""Characters before and after a number in which its sentence is read."""


@dataclass(frozen=True, slots=True)
class _Words:
    """Patterns of what stands before a code, of locks, of what is done to them, of named codes, of dials and their places.

    Attributes:
        aside: the name of a code, apart from the lock: "the alarm of the shop, code 7719".
    """

    lead: re.Pattern[str]
    lock: re.Pattern[str]
    verb: re.Pattern[str]
    named: re.Pattern[str]
    aside: re.Pattern[str]
    dial: re.Pattern[str]
    place: re.Pattern[str]
    turn: re.Pattern[str]


@cache
def _words() -> _Words:
    instruments, fillers = choice("lock_instruments"), choice("lock_fillers")
    names, places = choice("lock_code_names"), f"{choice('locks')}|{choice('code_places')}"
    turn = rf"(?:x\s?)?(?:{choice('dial_directions')})"
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
        named=lazy_regex(
            rf"(?<![^\W_])(?:(?:{names})(?:\s[^\s.,;:]{{1,10}}){{0,3}}?[\s'’](?:{places})|(?:{places})[\s-](?:{names})|keypad|digicode|key ?box|lock ?box|key safe|schlüssel(?:box|safe))"
            rf"(?![^\W_])(?:\s[^\s.,;:=]{{1,12}}){{0,2}}?(?:\s{{0,2}}[:=]\s{{0,2}}|\s(?:(?:{choice('copulas')})\s)?)\Z",
            re.IGNORECASE,
        ),
        aside=lazy_regex(
            rf"(?:[,;(–—-]|(?<![^\W_])(?:{choice('has')}))\s{{1,3}}(?:{names})(?:\s?[:=]|\s(?:{choice('copulas')}))?\s{{1,3}}\Z",
            re.IGNORECASE,
        ),
        dial=lazy_regex(
            rf"(?<![\w.,:/-])[0-9]{{1,2}}(?:\s?{turn}(?!\w))?(?:[\s,;-]{{1,3}}(?:then\s|dann\s)?(?:{turn}\s)?[0-9]{{1,2}}(?:\s?{turn}(?!\w))?){{2,4}}",
            re.IGNORECASE,
        ),
        place=lazy_regex(rf"(?<![^\W_])(?:{places})(?![^\W_])", re.IGNORECASE),
        turn=lazy_regex(rf"(?<![^\W\d_]){turn}(?!\w)", re.IGNORECASE),
    )


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The codes of locks and alarms in a text, as begin, end and kind."""
    words = _words()
    for code in _CODE.finditer(text):
        begin, end = code.span(1)
        before = _SENTENCE_END.split(text[max(0, begin - _BEFORE) : begin])[-1]
        if (ends_clause(text, end) and _is_named(code[1], before)) or (
            code[1][0].isdigit() and _opens(text, before, end)
        ):
            yield begin, end, "PIN"
    for dialled in words.dial.finditer(text):
        is_turned = len(words.turn.findall(dialled[0])) >= _TURNS
        if is_turned and words.place.search(text, max(0, dialled.start() - _BEFORE), dialled.start()):
            yield *dialled.span(), "PIN"


def _is_named(code: str, before: str) -> bool:
    """Whether the name of a code of a lock or place stands before it."""
    words = _words()
    return _YEAR.fullmatch(code) is None and (
        words.named.search(before) is not None
        or (words.aside.search(before) is not None and words.lock.search(before) is not None)
    )


def _opens(text: str, before: str, end: int) -> bool:
    """Whether the sentence of a number says that it opens a lock."""
    words = _words()
    if words.lead.search(before) is None:
        return False
    sentence = f"{before} {_SENTENCE_END.split(text[end : end + _AFTER])[0]}"
    return words.lock.search(sentence) is not None and words.verb.search(sentence) is not None


def _is_followed(text: str, end: int) -> bool:
    """Whether the verb or place of a number follows it: "opens with 7719 on the keypad"."""
    following = _NEXT.match(text, end)
    return following is not None and any(
        following[1].lower() in word_set(table) for table in ("lock_verbs", "lock_places")
    )
