"""Scores the clauses of a message, so that the highest-scoring ones are kept when its text is shortened."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from slowwave.policy.retention.importance import ASSISTANT, Frequencies, clause_score, importance_cues
from slowwave.policy.text.clauses import clauses, note

JOINT: Final = "\n"
"""The separator of the clauses of a trimmed text. No clause contains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredNote:
    """A clause as a note, its number of words, and its value (a natural logarithm)."""

    text: str
    words: int
    value: float


def scored_notes(
    text: str,
    *,
    frequencies: Frequencies,
    speakers: Collection[str] = (),
    from_assistant: bool = False,
    left: str | None = None,
) -> list[ScoredNote]:
    """The clauses of a message in order, as notes; clauses that leave no words as a note are left out.

    Args:
        text: the whole message.
        frequencies: how common words are in its scope.
        speakers: names of the speakers.
        from_assistant: whether it is a message of an assistant without a name: its clauses rank below those of the person.
        left: the text after earlier trimming; clauses that it does not contain are not returned.
    """
    names = {part for name in speakers for part in (name, name.split()[0])}
    remaining = None if left is None else set(left.split(JOINT))
    turn_cues = sum(importance_cues(text, speakers=speakers).values())
    result = []
    for clause in clauses(text):
        kept = note(clause.text, names=names).strip()
        if not kept or (remaining is not None and kept not in remaining):
            continue
        value = clause_score(clause, frequencies=frequencies, turn_cues=turn_cues, speakers=speakers)
        result.append(
            ScoredNote(text=kept, words=len(kept.split()), value=value + (ASSISTANT if from_assistant else 0.0))
        )
    return result


def spoken_words(text: str) -> int:
    """The number of words of a text as limits count them: parts between white space.

    >>> spoken_words("It cost $5 - really!")
    5
    """
    return len(text.split())
