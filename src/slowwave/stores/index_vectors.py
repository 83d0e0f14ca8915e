"""The vectors of one scope and one embedder, each pooled with those of the messages around it, ready to scan."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slowwave.model.entry import Entry
from slowwave.policy.ranking import AFTER_MEANING, BEFORE_MEANING, Rows

Vectors = NDArray[np.float32]


def grown(array: NDArray[Any], used: int, wanted: int) -> NDArray[Any]:
    """The array with room for `wanted` rows, at least doubled when it must grow; what is new is zero."""
    if wanted <= len(array):
        return array
    bigger = np.zeros((max(wanted, 2 * len(array), 64), *array.shape[1:]), dtype=array.dtype)
    bigger[:used] = array[:used]
    return bigger


class ContextVectors:
    """Row i is e_i + g_i * sum over neighbours of u_d g_j e_j (not normalised), beside 1 / its norm.

    Appending a message adds to its own row and to those of the two messages before it; every sum is built in the
    same order however the rows arrive, so that appending one by one and in bulk give equal bits.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._sums: Vectors = np.zeros((0, dim), dtype=np.float32)
        self._scale: Vectors = np.zeros(0, dtype=np.float32)
        self._passages: Vectors = np.zeros((0, dim), dtype=np.float32)
        self._passage_rows: Rows = np.zeros(0, dtype=np.intp)
        self._passage_count = 0
        self._recent: dict[int, Vectors] = {}  # the own vectors of the last messages of each conversation

    def arrays(self, size: int) -> tuple[Vectors, Vectors, Vectors, Rows]:
        """Sums, scale, passages and the rows of the passages, of the first `size` rows."""
        if len(self._sums) < size:
            self._sums, self._scale = (
                grown(self._sums, len(self._sums), size),
                grown(self._scale, len(self._scale), size),
            )
        return (
            self._sums[:size],
            self._scale[:size],
            self._passages[: self._passage_count],
            self._passage_rows[: self._passage_count],
        )

    def append(
        self,
        start: int,
        entries: Sequence[Entry | None],
        chained: NDArray[np.bool_],
        before: Rows,
        gates: NDArray[np.float64],
    ) -> None:
        """Add the rows from `start` on; None has no vector of this embedder. `before` and `gates` cover all rows.

        `chained` are the new rows that belong to a conversation.
        """
        end = start + len(entries)
        width = 4 * self.dim
        own = np.frombuffer(b"".join(e.vectors[:width] if e else bytes(width) for e in entries), dtype="<f4")
        own = own.reshape(len(entries), self.dim)
        self._sums, self._scale = grown(self._sums, start, end), grown(self._scale, start, end)
        self._sums[start:end] = own
        touched: set[int] = set()
        rows = np.arange(start, end)
        chain = [rows]
        for _ in BEFORE_MEANING:
            chain.append(np.where(chain[-1] >= 0, before[chain[-1]], -1))
        for steps, share in enumerate(BEFORE_MEANING, 1):
            self._add(start, own, rows, chain[steps], share, gates)
        for steps, share in enumerate(AFTER_MEANING, 1):
            self._add(start, own, chain[steps], rows, share, gates)
            touched.update(chain[steps][(chain[steps] >= 0) & (chain[steps] < start)].tolist())
        self._measure(slice(start, end))
        for row in touched:
            self._measure(slice(row, row + 1))
        self._remember(start, own, chained, chain[-1])
        self._append_passages(start, entries)

    def _add(
        self, start: int, own: Vectors, targets: Rows, sources: Rows, share: float, gates: NDArray[np.float64]
    ) -> None:
        """Add share * g_target * g_source * e_source to each target, run by run of adjacent rows."""
        pairs = (targets >= 0) & (sources >= 0)
        targets, sources = targets[pairs], sources[pairs]
        if not len(targets):
            return
        weights = (share * gates[targets] * gates[sources]).astype(np.float32)
        breaks = np.flatnonzero((np.diff(targets) != 1) | (np.diff(sources) != 1) | (sources[1:] == start)) + 1
        edges = [0, *breaks.tolist(), len(targets)]
        for low, high in pairwise(edges):
            target, source = int(targets[low]), int(sources[low])
            into = self._sums[target : target + high - low]
            if source >= start:
                into += weights[low:high, None] * own[source - start : source - start + high - low]
            else:
                for step in range(high - low):
                    if source + step in self._recent:
                        into[step] += weights[low + step] * self._recent[source + step]

    def _measure(self, rows: slice) -> None:
        norms = np.sqrt(np.vecdot(self._sums[rows], self._sums[rows]))
        self._scale[rows] = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)

    def _remember(self, start: int, own: Vectors, chained: NDArray[np.bool_], left: Rows) -> None:
        """Keep the vectors of the last three messages of each conversation: those that no third one has followed."""
        for row in left[(left >= 0) & (left < start)].tolist():
            self._recent.pop(row, None)
        followed = set(left.tolist())
        for row in (np.flatnonzero(chained) + start).tolist():
            if row not in followed:
                self._recent[row] = own[row - start].copy()

    def _append_passages(self, start: int, entries: Sequence[Entry | None]) -> None:
        long = [(start + i, e) for i, e in enumerate(entries) if e and len(e.vectors) > 4 * self.dim]
        if not long:
            return
        found = np.frombuffer(b"".join(e.vectors[4 * self.dim :] for _, e in long), dtype="<f4").reshape(-1, self.dim)
        rows = np.repeat([row for row, _ in long], [len(e.vectors) // (4 * self.dim) - 1 for _, e in long])
        used, end = self._passage_count, self._passage_count + len(found)
        self._passages, self._passage_rows = grown(self._passages, used, end), grown(self._passage_rows, used, end)
        self._passages[used:end], self._passage_rows[used:end] = found, rows
        self._passage_count = end
