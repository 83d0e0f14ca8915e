"""What a user explicitly asks to be remembered, and statements without a verb that only a code or a number makes worth it."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import SEMANTIC, Claim, says_something_definite
from slowwave.minds.offline.rules.pronouns import UnclearError, in_third_person

_ASKED: Final = re.compile(
    r"(?:\b(?:please\s+|pls\s+)?(?:remember|note|save|keep|store|write down|jot down)\s*(?:this|that|it)?(?:\s+(?:for (?:later|me|the future)|in mind|down|somewhere))?(?:\s+that)?"
    r"|\bnote to self|\b(?:make|take) a note(?: that| of)?|\b(?:don['’]?t|do not|never) forget(?: that)?|\bkeep in mind(?: that)?|\b(?:just )?so (?:that )?you (?:have it|know)|\bfor (?:the record|your records|future reference)"
    r"|\bfyi|\bheads[- ]up)\s*[:,–—-]?\s*$",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"^(?:(?:please|pls|plz)\s+)?(?:(?:remember|note)(?: that\b| (?=(?:I|my|our|the|we|mum['’]s|mom['’]s|dad['’]s)\b))|(?:remember|note|save|store|keep)(?: (?:this|that|it))?(?: (?:for (?:later|me)|in mind|down))*[:,]|note to self:?|(?:make|take) a note(?: that\b| of\b|:)|(?:write|jot|get) (?:this|that|it) down[:,]?|(?:don['’]?t|do not) forget(?: that\b|:)?(?! to\b)|"
    r"keep in mind(?: that\b|:)|(?:just )?so (?:that )?you (?:have it|know),?|for (?:the record|your records|future reference),?|fyi:?,?|heads[- ]up:?)\s*",
    re.IGNORECASE,
)
_HEAD_LONGEST: Final = 60  # characters
_DANGLING: Final = re.compile(r"\b(?:you|your|it|this|these|those|they|them)\b", re.IGNORECASE)


def without_request(piece: str) -> tuple[str, bool]:
    """A piece without the words that ask to remember it, and whether it has them.

    >>> without_request("note to self: the bin day is Tuesday")
    ('the bin day is Tuesday', True)
    """
    match = _OPENING.match(piece)
    return (piece[match.end() :], True) if match and match.group().strip() else (piece, False)


def is_asked_for(text: str, start: int) -> bool:
    """Whether the words before a place in a message ask to remember what follows."""
    return bool(_ASKED.search(text[max(0, start - _HEAD_LONGEST) : start]))


def remembered(piece: str, speaker: str) -> tuple[str, str, Claim] | None:
    """A fact of the words that the user asks to remember, without a clause that a rule can read."""
    if re.match(r"to\b", piece) or _DANGLING.search(piece) or not says_something_definite(piece, 2):
        return None
    try:
        text = in_third_person(piece, speaker)
    except UnclearError:
        return None
    return text[:1].upper() + text[1:], speaker, Claim(category="observation", kind=SEMANTIC, confidence=0.8)
