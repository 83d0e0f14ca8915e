"""Which clauses about others become a fact: family, named people, pets, what the speaker has, and things."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import (
    EPISODIC,
    SEMANTIC,
    Claim,
    has_name_or_number,
    has_time_word,
    says_something_definite,
    without_time,
)
from slowwave.minds.offline.rules.clause import Clause
from slowwave.minds.offline.rules.morphology import participle_base
from slowwave.minds.offline.rules.phrases import (
    BARE_THE,
    BARE_WORK,
    CALCULATED,
    COORDINATES,
    EMPTY_OBJECT,
    EXERCISE,
    FAILING,
    NO_GOAL,
    NOTHING_HELD,
    OF_IDENTITY,
    OF_PROGRAM,
    SHARP,
    TIMED,
    TO_DO,
    VAGUE_OWNED,
    VAGUE_TASTE,
)
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.words import FAMILIAR, JOBS, KIN, MOODS
from slowwave.policy.text.names import word_set

_ANY: Final = re.compile(r"an? ", re.IGNORECASE)
_OF_MINE: Final = re.compile(r"\b(?:mine|ours|my|our)\b", re.IGNORECASE)
"""Without it a thing that is new to the listener is any such thing: "a train leaves Leeds at 9:15"."""


_NO_BLOOD: Final = re.compile(r"blood (?:type|group) (?!(?:an? |now |probably )?(?:A|B|AB|O|0)\b)", re.IGNORECASE)
"""A joke: "my blood type is coffee"."""
_LIFE: Final = word_set("die retire graduate marry divorce emigrate relapse recover")
"""Verbs that are news of a person without an object: "my dog Max died"."""
_ENJOYING: Final = re.compile(
    r"(?:(?:really|so|just|absolutely) )*(?:(?:getting )?(?:excited|nervous|bored|tired|restless)\b|loving|enjoying|liking|having fun|having a blast|feeling|getting (?:on|along|better|bigger|used))\b",
    re.IGNORECASE,
)
"""How somebody finds something at the moment: "Luna is loving her new bed"."""


def claim_of_other(clause: Clause, *, assistant: bool) -> Claim | None:
    """The claim of a clause whose subject is not the speaker; None for moods, praise and talk about the talk.

    Args:
        clause: The clause in the third person.
        assistant: Whether the conversation is with an assistant rather than between people.
    """
    if clause.of_person and clause.verb in _LIFE and not clause.helper:
        return stated("person", 0.85, clause)
    if clause.subject == "owned":
        return _of_possession(clause, assistant=assistant)
    return _of_named(clause) if clause.subject == "named" else _of_thing(clause, assistant=assistant)


def stated(category: str, confidence: float, clause: Clause, *, kind: str = "") -> Claim:
    """A claim; without a kind it is episodic if the clause tells something of the past, or has a time."""
    if not kind:
        stated = clause.form == "past" or (clause.form in {"perfect", "modal"} and has_time_word(clause.text))
        kind = EPISODIC if stated else SEMANTIC
    return Claim(category=category, kind=kind, confidence=confidence)


def _of_possession(clause: Clause, *, assistant: bool) -> Claim | None:  # noqa: PLR0911 - each return is a rule
    noun = clause.noun.strip(",")
    if _NO_BLOOD.match(f"{noun} {clause.rest}") or OF_PROGRAM.search(clause.rest):
        return None
    if CALCULATED.search(noun) or COORDINATES.search(clause.rest):
        return None
    if re.match(r"(?:\w+\s)?(?:dream|ambition|intention|hope|wish)$", noun) and TO_DO.match(clause.rest):
        return None if NO_GOAL.search(clause.rest) else stated("goal", 0.8, clause, kind=SEMANTIC)
    if VAGUE_OWNED.match(noun) or EMPTY_OBJECT.search(clause.rest) or not says_something_definite(clause.rest, 1):
        return None
    if OF_IDENTITY.search(noun):
        return stated("person" if clause.of_person else "identity", 0.9, clause, kind=SEMANTIC)
    if re.match(r"favou?rite\b", noun):
        return None if VAGUE_TASTE.match(clause.rest) else stated("preference", 0.9, clause, kind=SEMANTIC)
    if re.match(r"(?:\w+\s)?(?:goal|aim|plan|target|deadline)\b", noun):
        vague = not says_something_definite(clause.rest) or NO_GOAL.search(clause.rest)
        return None if vague else stated("goal", 0.85, clause, kind=SEMANTIC)
    if not _stands(clause) or (clause.of_person and clause.verb == "have" and NOTHING_HELD.search(clause.rest)):
        return None
    if clause.of_person:
        return stated("person", 0.85, clause)
    return stated("project" if assistant else "observation", 0.75, clause) if _definite(clause) else None


def _of_named(clause: Clause) -> Claim | None:
    if clause.helper in {"could", "would", "might", "may", "should"} or not _stands(clause):
        return None
    return stated("person", 0.8, clause) if says_something_definite(clause.rest, 1) else None


def _stands(clause: Clause) -> bool:
    """Whether the predicate of something other than the speaker is no mood and no praise."""
    if clause.verb == "be" and re.match(r"about (?![a-z]+ing\b|(?:the|how|to)\b)", clause.rest):
        return says_something_definite(clause.rest, 2)
    words = [
        plain(w)
        for w in clause.rest.split()
        if plain(w) not in {"not", "also", "now", "still", "always", "a", "bit", "already"}
    ]
    if not words or clause.helper in {"could", "would", "might", "may", "should", "must", "can"}:
        return False
    if (clause.form == "progressive" and _ENJOYING.match(clause.rest)) or (
        clause.verb in {"seem", "look", "sound", "feel", "mean", "say", "think", "know"}
        and not clause.rest.startswith("after ")
    ):
        return False
    if clause.verb != "be" or clause.form == "progressive":
        return (
            clause.verb not in {"help", "make", "give", "bring", "keep", "inspire"}
            or has_name_or_number(clause.rest)
            or has_time_word(clause.rest)
        )
    if (
        words[0]
        in {
            "so",
            "very",
            "really",
            "too",
            "always",
            "such",
            "like",
            "what",
            "how",
            "why",
            "just",
            "the",
            "my",
            "pretty",
        }
        | MOODS
    ):
        moved = bool(participle_base(words[0])) and re.match(
            r"\w+ (?:to|by|from|until|till|forward|back)\b", clause.rest
        )
        return (moved or words[0] in {"the", "my", "on", "in", "back", "new"}) and (
            has_name_or_number(clause.rest) or not KIN.isdisjoint(words) or not JOBS.isdisjoint(words)
        )
    return says_something_definite(clause.rest, 1)


def _definite(clause: Clause) -> bool:
    """Whether a clause about a thing has a name, a number, a time, or enough content."""
    of_home = not FAMILIAR.isdisjoint(plain(word) for word in clause.noun.split())
    return (
        has_name_or_number(clause.rest)
        or (of_home and clause.form == "present" and says_something_definite(clause.rest, 1))
        or has_time_word(clause.rest)
        or says_something_definite(clause.rest, {"have": 1, "use": 1, "be": 2}.get(clause.verb, 3))
    )


def _of_thing(clause: Clause, *, assistant: bool) -> Claim | None:
    """A clause about a thing: only with a figure, a code, a date or a name, and not about an exercise or the talk."""
    if clause.verb in {
        "say",
        "mean",
        "show",
        "seem",
        "look",
        "claim",
        "promise",
        "suggest",
        "state",
        "tell",
        "advertise",
        "recommend",
    } or FAILING.match(f"{clause.verb} {clause.rest}"):
        return None
    if _ANY.match(clause.noun) and not _OF_MINE.search(clause.noun):
        return None
    if (
        EXERCISE.search(clause.noun)
        or BARE_WORK.match(clause.noun)
        or not (SHARP.search(clause.rest) or TIMED.search(clause.rest))
        or not says_something_definite(clause.rest, 1)
    ):
        return None
    if clause.helper in {"could", "would", "might", "may", "should", "can"}:
        return None
    dated = re.search(
        r"\b(?:deadline|due|release|launch|meeting|budget|limit|exam|event|review|interview|trip|wedding|appointment|flight|party|version|port|goal|target)\b",
        clause.noun,
        re.IGNORECASE,
    )
    rest = without_time(clause.rest)
    if not assistant and not dated and BARE_THE.match(clause.noun) and not (SHARP.search(rest) or TIMED.search(rest)):
        return None
    category = "goal" if dated and (assistant or clause.form != "past") else "project" if assistant else "observation"
    return stated(category, 0.8, clause, kind=EPISODIC if clause.form == "past" else SEMANTIC)
