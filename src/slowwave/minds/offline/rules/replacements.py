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

_ON_A_DAY: Final = re.compile(
    r"(?<!weekly )(?<!usual )\b(?P<what>(?:(?:last|first) (?:working )?day(?! of the week\b)|deadline|exam|interview|flight|wedding|funeral|surgery|operation|appointment)\b[^.;,?]{0,40}?)"
    rf" is (?P<day>(?:this |next )?{_DAYS})\b(?=$|[.,;]| (?:at|in|and|so|but|because)\b)",
    re.IGNORECASE,
)
"""An event that is once, and its weekday."""
_DAY_FIRST: Final = re.compile(
    rf"^(?P<day>(?:this |next )?{_DAYS}|today|tomorrow) is my (?P<what>(?:last|first) (?:working )?day (?:at|with) .+)$",
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
    """The text with the date of the weekday on which an event is, or to which something was moved.

    >>> with_new_day("My exam was moved to Friday", datetime(2025, 3, 5))
    'My exam was moved to 7 March 2025'
    >>> with_new_day("My last day at Roche is Friday", datetime(2025, 3, 5))
    'My last day at Roche is on 7 March 2025'
    """

    def date_of(day: str) -> str:
        return resolve(f"It is on {day}", at).removeprefix("It is on ")

    text = _DAY_FIRST.sub(lambda match: f"my {match['what']} is {match['day']}", text)
    text = _ON_A_DAY.sub(lambda match: f"{match['what']} is on {date_of(match['day'])}", text)
    return _MOVED_TO.sub(lambda match: f"{match['moved']} {match['to']} {date_of(match['day'])}", text)
