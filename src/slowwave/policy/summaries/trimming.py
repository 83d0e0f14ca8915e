"""What is left of a message's wording: some of its clauses, jotted down, each weighed on its own."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from slowwave.policy.retention.importance import ASSISTANT, Frequencies, clause_score, importance_cues
from slowwave.policy.text.clauses import clauses, note

JOINT: Final = "\n"
"""Between the clauses of a gist, none of which contains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A clause as it would be kept: its words, how many they are, and what they are worth, a natural logarithm."""

    text: str
    words: int
    value: float


def pieces(
    text: str,
    *,
    frequencies: Frequencies,
    speakers: Collection[str] = (),
    from_assistant: bool = False,
    left: str | None = None,
) -> list[Piece]:
    """The clauses of a message worth keeping, in order, as notes; chatter without a word of its own is left out.

    Args:
        text: the whole message.
        frequencies: how common words are in its scope.
        speakers: names of those who talk.
        from_assistant: whether an assistant without a name says it: the person's words come first.
        left: its gist so far; only these clauses are still there.
    """
    names = {part for name in speakers for part in (name, name.split()[0])}
    still = None if left is None else set(left.split(JOINT))
    turn_cues = sum(importance_cues(text, speakers=speakers).values())
    found = []
    for clause in clauses(text):
        kept = note(clause.text, names=names).strip()
        if not kept or (still is not None and kept not in still):
            continue
        value = clause_score(clause, frequencies=frequencies, turn_cues=turn_cues, speakers=speakers)
        found.append(Piece(text=kept, words=len(kept.split()), value=value + (ASSISTANT if from_assistant else 0.0)))
    return found


def spoken_words(text: str) -> int:
    """How many words a wording has, as a limit counts them: what stands between spaces.

    >>> spoken_words("It cost $5 - really!")
    5
    """
    return len(text.split())
