"""Completes sentences that say what is no longer so, and what is so instead: "no longer vegetarian", "moved to Thursday"."""

import re
from datetime import datetime
from typing import Final

from slowwave.minds.offline.rules.morphology import ing_base, participle_base
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.words import JOBS, LASTING_STATES, PEOPLES
from slowwave.policy.text.dates import resolve

_NO_LONGER: Final = re.compile(r"^(?:no longer|not) (?P<state>.+)$", re.IGNORECASE)
_INVERTED: Final = re.compile(
    r"^(?P<never>never(?: again| ever)?|no longer|nowhere|under no circumstances) (?P<helper>will|would|do|am|have|can) I (?P<rest>.+)$",
    re.IGNORECASE,
)
_OF_THINGS: Final = frozenset(
    {"needed", "required", "used", "supported", "maintained", "made", "sold", "considered", "recommended"}
)
_PLACED: Final = frozenset({"at", "with", "in", "on", "under"})
_DAYS: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_MOVED_TO: Final = re.compile(
    rf"\b(?P<moved>(?:moved|postponed|rescheduled|pushed|brought|shifted|changed|put)(?: back| forward| off| up)?(?: from {_DAYS})?) (?P<to>to|till|until) (?P<day>(?:this |next )?{_DAYS})\b",
    re.IGNORECASE,
)


def replaced(text: str) -> str | None:
    """A sentence without a subject that says what is no longer so; None for any other text.

    >>> replaced("no longer vegetarian"), replaced("never again will I fly with them")
    ('I am no longer vegetarian', 'I will never again fly with them')
    """
    if inverted := _INVERTED.match(text):
        return f"I {inverted['helper'].lower()} {inverted['never'].lower()} {inverted['rest']}"
    found = _NO_LONGER.match(text)
    if found is None:
        return None
    words = found["state"].split()
    head = plain(words[0])
    ended = text.lower().startswith("no longer") or bool(re.search(r"\bany ?more\b|\bany longer\b", text))
    stated = head in LASTING_STATES | PEOPLES | JOBS | _PLACED or (
        len(words) > 1 and bool(ing_base(head) or participle_base(head)) and head not in _OF_THINGS
    )
    if head in {"a", "an"}:
        stated = any(plain(word) in JOBS for word in words[1:4])
    return f"I am {text[:1].lower()}{text[1:]}" if ended and stated else None


_EACH_MONTH: Final = re.compile(
    r"(?P<what>\b(?:pay|pays|paid|due|billed|charged|payday|rent|salary|wages|mortgage|invoices?|subscription)\b[^.;,]{0,40}?) on (?P<day>the \d{1,2}(?:st|nd|rd|th))(?! of\b)(?= and\b|$|[,;])",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"\b(?:was|were|paid the|got paid|had|did|didn['’]t|will|['’]ll)\b", re.IGNORECASE)


def with_each_month(text: str) -> str:
    """The text with "of each month" after the day on which something is paid again and again.

    >>> with_each_month("I pay the rent on the 1st")
    'I pay the rent on the 1st of each month'
    """
    if _PAST.search(text):
        return text
    return _EACH_MONTH.sub(r"\g<what> on \g<day> of each month", text)


def with_new_day(text: str, at: datetime) -> str:
    """The text with the date of the day to which something was moved.

    >>> with_new_day("My exam was moved to Friday", datetime(2025, 3, 5))
    'My exam was moved to 7 March 2025'
    """

    def dated(match: re.Match[str]) -> str:
        day = resolve(f"It is on {match['day']}", at).removeprefix("It is on ")
        return f"{match['moved']} {match['to']} {day}"

    return _MOVED_TO.sub(dated, text)
