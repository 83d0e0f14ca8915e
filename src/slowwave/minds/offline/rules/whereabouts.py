"""Reads where things of a household are kept, and how people are reached: "the spare key is under the mat"."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import SEMANTIC, Claim
from slowwave.minds.offline.rules.pronouns import UnclearError, in_third_person
from slowwave.minds.offline.rules.words import KIN

_THINGS: Final = (
    r"codes?|lease|contract|list|keys?|fuse ?box|stopcock|breaker|meter|thermostat|router|passports?|charger|first[- ]aid kit|extinguisher|ladder|tool ?box|tools|remote|alarm|valve|manuals?|documents|papers|"
    r"receipts|will|certificates?|medication|medicine|meds|pills|inhaler|epipen|torch|spares?|bins|suitcases?|safe|wallet|glasses|umbrella|decorations|stash|emergency \w+|instructions"
)
_PLACED: Final = re.compile(
    rf"^(?P<what>(?:the|our|my) (?:[\w'’-]+ ){{0,3}}?(?:{_THINGS})(?: (?:at|in|of|for|to) (?:the|my|our) [\w -]{{2,25}}?)?)(?P<be> (?:is|are|hangs?|lives?|sits?|stays?|lies?|goes?)|['’]s) "
    r"(?P<where>(?:always |kept |hidden |stored |usually |locked |taped |buried )*(?:under|underneath|behind|in|on|above|inside|beneath|below|next to|beside|at|near|off|by|outside|between|with)\s.+)$",
    re.IGNORECASE,
)
_REACHED: Final = re.compile(
    rf"^(?:(?:you|people|anyone) can |please |best to |just |in an emergency,? )*(?:reach|call|phone|ring|text|message|e-?mail|contact) (?P<who>me|us|(?:my|our) (?:[\w-]+ ){{0,2}}?(?:{'|'.join(sorted(KIN))}|lawyer|landlord|landlady|accountant|assistant)(?: [A-Z]\w+)?|[A-Z]\w+(?: [A-Z]\w+)?) "
    r"(?P<how>(?:at|on|via|under|by) .+)$",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"\d{3}|@|\b(?:Signal|WhatsApp|Telegram|Discord|Slack|e-?mail|landline|pager)\b", re.IGNORECASE
)
_POINTING: Final = re.compile(
    r"\b(?:it|this|that|these|those|you|your|here|there|trouble|order|question)\b", re.IGNORECASE
)
_LONGEST: Final = 20  # words


def whereabouts(text: str, speaker: str) -> tuple[str, Claim] | None:
    """Where a thing of the household is, or how a person is reached, as a fact; None for any other text.

    >>> whereabouts("Reach me at 0151 496 0733", "The user")[0]
    'The user can be reached at 0151 496 0733'
    """
    if len(text.split()) > _LONGEST:
        return None
    placed, reached = _PLACED.match(text), _REACHED.match(text)
    try:
        if placed and not _POINTING.search(text):
            verb = placed["be"].replace("'s", " is").replace("’s", " is")
            stated = in_third_person(f"{placed['what']}{verb} {placed['where']}", speaker)
            return f"{stated[:1].upper()}{stated[1:]}", Claim(category="observation", kind=SEMANTIC, confidence=0.8)
        if reached and _ADDRESS.search(reached["how"]):
            who = speaker if reached["who"].lower() in {"me", "us"} else in_third_person(reached["who"], speaker)
            how = in_third_person(reached["how"], speaker)
            text = f"{who[:1].upper()}{who[1:]} can be reached {how}"
            return text, Claim(category="identity" if who == speaker else "person", kind=SEMANTIC, confidence=0.85)
    except UnclearError:
        return None
    return None
