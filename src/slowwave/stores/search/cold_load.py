"""All messages of a scope as columns. A cold start reads these instead of memories and index entries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice, pairwise
from typing import Any, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from slowwave.errors import CorruptError
from slowwave.stores.rows import ADVICE

_Value = TypeVar("_Value")
_TERM: Final = 8
_MICROS: Final = 1_000_000
_AT_ONCE: Final = 500
"""Rows that are transposed together: so few that they stay in the processor's cache, which halves the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageColumns:
    """Columns with one value for each message, ordered by conversation and seq. Times are microseconds since 1970.

    `anchor` is `Memory.last_used_or_recorded`, `trimmed` whether the message has a trimmed text, `embedder` a name or
    None, `zone` the offset of its time or None.
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
    zone: Sequence[str | None]

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]]) -> Self:
        """Transpose rows in the order of the fields above, and sort them by conversation and seq.

        Only a few rows exist at a time: fifty thousand would keep the garbage collector busy for a tenth of a second.

        Checksums are not verified here: a ranking only returns ids, reading a memory verifies it, and
        `doctor(deep=True)` verifies every entry.

        Raises:
            CorruptError: the length of an entry does not fit its number of words or its dimension.
        """
        names = [field.name for field in fields(cls)]
        columns: list[list[Any]] = [[] for _ in names]
        left = iter(rows)
        while few := list(islice(left, _AT_ONCE)):
            for column, values in zip(columns, zip(*few, strict=True), strict=True):
                column.extend(values)
        conversations, number = numbered(columns[names.index("conversation")])
        ranks = np.argsort(np.argsort(np.array(conversations, dtype=object)))
        order = np.lexsort((np.array(columns[names.index("seq")], dtype=np.int64), ranks[number]))
        if (np.diff(order) < 0).any():
            columns = [[column[place] for place in order.tolist()] for column in columns]
        messages = cls(**dict(zip(names, columns, strict=True)))
        words, dims = np.array(messages.words, dtype=np.int64), np.array(messages.dim, dtype=np.int64)
        damaged = _lengths(messages.terms) != _TERM * words
        damaged |= _lengths(messages.vectors) % np.maximum(4 * dims, 1) != 0
        if damaged.any():
            raise CorruptError(f"an index entry {ADVICE}")
        return messages

    def with_embedders(self, names: Mapping[Any, str | None]) -> Self:
        """The same with names in place of the tokens of embedders."""
        return replace(self, embedder=[names[token] for token in self.embedder])

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


def numbered(values: Sequence[_Value]) -> tuple[list[_Value], NDArray[np.intp]]:
    """The distinct values in their order, and the number of each value among them."""
    distinct = list(dict.fromkeys(values))
    numbers = {value: number for number, value in enumerate(distinct)}
    return distinct, np.fromiter(map(numbers.__getitem__, values), dtype=np.intp, count=len(values))


def _lengths(values: Sequence[bytes]) -> NDArray[np.int64]:
    return np.fromiter(map(len, values), dtype=np.int64, count=len(values))
