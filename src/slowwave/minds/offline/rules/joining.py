"""Keeps clauses together that would say something else alone: "I'm vegetarian but I eat fish now"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slowwave.minds.offline.rules.split import LONGEST, StatementPiece

_RESTRICTING: Final = re.compile(
    r"[\s,;–—-]*\b(?:but|though|although|except(?: that| when| for)?|unless|until|yet|whereas)\b[\s,]*(?:also |then |now |still |only )?",
    re.IGNORECASE,
)


def joined(text: str, found: Sequence[StatementPiece]) -> list[StatementPiece]:
    """The pieces of a message, with those in one that a "but", "except" or "unless" joins."""
    kept: list[StatementPiece] = []
    for cut in found:
        piece = _with_announcement(text, _with_no(text, cut))
        last = kept[-1] if kept else None
        if (
            last
            and last.sentence == piece.sentence
            and last.end <= piece.start
            and piece.end - last.start <= LONGEST
            and _RESTRICTING.fullmatch(text[last.end : piece.start])
        ):
            kept[-1] = replace(last, end=piece.end, text=text[last.start : piece.end])
        else:
            kept.append(piece)
    return kept


_NO: Final = re.compile(r"\bno more $|\bno $", re.IGNORECASE)
_SINCE: Final = re.compile(r"\bsince $", re.IGNORECASE)
_NO_LONGEST: Final = 20  # characters that are searched for these words before a piece
_SPAN: Final = re.compile(
    r"(?:\d|last|two|three|four|five|six|seven|eight|nine|ten|many|january|february|march|april|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_ANNOUNCING: Final = (
    r"(?:i lied|i was wrong|i misspoke|my mistake|(?:it )?turns out(?: that)?|i take (?:that|it) back|forget (?:what i said|that)(?: [^.!?\n]{0,60})?|never ?mind what i said"
    r"(?: [^.!?\n]{0,60})?)\b[\s,;:.!–—-]*"
)
_ANNOUNCED: Final = re.compile(rf"{_ANNOUNCING}$", re.IGNORECASE)
_BEGINS_ANNOUNCED: Final = re.compile(rf"^{_ANNOUNCING}(?=(?:i|my|we|our|the|[A-Z]\w+)\b)", re.IGNORECASE)
_ANNOUNCED_LONGEST: Final = 100  # characters


def _with_announcement(text: str, piece: StatementPiece) -> StatementPiece:
    """A piece without the words that take an earlier statement back ("I lied, I'm not vegetarian"), which its quote keeps."""
    if begins := _BEGINS_ANNOUNCED.match(piece.text):
        start = piece.start + begins.end()
        return replace(piece, start=start, head=min(piece.head, piece.start), text=text[start : piece.end])
    before = _ANNOUNCED.search(text, max(0, piece.start - _ANNOUNCED_LONGEST), piece.start)
    return replace(piece, head=min(piece.head, before.start())) if before else piece


def _with_no(text: str, piece: StatementPiece) -> StatementPiece:
    """A piece with the "no" or "since" before it that belongs to its noun: "No screens after seven"."""
    cut = _SINCE if _SPAN.match(piece.text) else _NO
    window = max(0, piece.start - _NO_LONGEST)
    denied = cut.search(text[window : piece.start])
    if denied is None:
        return piece
    start = window + denied.start()
    return replace(piece, start=start, head=min(piece.head, start), text=text[start : piece.end])


_CASE: Final = re.compile(
    r"(?:^|[.!?\n]\s*)(?:when|whenever|if|while) (?:asking|asked|discussing|talking|requesting|answering|giving|writing|in doubt)\b[^.!?,;\n]*,\s*$",
    re.IGNORECASE,
)
"""The case in which alone a wish holds: "When asking about money, I want figures"."""
_CASE_LONGEST: Final = 120  # characters


def is_restricted(text: str, piece: StatementPiece) -> bool:
    """Whether a piece is followed, or preceded, by a restriction that is not part of it."""
    window = max(0, piece.start - _CASE_LONGEST)
    return bool(_RESTRICTING.match(text, piece.end)) or _CASE.search(text, window, piece.start) is not None
