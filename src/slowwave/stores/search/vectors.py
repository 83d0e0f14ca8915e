"""The vectors of one scope and one embedder, each pooled with the vectors of the messages around it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.policy.ranking.score import AFTER_MEANING, BEFORE_MEANING, Rows

Vectors = NDArray[np.float32]

CHUNK = 512
"""The number of rows that are added together, so that they stay in the processor's cache."""

ARRAY_BYTES: Final = 200
"""What a small array and its entry in a dictionary take beside its numbers."""


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array with a capacity of at least `size` rows. It at least doubles when it grows; new rows are zero."""
    if size <= len(array):
        return array
    bigger = np.zeros((max(size, 2 * len(array), 64), *array.shape[1:]), dtype=array.dtype)
    bigger[: len(array)] = array
    return bigger


class ContextVectors:
    """Row i is e_i + g_i * sum over neighbours of u_d g_j e_j (not normalised), stored with 1 / its norm.

    Appending a message adds to its row and to the rows of the two messages before it. Every sum is computed in the
    same order, so that appending one by one and in bulk give the same bits.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._sums: Vectors = np.zeros((0, dim), dtype=np.float32)
        self._scale: Vectors = np.zeros(0, dtype=np.float32)
        self._passages: Vectors = np.zeros((0, dim), dtype=np.float32)
        self._passage_rows: Rows = np.zeros(0, dtype=np.intp)
        self._passage_count = 0
        self._gists: dict[int, tuple[int, Vectors]] = {}  # by row of a message: the row of its gist, gist - message
        self._recent: dict[int, Vectors] = {}  # the vectors of the last messages of each conversation

    def arrays(self, size: int) -> tuple[Vectors, Vectors, Vectors, Rows]:
        """Sums, scale, passages and the rows of the passages, for the first `size` rows."""
        self._sums, self._scale = grown(self._sums, size), grown(self._scale, size)
        return (
            self._sums[:size],
            self._scale[:size],
            self._passages[: self._passage_count],
            self._passage_rows[: self._passage_count],
        )

    @property
    def nbytes(self) -> int:
        """The RAM of the arrays, in bytes."""
        arrays = (self._sums, self._scale, self._passages, self._passage_rows)
        kept = len(self._recent) + len(self._gists)
        return sum(array.nbytes for array in arrays) + kept * (4 * self.dim + ARRAY_BYTES)

    def packed(self, size: int) -> dict[str, NDArray[Any]]:
        """All arrays of the first `size` rows by name, in the form that `take` reads."""
        sums, scale, passages, passage_rows = self.arrays(size)
        gists = [(whole, gist) for whole, (gist, _) in self._gists.items()]
        return {
            "sums": sums,
            "scale": scale,
            "passages": passages,
            "passage rows": passage_rows,
            "gists": np.array(gists, dtype=np.int64).reshape(-1, 2),
            "gist vectors": self._stacked([vector for _, vector in self._gists.values()]),
            "recent": np.array(list(self._recent), dtype=np.int64),
            "recent vectors": self._stacked(list(self._recent.values())),
        }

    def _stacked(self, vectors: Sequence[Vectors]) -> Vectors:
        return np.array(vectors, dtype=np.float32).reshape(len(vectors), self.dim)

    def take(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the content by the result of `packed`."""
        self._sums, self._scale = arrays["sums"], arrays["scale"]
        # Copies: views would keep all bytes in RAM when the other arrays grow and are replaced.
        self._passages, self._passage_rows = arrays["passages"].copy(), arrays["passage rows"].copy()
        self._passage_count = len(self._passages)
        pairs = zip(arrays["gists"].tolist(), arrays["gist vectors"].copy(), strict=True)
        self._gists = {whole: (gist, vector) for (whole, gist), vector in pairs}
        self._recent = dict(zip(arrays["recent"].tolist(), arrays["recent vectors"].copy(), strict=True))

    def append(
        self,
        start: int,
        blobs: Sequence[bytes],
        chained: NDArray[np.bool_],
        before: Rows,
        gates: NDArray[np.float64],
    ) -> None:
        """Append rows from `start` on.

        Args:
            start: the first new row.
            blobs: `IndexEntry.vectors`, empty for a text without a vector of this embedder.
            chained: for each new row, whether it belongs to a conversation.
            before: for all rows, the row of the message before.
            gates: for all rows, the weight of the neighbours.
        """
        count, end = len(blobs), start + len(blobs)
        self._sums, self._scale = grown(self._sums, end), grown(self._scale, end)
        chain = [np.arange(start, end)]
        for _ in BEFORE_MEANING:
            chain.append(np.where(chain[-1] >= 0, before[chain[-1]], -1))
        neighbours = [(share, chain[steps]) for steps, share in enumerate(BEFORE_MEANING, 1)]
        for steps, share in enumerate(AFTER_MEANING, 1):
            after = np.full(count, -1)
            follows = chain[steps] >= start
            after[chain[steps][follows] - start] = chain[0][follows]
            neighbours.append((share, after))
        for low in range(0, count, CHUNK):
            self._append_chunk(start, low, blobs, neighbours, gates)
        self._add_to_older(start, blobs, chain, gates)
        self._remember(start, blobs, chained, chain[-1])
        self._append_passages(start, blobs)

    def _append_chunk(
        self,
        start: int,
        low: int,
        blobs: Sequence[bytes],
        neighbours: Sequence[tuple[float, Rows]],
        gates: NDArray[np.float64],
    ) -> None:
        """Fill `CHUNK` rows, the first of which has the place `low` among the new ones.

        `neighbours` has a share, and for each new row the row of the neighbour.
        """
        high = min(low + CHUNK, len(blobs))
        first, last = max(low - len(BEFORE_MEANING), 0), high + len(AFTER_MEANING)
        near = self._own(blobs[first:last])
        own = near[low - first : high - first]
        rows = slice(start + low, start + high)
        self._sums[rows] = own
        for share, places in neighbours:
            sources = places[low:high]
            for run, size in _runs(sources, start):
                target, source = rows.start + run, int(sources[run])
                vectors: Vectors | float
                if source < start:
                    vectors = self._recent.get(source, 0.0)
                elif first <= source - start and source - start + size <= last:
                    vectors = near[source - start - first : source - start - first + size]
                else:
                    vectors = self._own(blobs[source - start : source - start + size])
                scale = share * gates[target : target + size] * gates[source : source + size]
                self._sums[target : target + size] += scale.astype(np.float32)[:, None] * vectors
        self._scale[rows] = np.vecdot(own, own) > 0  # a text without a vector gets none from its neighbours
        self._measure(rows)

    def _add_to_older(
        self, start: int, blobs: Sequence[bytes], chain: Sequence[Rows], gates: NDArray[np.float64]
    ) -> None:
        """Add the first new messages of a conversation to the rows of the two messages before them."""
        touched: dict[int, None] = {}
        for steps, share in enumerate(AFTER_MEANING, 1):
            for place in np.flatnonzero((chain[steps] >= 0) & (chain[steps] < start)).tolist():
                row = int(chain[steps][place])
                scale = np.float32(share * gates[row] * gates[start + place])
                self._sums[row] += scale * self._own(blobs[place : place + 1])[0]
                touched[row] = None
        for row in touched:
            self._measure(slice(row, row + 1))
            self._follow(row)

    def _own(self, blobs: Sequence[bytes]) -> Vectors:
        """The vectors of these texts without those of their passages, zeros for a text without a vector."""
        width = 4 * self.dim
        joined = b"".join(blob[:width] or bytes(width) for blob in blobs)
        return np.frombuffer(joined, dtype="<f4").reshape(len(blobs), self.dim)

    def pair(self, gist: int, whole: int, before: Vectors) -> None:
        """Make a row that was appended without neighbours the gist of a message, with the neighbours of the message.

        `before` is the vector of the message itself, zeros without one.
        """
        self._gists[whole] = gist, self._sums[gist] - before
        if self._scale[gist]:
            self._follow(whole)

    def _follow(self, whole: int) -> None:
        if whole in self._gists:
            gist, difference = self._gists[whole]
            self._sums[gist] = self._sums[whole] + difference
            self._measure(slice(gist, gist + 1))

    def _measure(self, rows: slice) -> None:
        norms = np.sqrt(np.vecdot(self._sums[rows], self._sums[rows]))
        has = (self._scale[rows] > 0) & (norms > 0)
        self._scale[rows] = np.divide(1.0, norms, out=np.zeros_like(norms), where=has)

    def _remember(self, start: int, blobs: Sequence[bytes], chained: NDArray[np.bool_], third_before: Rows) -> None:
        """Keep the vectors of the last three messages of each conversation: those that no third message follows."""
        for row in self._recent.keys() & set(third_before[third_before < start].tolist()):
            del self._recent[row]
        last = chained.copy()
        last[third_before[third_before >= start] - start] = False
        for place in np.flatnonzero(last).tolist():
            self._recent[start + place] = self._own(blobs[place : place + 1])[0]

    def _append_passages(self, start: int, blobs: Sequence[bytes]) -> None:
        width = 4 * self.dim
        lengths = np.fromiter(map(len, blobs), dtype=np.int64, count=len(blobs))
        long = [(start + place, blobs[place]) for place in np.flatnonzero(lengths > width).tolist()]
        if not long:
            return
        passages = np.frombuffer(b"".join(blob[width:] for _, blob in long), dtype="<f4").reshape(-1, self.dim)
        rows = np.repeat([row for row, _ in long], [len(blob) // width - 1 for _, blob in long])
        used, end = self._passage_count, self._passage_count + len(passages)
        self._passages, self._passage_rows = grown(self._passages, end), grown(self._passage_rows, end)
        self._passages[used:end], self._passage_rows[used:end] = passages, rows
        self._passage_count = end


def _runs(sources: Rows, start: int) -> Iterator[tuple[int, int]]:
    """The place and the length of each run of consecutive rows. Rows before `start` are runs of one, -1 is none."""
    apart = (np.diff(sources) != 1) | (sources[1:] <= start)
    places = np.flatnonzero(np.concatenate(([True], apart)))
    for place, end in zip(places.tolist(), [*places[1:].tolist(), len(sources)], strict=True):
        if sources[place] >= 0:
            yield place, end - place
