"""Detects that a fact tells of a plan which was carried out: the same person did later what an older fact says they intend."""

import re
from datetime import datetime
from typing import Final

from slowwave.minds.offline.rules.morphology import ing_base, past_base
from slowwave.policy.text.dates import mentioned
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

_PLAN: Final = re.compile(
    r"^(?P<who>.+?) (?:(?:is|are) )?(?:still |also |now )?(?:going to|plans? to|planning (?:to|on)|wants? to|would (?:like|love) to|hopes? to|hoping to|intends? to"
    r"|aims? to|aiming to|looks? forward to|looking forward to|thinking (?:of|about)|considering|will|decided to) (?P<verb>[a-z]+) (?P<object>.+)$"
)
_LEAD: Final = re.compile(r"^(?:On|In|At|After|Before|Last)\b[^,]*?(?:,\s*|\s(?=The user\b))")
_DONE: Final = re.compile(
    r"(?: (?:has|have|finally|just|already|recently|successfully))* (?P<verb>[a-z]+) (?P<object>.+)$"
)
_DETERMINER: Final = re.compile(r"^(?:an?|the|my|our|his|her|their|some|the user['’]s|[A-Z]\w+['’]s) ")
_BEFORE_TIME: Final = re.compile(
    r"\s+(?:(?:on|in|by|at|around|during|until|before|after) )?(?:the (?:week|weekend|night|morning|evening) of |early |late )?(?:\d{1,2} )?"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|spring|summer|autumn|winter|(?:19|20)\d\d)\b.*$"
)
_REPEATED: Final = re.compile(r"\b(?:every|each|more|another|again|regularly|often|daily|weekly|any)\b", re.IGNORECASE)
_NO_NOUN_FOLLOWS: Final = STOP_WORDS | {
    "yesterday",
    "today",
    "called",
    "named",
    "using",
    "online",
    "together",
    "finally",
}


def is_carried_out(new: str, at: datetime, old: str, planned_at: datetime) -> bool:
    """Whether a fact says that the plan of an older fact was carried out, and all else that the older fact says.

    The person, the verb and the object are the same words, apart from "a" and "the". A plan for every day, for "another" or for
    "more" is none that ends. An event before the day of the plan, or in a later month than the plan names, is another one.

    Args:
        new: The later fact.
        at: When it was said.
        old: The older fact.
        planned_at: When that was said.

    >>> day = datetime(2026, 5, 1)
    >>> is_carried_out("Ana adopted the cat on 9 May 2026", datetime(2026, 5, 10), "Ana is going to adopt a cat", day)
    True
    >>> is_carried_out("Ana bought a car seat", datetime(2026, 5, 10), "Ana wants to buy a car", day)
    False
    """
    plan = _PLAN.match(old)
    if plan is None or at <= planned_at or _REPEATED.search(old):
        return False
    statement = _LEAD.sub("", new)
    done = _DONE.match(statement.removeprefix(plan["who"])) if statement.startswith(f"{plan['who']} ") else None
    if done is None or past_base(done["verb"]) != (ing_base(plan["verb"]) or plan["verb"]):
        return False
    wanted = _words(_BEFORE_TIME.sub("", plan["object"]))
    found = _words(done["object"])
    if not wanted or not set(wanted) - STOP_WORDS or found[: len(wanted)] != wanted:
        return False
    follows = found[len(wanted) : len(wanted) + 1]
    adds = bool(follows) and follows[0] not in _NO_NOUN_FOLLOWS and not re.search(r"\d", follows[0])
    return not adds and not _is_earlier(new, planned_at) and not _is_after(new, old)


def _words(phrase: str) -> list[str]:
    return [stem(word) if word not in STOP_WORDS else word for word in words(_DETERMINER.sub("", phrase))]


def _is_earlier(text: str, planned_at: datetime) -> bool:
    """Whether a text names a day, month or year that ended before the day of a plan."""
    day = (planned_at.year, planned_at.month, planned_at.day)
    return any(
        year and (year, month or 12, named or 31) < day
        for written in mentioned(text)
        for year, month, named in written.readings
    )


def _is_after(text: str, plan: str) -> bool:
    """Whether all months that a text names are later than all that a plan names."""
    done, planned = _months(text), _months(plan)
    return bool(done and planned) and min(done) > max(planned)


def _months(text: str) -> set[tuple[int, int]]:
    return {(year, month) for written in mentioned(text) for year, month, _ in written.readings if year and month}
