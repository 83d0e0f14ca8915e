"""Recognises introductions at the start of a conversation: "I'm Priya."."""

import re
from typing import Final

from slowwave.minds.offline.rules.claims import SEMANTIC, Claim
from slowwave.minds.offline.rules.rewrite import possessive
from slowwave.minds.offline.rules.split import StatementPiece
from slowwave.minds.offline.rules.verbs import ADVERBS, GENERIC, JOBS, KIN, LEMMAS, PARTICIPLES
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS

_INTRODUCED: Final = re.compile(r"(?:I['’]m|I am)\s+(?P<name>[A-Z][^\W\d_]+(?:[-\s][A-Z][^\W\d_]+)?)")
_PEOPLES: Final = word_set(
    "american british english scottish welsh irish french german swiss austrian italian spanish portuguese dutch belgian danish "
    "swedish norwegian finnish polish czech slovak hungarian romanian bulgarian greek turkish russian ukrainian serbian croatian "
    "bosnian albanian chinese japanese korean vietnamese thai indian pakistani bangladeshi nepali filipino indonesian malaysian "
    "iranian persian iraqi syrian lebanese israeli egyptian moroccan tunisian algerian nigerian ghanaian kenyan ethiopian "
    "canadian mexican brazilian argentinian chilean colombian peruvian cuban australian european african asian arab latino latina "
    "catholic protestant muslim jewish hindu buddhist sikh black white"
)
_STATES: Final = word_set(
    "tired hungry thirsty happy sad sick ill new fine okay ok sorry ready busy free late early lost stuck confused curious bored "
    "vegan vegetarian diabetic gay trans bisexual lesbian single married divorced pregnant retired home back afraid sure glad "
    "excited worried stressed nervous autistic dyslexic unemployed unsure aware"
)
_NO_NAME: Final = STOP_WORDS | ADVERBS | GENERIC | JOBS | KIN | PARTICIPLES | frozenset(LEMMAS) | _PEOPLES | _STATES


def introduced(piece: StatementPiece, speaker: str) -> tuple[str, str, Claim] | None:
    """The text, subject and claim of a sentence that only states the name of its speaker, or None."""
    match = _INTRODUCED.fullmatch(piece.text)
    alone = piece.sentence.rstrip(" \t\n.!,\"'”’)").endswith(piece.text)
    if (
        match is None
        or piece.asks
        or not alone
        or any(w in _NO_NAME for w in re.split(r"[-\s]", match["name"].lower()))
    ):
        return None
    text = f"{possessive(speaker)} name is {match['name']}"
    return text, speaker, Claim(category="identity", kind=SEMANTIC, confidence=0.85)
