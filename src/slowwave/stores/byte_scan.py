"""Searches streams of bytes for many patterns at once, to find remains of erased texts."""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECE: Final = 1 << 20
"""Bytes that are read at once."""
WORD: Final = 8
"""The least number of bytes of a pattern. Shorter ones occur anywhere by chance."""
_FEW: Final = 8
"""Up to this number, patterns are searched one by one."""
_PLACES: Final = 16
"""With more places of a key, its patterns are searched as a whole: in a run of one letter every place has the key."""
_BITS_LEAST: Final = 12
_BITS_MOST: Final = 24
_BITS_SPARE: Final = 8
"""The table of flags has 2 ** 8 places for each key, so that few other windows share a place with one."""
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_PREFIX: Final = 256
"""Bytes of a pattern from which its key of eight bytes is chosen."""


class BytePatterns:
    """Byte patterns to search for together. Those of fewer than 8 bytes are ignored; thousands cost hardly more than one."""

    def __init__(self, words: Collection[bytes]) -> None:
        self.words = [word for word in dict.fromkeys(words) if len(word) >= WORD]
        self._longest = max(map(len, self.words), default=0)
        self._by_key: dict[int, list[tuple[int, bytes]]] = {}
        if len(self.words) > _FEW:
            for word, (key, offset) in zip(self.words, _rarest_keys(self.words), strict=True):
                self._by_key.setdefault(key, []).append((offset, word))
        self._keys = np.array(sorted(self._by_key), dtype=np.uint64)
        self._shift = np.uint64(64 - max(_BITS_LEAST, min(_BITS_MOST, len(self._keys).bit_length() + _BITS_SPARE)))
        self._marked = np.zeros(1 << (64 - int(self._shift)), dtype=bool)
        self._marked[self._marks(self._keys)] = True

    def among(self, data: Iterable[bytes]) -> Iterator[bytes]:
        """The patterns that occur in these consecutive pieces; a pattern may be returned more than once."""
        if not self.words:
            return
        buffer: list[bytes] = []
        size = 0
        for piece in data:
            buffer.append(piece)
            size += len(piece)
            if size >= PIECE:  # small pieces are joined first
                data_so_far = b"".join(buffer)
                yield from self._within(data_so_far)
                buffer = [data_so_far[-self._longest :]]  # a pattern may cross the boundary
                size = len(buffer[0])
        yield from self._within(b"".join(buffer))

    def _within(self, data: bytes) -> Iterator[bytes]:
        if len(self.words) <= _FEW:
            yield from (word for word in self.words if word in data)
            return
        searched: set[int] = set()
        for shift in range(min(WORD, max(0, len(data) - WORD + 1))):
            windows = np.frombuffer(data, dtype="<u8", offset=shift, count=(len(data) - shift) // WORD)
            marked = np.flatnonzero(self._marked.take(self._marks(windows)))  # much faster than to search every window
            nearest = np.minimum(np.searchsorted(self._keys, windows[marked]), len(self._keys) - 1)
            hit = marked[self._keys[nearest] == windows[marked]]
            keys, firsts, counts = np.unique(windows[hit], return_index=True, return_counts=True)
            for key, first, count in zip(keys.tolist(), firsts.tolist(), counts.tolist(), strict=True):
                if key in searched:
                    continue
                if count > _PLACES:
                    searched.add(key)
                    yield from (word for _, word in self._by_key[key] if word in data)
                    continue
                places = hit[first:] if count > 1 else hit[first : first + 1]
                for place in places[windows[places] == key].tolist():
                    at = place * WORD + shift
                    for offset, word in self._by_key[key]:
                        if at >= offset and data.startswith(word, at - offset):
                            yield word

    def _marks(self, windows: "NDArray[np.uint64]") -> "NDArray[np.int64]":
        """A place in a table of flags for each window, by multiplicative hashing (Knuth, TAOCP vol. 3, 6.4)."""
        return ((windows * _FACTOR) >> self._shift).view(np.int64)


def contains(data: Iterable[bytes], needles: BytePatterns) -> bool:
    """Whether any of the patterns occurs in these pieces."""
    return next(needles.among(data), None) is not None


def _rarest_keys(words: Collection[bytes]) -> Iterator[tuple[int, int]]:
    """For each pattern the eight bytes of it that the fewest others contain, as a number, and their offset.

    Many texts begin alike, so keys from the beginnings would match nearly everywhere.
    """
    windows = [_windows(word) for word in words]
    _, places, counts = np.unique(np.concatenate(windows), return_inverse=True, return_counts=True)
    shared: NDArray[Any] = counts[places.ravel()]
    first = 0
    for keys in windows:
        rarest = int(np.argmin(shared[first : first + len(keys)]))
        yield int(keys[rarest]), rarest
        first += len(keys)


def _windows(word: bytes) -> "NDArray[np.uint64]":
    """All windows of eight bytes in the first bytes of a pattern, as numbers."""
    part = np.frombuffer(word[:_PREFIX], dtype=np.uint8)
    rows = np.lib.stride_tricks.sliding_window_view(part, WORD)
    return np.ascontiguousarray(rows).view("<u8").ravel()
