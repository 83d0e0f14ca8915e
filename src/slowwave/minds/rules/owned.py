"""What is said of people and things of the speaker's: my sister, our service, my deadline."""

import re
from typing import Final

from slowwave.minds.rules.english import OF_PEOPLE, PERSON_WORDS
from slowwave.minds.rules.rewrite import Statement
from slowwave.minds.rules.worth import EPISODIC, SEMANTIC, Claim, is_dated, telling

_LONGEST_NOUN: Final = 6  # words
_OWNED_VERB: Final = re.compile(
    r"\b(?P<verb>is|are|was|were|has|have|had|will|can't|doesn't|don't|isn't|uses|runs|lives?|works?|owns?|leads?|likes?|loves?|hates?|prefers?|enjoys?|needs?|"
    r"wants?|moved|started|got|went|passed|died|gave|bought|made|took|joined|said|told|works|studies|teaches|plays?|plans?|helped|taught|"
    r"recommended|came|became|graduated|retired|turned|celebrated|adopted|broke|opened|launched|starts|begins|expires|costs?|depends|serves|stores)\b"
)
_VAGUE_OWNED: Final = re.compile(
    r"^(?:own\b|(?:best|worst) part|question|point|thoughts?|feelings?|mind|heart|head|eyes|day|life|time|way|bad|apolog|understanding|next question|"
    r"hope|guess|experience|dreams?|passion|love|mood|bond|code\b|current code|initial|example|solution|concern|issue|problem|answer|calculation|work\b)",
    re.IGNORECASE,
)


_OF_IDENTITY: Final = re.compile(
    r"(?:(?:(?:full|first|last) )?name|birthday|birth date|native language|mother tongue|pronouns|nationality|address|phone number)$"
)
_VAGUE_TASTE: Final = re.compile(r"(?:it|that|this|how|when|what|the one)\b")
_VAGUE_GOAL: Final = re.compile(r"(?:to )?(?:keep|stay|be |make (?:sure|it)|do|help)\b")
_STATES: Final = frozenset({"is", "are", "has", "have"})


def of_owned(statement: Statement, *, assistant: bool) -> Claim | None:
    """What a statement that begins with "my" or "our" is worth, by the thing it is about."""
    verb = _OWNED_VERB.search(statement.owned)
    if verb is None or _VAGUE_OWNED.match(statement.owned):
        return None
    noun, said = statement.owned[: verb.start()].strip(), statement.owned[verb.end() :].strip()
    if not 0 < len(noun.split()) <= _LONGEST_NOUN or not telling(said, 1):
        return None
    if _OF_IDENTITY.match(noun):
        return Claim(category="identity", kind=SEMANTIC, confidence=0.9)
    if re.match(r"favou?rite\b", noun):
        return None if _VAGUE_TASTE.match(said) else Claim(category="preference", kind=SEMANTIC, confidence=0.9)
    if re.match(r"(?:\w+\s)?(?:goal|aim|plan|target|deadline)\b", noun):
        vague = not telling(said) or _VAGUE_GOAL.match(said)
        return None if vague else Claim(category="goal", kind=SEMANTIC, confidence=0.85)
    return _of_thing(noun, said, verb["verb"], assistant=assistant)


def _of_thing(noun: str, said: str, verb: str, *, assistant: bool) -> Claim | None:
    """People first; other things only if they are the matter of work, or dated."""
    words = noun.lower().split()
    person = words[-1] in PERSON_WORDS or words[0].strip(",") in PERSON_WORDS
    if not telling(said, 1 if person and verb in OF_PEOPLE else 2):
        return None
    happened = is_dated(said) and verb not in _STATES
    if person:
        return Claim(category="person", kind=EPISODIC if happened else SEMANTIC, confidence=0.85)
    if assistant:
        return Claim(category="project", kind=SEMANTIC, confidence=0.75)
    return Claim(category="observation", kind=EPISODIC, confidence=0.75) if is_dated(said) else None
