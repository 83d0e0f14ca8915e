"""All messages of a scope at once, column by column: what a cold start reads in place of memories and entries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from slowwave.errors import CorruptError

_TERM: Final = 8
_MICROS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageColumns:
    """Columns with one value a message, by conversation and seq; times are microseconds since 1970.

    `anchor` is `Memory.anchor`, `trimmed` whether only some of the words are hot, `embedder` a name or None.
    """

    id: Sequence[str]
    phase: Sequence[str]
    reason: Sequence[str | None]
    category: Sequence[str]
    importance: Sequence[float]
    at: Sequence[int]
    anchor: Sequence[int]
    conversation: Sequence[str]
    seq: Sequence[int]
    role: Sequence[str | None]
    speaker: Sequence[str | None]
    trimmed: Sequence[bool]
    embedder: Sequence[str | None]
    terms: Sequence[bytes]
    words: Sequence[int]
    question: Sequence[float]
    cues: Sequence[int]
    vectors: Sequence[bytes]
    dim: Sequence[int]

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]]) -> Self:
        """Rows in the order of the fields above to columns.

        Their checksums are not looked at: a ranking only names memories, whoever shows one reads and checks it, and
        `check(deep=True)` checks every entry. What could not be an entry at all is refused.

        Raises:
            CorruptError: if the length of an entry is not what it says.
        """
        names = [one.name for one in fields(cls)]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        told = cls(**dict(zip(names, columns, strict=True)))
        damaged = any(len(terms) != _TERM * words for terms, words in zip(told.terms, told.words, strict=True))
        if damaged or any(len(vectors) % (4 * dim or 1) for vectors, dim in zip(told.vectors, told.dim, strict=True)):
            raise CorruptError("an index entry is damaged in the file: `check(deep=True)` lists which")
        return told

    def __len__(self) -> int:
        """How many messages."""
        return len(self.id)

    @property
    def starts(self) -> list[int]:
        """Where each conversation begins."""
        changed = (place for place, (one, other) in enumerate(pairwise(self.conversation), 1) if one != other)
        return [0, *changed] if self.id else []

    @property
    def said(self) -> NDArray[np.uint64]:
        """The words of all messages, one after the other."""
        return np.frombuffer(b"".join(self.terms), dtype="<u8")


def seconds(micros: Iterable[int]) -> list[float]:
    """Seconds since 1970, to the bit what `datetime.timestamp` gives."""
    return [one / _MICROS for one in micros]
