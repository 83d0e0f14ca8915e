"""Rates statements: whether they are definite, and the likelihood that a later question needs them."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.rules.words import GENERIC
from slowwave.policy.text.tokens import STOP_WORDS, terms, words

EPISODIC, SEMANTIC, PROCEDURAL = "episodic", "semantic", "procedural"

TIMES: Final = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Apr|Jun|"
    r"Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)(?:day)?\b|\b(?:yesterday|today|tonight|tomorrow|ago|weekend|"
    r"week|month|year|summer|winter|spring|fall|autumn|morning|afternoon|evening|years|months|weeks)\b"
)
_NAMED: Final = re.compile(r"(?<=[a-z,\"'] )[\"“]?[A-Z][\w'’]+|[A-Z]{2,}")
_FIGURE: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|eighteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|dozen|first|second|third)\b"
)


_COUNT_MAX: Final = 3
_INSTRUCTED: Final = 9.0
_PREFERRED: Final = 1.0
_NEVER: Final = 1.0
_LASTING: Final = frozenset({"preference", "identity", "person", "decision"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The classification of a statement. `confidence` is the precision of the rule on manually checked conversations."""

    category: str
    kind: str
    confidence: float


def says_something_definite(text: str, least: int = 2) -> bool:
    """Whether a text says anything definite: it has at least `least` content words, or one with a name or number.

    >>> [says_something_definite(text) for text in ("some great things", "a pottery class", "to Bern")]
    [False, True, True]
    """
    content = {w for w in words(text) if w not in STOP_WORDS and w not in GENERIC}
    return len(content) >= least or bool(content and has_name_or_number(text))


def has_name_or_number(text: str) -> bool:
    """Whether a text contains a name or a number."""
    return bool(_NAMED.search(f"a {text}") or _FIGURE.search(text))


def has_time_word(text: str) -> bool:
    """Whether a text contains a word of time."""
    return bool(TIMES.search(text))


_WRITTEN_TIME: Final = re.compile(
    r"\b(?:(?P<span>the (?:week|weekend|morning|afternoon|evening|night) of )?(?P<day>\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4})"
    r"|(?P<month>(?:(?:January|February|March|April|May|June|July|August|September|October|November|December|summer|winter|spring|autumn) )?(?:19|20)\d\d))\b",
    re.IGNORECASE,
)


_BOUNDED: Final = re.compile(r"\b(?:before|after|since|until|till|by|from|than|of) (?:the )?$", re.IGNORECASE)


def time_of(text: str) -> str:
    """The date of a text that has one, as it opens a sentence; empty if the text has none or several.

    >>> time_of("Ana had a day out on the weekend of 6 May 2023"), time_of("Ana moved in 2020 and in 2022")
    ('On the weekend of 6 May 2023', '')
    """
    found = list(_WRITTEN_TIME.finditer(text))
    if len(found) != 1 or _BOUNDED.search(text[: found[0].start()]):
        return ""
    words = found[0].group()
    opening = "In" if found[0]["month"] or words.lower().startswith("the week of") else "On"
    return f"{opening} {words[:1].lower()}{words[1:]}" if found[0]["span"] else f"{opening} {words}"


def without_time(text: str) -> str:
    """The text without its written dates.

    >>> without_time("is on 3 May 2024 in Rome")
    'is on  in Rome'
    """
    return _WRITTEN_TIME.sub("", text)


def recall_likelihood(text: str, claim: Claim, known: Collection[str]) -> float:
    """The likelihood that a later question needs a statement; the value is for comparisons only.

    0.6 ln(1 + words) + 0.22 new terms + 0.65 times + 0.2 first person + 0.2 numbers + 0.2 event, with counts of at most
    3; + 9 for a standing instruction, + 1 for a lasting trait, + 1 for "never" (measured on two sets of conversations).

    Args:
        text: The statement as in the message.
        claim: Its classification.
        known: The terms of the messages before it.
    """
    new = len(set(terms(text)) - set(known) - STOP_WORDS)
    score = 0.6 * math.log1p(len(text.split())) + 0.22 * new + 0.65 * min(_COUNT_MAX, len(TIMES.findall(text)))
    score += 0.2 * min(_COUNT_MAX, len(re.findall(r"\b(?:I|my|me|our|we)\b", text)))
    score += 0.2 * min(_COUNT_MAX, len(re.findall(r"\d+", text))) + 0.2 * (claim.kind == EPISODIC)
    score += _INSTRUCTED * (claim.kind == PROCEDURAL) + _PREFERRED * (claim.category in _LASTING)
    return score + _NEVER * bool(re.search(r"\bnever\b", text))
