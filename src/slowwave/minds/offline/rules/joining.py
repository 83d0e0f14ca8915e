"""Keeps clauses together that would say something else alone: "I'm vegetarian but I eat fish now"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slowwave.minds.offline.rules.split import StatementPiece

_RESTRICTING: Final = re.compile(
    r"[\s,;–—-]*\b(?:but|though|although|except(?: that| when| for)?|unless|until|yet|whereas)\b[\s,]*(?:also |then |now |still |only )?",
    re.IGNORECASE,
)


def joined(text: str, found: Sequence[StatementPiece]) -> list[StatementPiece]:
    """The pieces of a message, with those in one that a "but", "except" or "unless" joins."""
    kept: list[StatementPiece] = []
    for cut in found:
        piece = _with_no(text, cut)
        last = kept[-1] if kept else None
        if (
            last
            and last.sentence == piece.sentence
            and last.end <= piece.start
            and _RESTRICTING.fullmatch(text[last.end : piece.start])
        ):
            kept[-1] = replace(last, end=piece.end, text=text[last.start : piece.end])
        else:
            kept.append(piece)
    return kept


def _with_no(text: str, piece: StatementPiece) -> StatementPiece:
    """A piece with the "no" before it that belongs to its noun: "No screens after seven"."""
    denied = re.search(r"\bno more $|\bno $", text[: piece.start], re.IGNORECASE)
    if denied is None:
        return piece
    start = denied.start()
    return replace(piece, start=start, head=min(piece.head, start), text=text[start : piece.end])


def is_restricted(text: str, piece: StatementPiece) -> bool:
    """Whether a piece is followed, or preceded, by a restriction that is not part of it."""
    return bool(_RESTRICTING.match(text, piece.end))
