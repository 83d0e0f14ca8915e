"""Looking for the bytes of what was erased, many words at once, in whatever can be read piece by piece."""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECE: Final = 1 << 20
"""Bytes read at once."""
WORD: Final = 8
"""Bytes of which a word must have as many: fewer stand anywhere by chance."""
_FEW: Final = 8
"""Words that are looked for one after the other."""
_LOOKED: Final = 256
"""Bytes of a word among which the eight that tell it from others are chosen."""


class BytePatterns:
    """Words that are looked for at once, but for those of fewer than 8 bytes; thousands cost hardly more than one."""

    def __init__(self, words: Collection[bytes]) -> None:
        self.words = [word for word in dict.fromkeys(words) if len(word) >= WORD]
        self._longest = max(map(len, self.words), default=0)
        self._told: dict[int, list[tuple[int, bytes]]] = {}
        if len(self.words) > _FEW:
            for word, (piece, offset) in zip(self.words, _telling(self.words), strict=True):
                self._told.setdefault(piece, []).append((offset, word))
        self._starts = np.array(sorted(self._told), dtype=np.uint64)

    def among(self, data: Iterable[bytes]) -> Iterator[bytes]:
        """Which of the words stand in these pieces, one after the other; one may be told more than once."""
        if not self.words:
            return
        gathered: list[bytes] = []
        size = 0
        for piece in data:
            gathered.append(piece)
            size += len(piece)
            if size >= PIECE:  # small pieces are gathered
                whole = b"".join(gathered)
                yield from self._within(whole)
                gathered = [whole[-self._longest :]]
                size = len(gathered[0])
        yield from self._within(b"".join(gathered))

    def _within(self, data: bytes) -> Iterator[bytes]:
        if len(self.words) <= _FEW:
            yield from (word for word in self.words if word in data)
            return
        for shift in range(min(WORD, max(0, len(data) - WORD + 1))):
            there = np.frombuffer(data, dtype="<u8", offset=shift, count=(len(data) - shift) // WORD)
            near = np.minimum(np.searchsorted(self._starts, there), len(self._starts) - 1)
            for place in np.flatnonzero(self._starts[near] == there):
                at = int(place) * WORD + shift
                for offset, word in self._told[int(there[place])]:
                    if at >= offset and data.startswith(word, at - offset):
                        yield word


def contains(data: Iterable[bytes], needles: BytePatterns) -> bool:
    """Whether any of the words stands in these pieces."""
    return next(needles.among(data), None) is not None


def _telling(words: Collection[bytes]) -> Iterator[tuple[int, int]]:
    """For each word the eight of its bytes that fewest others have, as a number, and where in it they stand.

    What was said begins alike often enough: looking for beginnings alone would find most of them everywhere.
    """
    windows = [_windows(word) for word in words]
    _, places, counts = np.unique(np.concatenate(windows), return_inverse=True, return_counts=True)
    shared: NDArray[Any] = counts[places.ravel()]
    first = 0
    for own in windows:
        rarest = int(np.argmin(shared[first : first + len(own)]))
        yield int(own[rarest]), rarest
        first += len(own)


def _windows(word: bytes) -> "NDArray[np.uint64]":
    """Every eight bytes of the beginning of a word, as numbers."""
    part = np.frombuffer(word[:_LOOKED], dtype=np.uint8)
    rows = np.lib.stride_tricks.sliding_window_view(part, WORD)
    return np.ascontiguousarray(rows).view("<u8").ravel()
