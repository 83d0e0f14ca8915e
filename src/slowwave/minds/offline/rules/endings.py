"""States that end: a fact of one says when it was so, or until when."""

import re
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, timedelta
from typing import Final

from slowwave.minds.offline.rules.words import PASSING
from slowwave.policy.text.calendar import MONTHS
from slowwave.policy.text.dates import mentioned

_AGE: Final = re.compile(
    r"\b(?P<be>is|turns) (?:now |already |only )?(?P<age>\d{1,2})(?: years? old| yo)?(?=$|[,;](?!\d)| and\b)"
)
_MOMENT: Final = re.compile(
    r"(?:,\s*|\s+)?\b(?:at the moment|right now|these days|at present|currently|for now|for the time being|this moment)\b(?:,(?! ?\w))?"
)
_STATE: Final = re.compile(rf"\b(?:is|are) (?:\w+ (?:weeks|months) )?(?:{'|'.join(sorted(PASSING))})\b")
_EARLY: Final = 5  # words
_NEAR: Final = 12  # characters after "until"
_UNTIL: Final = re.compile(r"\b(?:until|till|through)\s+(?P<when>.+)$")
_DATED: Final = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The text of a fact whose state ends, and when it ends if it says so."""

    text: str
    expires_at: datetime | None = None


def ending(text: str, at: datetime, *, person: bool = True) -> Ending:
    """The text with the month of a state that ends, and the end of a state that says until when.

    Args:
        text: The text of a fact.
        at: When it was said.
        person: Whether its subject is a person, of whom "is 34" is an age.

    >>> ending("Anna is pregnant", datetime(2023, 5, 8)).text
    'Anna is pregnant as of May 2023'
    >>> ending("The user is 34 years old", datetime(2026, 11, 2)).text
    'The user was 34 years old in November 2026'
    """
    month = f"{MONTHS[at.month - 1]} {at.year}"
    age = _AGE.search(text)
    if age and (person or "old" in age.group()):
        if age["be"] == "is" and int(age["age"]) > 0:
            text = f"{text[: age.start()]}was {age['age']} years old in {month}{text[age.end() :]}"
        return Ending(text=text)
    moment = _MOMENT.search(text)
    if moment and len(text[: moment.start()].split()) > _EARLY and moment.end() < len(text):
        text = re.sub(r"  +", " ", _without_moment(text))  # it belongs to a part of the sentence only
    elif moment and _DATED.search(text):
        text = re.sub(r"  +", " ", _without_moment(text)).strip(" ,")
    elif moment:
        kept = re.sub(r" +(?=,)", "", re.sub(r"  +", " ", _without_moment(text))).strip(" ,")
        text = f"{kept} as of {month}"
    elif _STATE.search(text) and not _DATED.search(text):
        text = f"{text} as of {month}"
    return Ending(text=text, expires_at=_expiry(text, at))


def _without_moment(text: str) -> str:
    """The text without "at the moment" and the like; a comma before them stays between two clauses."""
    return _MOMENT.sub(lambda m: ", " if m.group().startswith(",") and m.end() < len(text) else " ", text)


def _expiry(text: str, at: datetime) -> datetime | None:
    """The end of the last day that an "until" names, if it is to come."""
    until = _UNTIL.search(text)
    written = mentioned(until["when"]) if until else ()
    if not written or not written[0].readings or written[0].start > _NEAR:
        return None
    year, month, day = written[0].readings[0]
    if year is None or year == MAXYEAR:  # "until 31 December 9999" means for ever
        return None
    if day is not None and month is not None:
        end = datetime(year, month, day, tzinfo=at.tzinfo) + timedelta(days=1)
    elif month is not None:
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=at.tzinfo)
    else:
        end = datetime(year + 1, 1, 1, tzinfo=at.tzinfo)
    return end if end > at else None
