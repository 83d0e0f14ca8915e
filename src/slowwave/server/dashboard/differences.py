"""The difference of two versions of a text: by words, or by lines for lists."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Literal

from rapidfuzz.distance import Indel

Piece = tuple[Literal["same", "del", "ins", "gap"], str]
"""A part of a text: one that stays, goes or comes, or a sentence about lines that stay and are not shown."""

ALIKE_LEAST: Final = 0.4
"""Below this share of common words a reader understands the two whole texts better than their difference."""
_LONGEST: Final = 5_000
"""The most words and blanks, or lines, of a text that is compared. A comparison of two such texts takes 3 MB."""
_WORD: Final = re.compile(r"\s+|[^\s]+")


def differences(before: str, after: str) -> tuple[Piece, ...]:
    r"""The parts of two versions of a text, in order; empty if they are too long or have too little in common.

    Texts of several lines are compared line by line, and runs of lines that stay are counted instead of shown.

    >>> differences("Ada bakes rye bread", "Ada bakes spelt bread")
    (('same', 'Ada bakes '), ('del', 'rye'), ('ins', 'spelt'), ('same', ' bread'))
    >>> differences("Ada: work\n- bakes\n- rows", "Ada: work\n- bakes\n- rows\n- sings")
    (('gap', '3 lines stay'), ('ins', '- sings'))
    """
    by_lines = "\n" in before and "\n" in after
    old, new = (text.splitlines() if by_lines else _WORD.findall(text) for text in (before, after))
    if max(len(old), len(new)) > _LONGEST:
        return ()
    if by_lines:
        return tuple(_by_lines(old, new))
    return tuple(_pieces(old, new, "")) if Indel.normalized_similarity(old, new) >= ALIKE_LEAST else ()


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for kind, text in _pieces(old, new, "\n"):
        lines = text.count("\n") + 1
        if kind == "same":
            yield "gap", "1 line stays" if lines == 1 else f"{lines} lines stay"
        else:
            yield kind, text


def _pieces(old: Sequence[str], new: Sequence[str], between: str) -> Iterator[Piece]:
    for is_same, group in groupby(Indel.opcodes(old, new), lambda each: each.tag == "equal"):
        changes = list(group)
        gone = old[changes[0].src_start : changes[-1].src_end]
        come = new[changes[0].dest_start : changes[-1].dest_end]
        if is_same:
            yield "same", between.join(gone)
            continue
        if gone:
            yield "del", between.join(gone)
        if come:
            yield "ins", between.join(come)
