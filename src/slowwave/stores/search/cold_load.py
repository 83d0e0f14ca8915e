"""All messages of a scope as columns. A cold start reads these instead of memories and index entries."""

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
    """Columns with one value for each message, ordered by conversation and seq. Times are microseconds since 1970.

    `anchor` is `Memory.last_used_or_recorded`, `trimmed` whether the message has a trimmed text, `embedder` a name or
    None.
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
        """Transpose rows in the order of the fields above.

        Checksums are not verified here: a ranking only returns ids, reading a memory verifies it, and
        `check(deep=True)` verifies every entry.

        Raises:
            CorruptError: the length of an entry does not fit its number of words or its dimension.
        """
        names = [field.name for field in fields(cls)]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        messages = cls(**dict(zip(names, columns, strict=True)))
        damaged = any(len(terms) != _TERM * words for terms, words in zip(messages.terms, messages.words, strict=True))
        if damaged or any(
            len(vectors) % (4 * dim or 1) for vectors, dim in zip(messages.vectors, messages.dim, strict=True)
        ):
            raise CorruptError("an index entry is damaged in the file: `check(deep=True)` lists which")
        return messages

    def __len__(self) -> int:
        """The number of messages."""
        return len(self.id)

    @property
    def starts(self) -> list[int]:
        """The index of the first message of each conversation."""
        changes = (place for place, (name, following) in enumerate(pairwise(self.conversation), 1) if name != following)
        return [0, *changes] if self.id else []

    @property
    def all_terms(self) -> NDArray[np.uint64]:
        """The terms of all messages, concatenated."""
        return np.frombuffer(b"".join(self.terms), dtype="<u8")


def seconds(micros: Iterable[int]) -> list[float]:
    """Seconds since 1970, bit for bit what `datetime.timestamp` returns."""
    return [value / _MICROS for value in micros]
