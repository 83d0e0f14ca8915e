"""Looking for the bytes of what was erased, many words at once, in whatever can be read piece by piece."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

PIECE: Final = 1 << 20
"""Bytes read at once."""
WORD: Final = 8
"""Bytes of which a word must have as many: fewer stand anywhere by chance."""


def pieces(path: Path) -> Iterator[bytes]:
    """A file, piece by piece."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def holds(data: Iterable[bytes], needles: Collection[bytes]) -> bool:
    """Whether the pieces, one after the other, hold any of these words of at least 8 bytes."""
    if not needles:
        return False
    longest = max(map(len, needles))
    starts = np.array(sorted({int.from_bytes(needle[:WORD], "little") for needle in needles}), dtype=np.uint64)
    rest = b""
    for piece in data:
        rest += piece
        if len(rest) < PIECE:  # small pieces are gathered
            continue
        if _there(rest, starts, needles):
            return True
        rest = rest[-longest:]
    return _there(rest, starts, needles)


def _there(data: bytes, starts: "np.ndarray[tuple[int], np.dtype[np.uint64]]", needles: Collection[bytes]) -> bool:
    return any(data.startswith(needle, place) for place in _places(data, starts) for needle in needles)


def _places(data: bytes, starts: "np.ndarray[tuple[int], np.dtype[np.uint64]]") -> Iterator[int]:
    """Where any of the needles may begin, by their first eight bytes: thousands are looked for at once."""
    for shift in range(min(WORD, max(0, len(data) - WORD + 1))):
        words = np.frombuffer(data, dtype="<u8", offset=shift, count=(len(data) - shift) // WORD)
        near = np.minimum(np.searchsorted(starts, words), len(starts) - 1)
        yield from (int(place) * WORD + shift for place in np.flatnonzero(starts[near] == words))
