"""Finds texts that contradict a denial of the same speaker ("I have never used Docker", "I deployed it with Docker")."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from slowwave.policy.comparison.alignment import prepare
from slowwave.policy.text.clauses import clauses
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import NEGATIONS
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

CONFLICT_SHARE_MIN: Final = 0.40
CONFLICTS_MAX: Final = 1

_NEVER: Final = lazy_regex(
    r"\b(?:I|we)\b(?:['’]ve|\s+have|\s+had|\s+actually|\s+really|\s+did)*\s+never\b", re.IGNORECASE
)
_NOT_A_DENIAL: Final = lazy_regex(
    r"\balways\b|\bwant(?:ed)? to\b|\btrying to\b|\bwhen I ask\b|\bwhenever I\b", re.IGNORECASE
)
# Words of wishes, attempts, requests and plans: the action after them has not happened.
_UNFINISHED: Final = lazy_regex(
    r"\b(?:want|need|plan|hope|like|love|try|trying|going|aim|aiming|looking|supposed) to\b|\bshould I\b|\bcan you\b|\bhow (?:to|can|do|should)\b"
    r"|\bhelp me\b|\bI(?:['’]ll| will| would|['’]d)\b|\btrouble\b|\bplanning\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A candidate that contradicts a denial.

    Attributes:
        index: its position among the candidates.
        clause: the clause that contradicts the denial.
        share: the share of the denial's idf mass that the clause contains.
        because: an explanation for a person.
    """

    index: int
    clause: str
    share: float
    because: str


def denials(text: str) -> tuple[str, ...]:
    """The clauses in which the speaker denies ever having done something ("I have never used Docker").

    Instructions and wishes ("always", "want to", "trying to", "when I ask") are not denials.
    """
    return tuple(
        clause.text
        for clause in clauses(text)
        if not clause.question and _NEVER.search(clause.text) and not _NOT_A_DENIAL.search(clause.text)
    )


def conflicts(
    denial: str,
    candidates: Sequence[str],
    idf: Callable[[str], float],
    *,
    share: float = CONFLICT_SHARE_MIN,
    limit: int = CONFLICTS_MAX,
) -> list[Conflict]:
    """The candidates that may contradict a denial. They are only linked; neither side is changed.

    A candidate is returned if one of its affirmative clauses, no question, contains at least `share` of the denial's idf mass.
    In a manual review 71-83 % of such links were contradictions (limit 1, share 0.4).

    Args:
        denial: A clause from `denials`.
        candidates: Other texts of the same speaker, earlier or later.
        idf: The inverse document frequency of a stem in this store.
        share: The least share of the idf mass, 0 to 1.
        limit: At most this many, best first.

    Returns:
        Conflicts, best first; ties go to the earlier candidate.
    """
    wanted = _content(denial)
    mass = sum(map(idf, wanted))
    if mass <= 0:
        return []
    conflicting = []
    for index, text in enumerate(candidates):
        best, clause = max(
            ((sum(map(idf, wanted & _content(piece))) / mass, piece) for piece in _affirmed(text)), default=(0.0, "")
        )
        if best >= share:
            because = f'"{clause.strip()}" contradicts "{denial.strip()}".'
            conflicting.append(Conflict(index=index, clause=clause, share=best, because=because))
    return sorted(conflicting, key=lambda conflict: (-conflict.share, conflict.index))[:limit]


def _affirmed(text: str) -> list[str]:
    """The clauses of a text that are affirmative statements about something done."""
    return [
        clause.text
        for clause in clauses(text)
        if not clause.question
        and not _UNFINISHED.search(clause.text)
        and not NEGATIONS & frozenset(prepare(clause.text).words)
    ]


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS and word not in NEGATIONS)
