"""Groups memories by complete-linkage clustering: every two memories of a group are similar. Input order does not matter."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_NEIGHBOURS: Final = 32  # pairs kept per cluster; a cluster with more neighbours joins some of these anyway
_TILE: Final = 4_000_000  # similarities computed at once, 16 MB


def groups(
    vectors: Vectors, *, keys: Sequence[str], threshold: float, smallest: int = 5, largest: int = 12
) -> list[tuple[int, ...]]:
    """Groups in which the cosine of every two memories is at least the threshold.

    The two clusters whose least similar pair is the most similar are joined first, until no two can be joined. Memory grows
    linearly with n.

    Args:
        vectors: (n, dim) float32 unit rows; a row of zeros is similar to nothing.
        keys: n distinct keys that break ties, so that the result does not depend on the order of the rows.
        threshold: the least cosine between any two members of a group.
        smallest: the least size of a group.
        largest: the greatest size of a group.

    Returns:
        Tuples of row numbers, ordered by key within and by first key between; a row is in at most one group.

    >>> pair = np.eye(3, dtype=np.float32)[[0, 1, 0]]
    >>> groups(pair, keys=["a", "b", "c"], threshold=0.9, smallest=2)
    [(0, 2)]
    """
    order = sorted(range(len(keys)), key=keys.__getitem__)
    linked = _Linkage(np.ascontiguousarray(vectors[order]), threshold, largest)
    clusters = sorted(members for members in linked.merged() if len(members) >= smallest)
    return [tuple(order[member] for member in members) for members in clusters]


class _Linkage:
    """Agglomerative clustering over the pairs above a threshold. Cluster n + k is the result of the k-th merge.

    `near` holds the similarity of clusters that can be joined: that of their least similar pair. Two clusters that are not in
    it are below the threshold, unless one of them is in `cut`: it has more neighbours than are kept.
    """

    def __init__(self, vectors: Vectors, threshold: float, largest: int) -> None:
        self.vectors = vectors
        self.threshold = threshold
        self.largest = largest
        self.members: dict[int, list[int]] = {}
        self.near: dict[int, dict[int, float]] = {}
        self.cut: set[int] = set()
        self.queue: list[tuple[float, int, int]] = []

    def merged(self) -> list[list[int]]:
        """All clusters of at least two members, each in ascending order."""
        self._pair()
        new = len(self.vectors)
        while self.queue or self._overlooked():
            _, first, second = heappop(self.queue)
            if first in self.members and second in self.members and self._fits(first, second):
                self._merge(first, second, new)
                new += 1
        return [sorted(members) for members in self.members.values() if len(members) > 1]

    def _pair(self) -> None:
        for rows, columns, cosines, crowded in _close_pairs(self.vectors, self.threshold):
            self.cut.update(crowded.tolist())
            for first, second, cosine in zip(rows.tolist(), columns.tolist(), cosines.tolist(), strict=True):
                self.near.setdefault(first, {})[second] = cosine
                self.near.setdefault(second, {})[first] = cosine
                self.queue.append((-cosine, first, second))
        self.members = {single: [single] for single in self.near}
        heapify(self.queue)

    def _overlooked(self) -> bool:
        """Queue the pairs of cut clusters that were not kept, and return whether the queue has pairs. No cluster is cut then."""
        free = [cluster for cluster, members in self.members.items() if len(members) < self.largest]
        crowded = sorted(self.cut.intersection(free))
        self.cut.clear()
        for place, first in enumerate(crowded):
            known = set(crowded[: place + 1])
            others = [second for second in free if second not in known and self._fits(first, second)]
            for second, cosine in zip(others, self._links(first, others), strict=True):
                if cosine >= self.threshold:
                    self.near[first][second] = self.near[second][first] = cosine
                    heappush(self.queue, (-cosine, min(first, second), max(first, second)))
        return bool(self.queue)

    def _fits(self, first: int, second: int) -> bool:
        return len(self.members[first]) + len(self.members[second]) <= self.largest

    def _merge(self, first: int, second: int, new: int) -> None:
        first_near, second_near = self.near.pop(first), self.near.pop(second)
        self.members[new] = self.members.pop(first) + self.members.pop(second)
        if first in self.cut or second in self.cut:
            self.cut.add(new)
        linked: dict[int, float] = {}
        unknown: list[int] = []
        for cluster in sorted(first_near.keys() | second_near.keys()):
            if cluster not in self.members:
                continue
            self.near[cluster].pop(first, None)
            self.near[cluster].pop(second, None)
            if not self._fits(cluster, new):
                continue
            if cluster in first_near and cluster in second_near:
                linked[cluster] = min(first_near[cluster], second_near[cluster])
            elif cluster in self.cut or new in self.cut:
                unknown.append(cluster)
        linked.update(zip(unknown, self._links(new, unknown), strict=True))
        nearest = sorted(
            ((-cosine, cluster) for cluster, cosine in linked.items() if cosine >= self.threshold),
        )
        if len(nearest) > _NEIGHBOURS:
            self.cut.add(new)
        self.near[new] = {cluster: -cosine for cosine, cluster in nearest[:_NEIGHBOURS]}
        for cosine, cluster in nearest[:_NEIGHBOURS]:
            self.near[cluster][new] = -cosine
            heappush(self.queue, (cosine, cluster, new))

    def _links(self, cluster: int, others: Sequence[int]) -> list[float]:
        """The similarity of the least similar pair, between a cluster and each of the others."""
        if not others:
            return []
        sizes = [len(self.members[second]) for second in others]
        rows = self.vectors[[member for second in others for member in self.members[second]]]
        worst = (rows @ self.vectors[self.members[cluster]].T).min(axis=1)
        starts = np.cumsum([0, *sizes[:-1]])
        least: list[float] = np.minimum.reduceat(worst, starts).tolist()
        return least


def _close_pairs(
    vectors: Vectors, threshold: float
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32], NDArray[np.intp]]]:
    """Pairs (row < column) with at least this cosine, block by block; of a row with too many pairs only the nearest.

    The last array holds the rows with pairs that were left out.
    """
    total = len(vectors)
    height = max(1, _TILE // max(1, total))
    for start in range(0, total, height):
        block = vectors[start : start + height]
        cosines = block @ vectors[start:].T
        rows, columns = np.divmod(np.flatnonzero(cosines >= threshold), total - start)
        later = columns > rows
        rows, columns = rows[later], columns[later]
        crowded = np.flatnonzero(np.bincount(rows, minlength=len(block)) > _NEIGHBOURS)
        if len(crowded):
            shown = np.where(np.arange(total - start) > crowded[:, None], cosines[crowded], -np.inf)
            nearest = np.argpartition(shown, -_NEIGHBOURS, axis=1)[:, -_NEIGHBOURS:]
            others = ~np.isin(rows, crowded)
            rows = np.concatenate([rows[others], np.repeat(crowded, _NEIGHBOURS)])
            columns = np.concatenate([columns[others], nearest.ravel()])
        yield rows + start, columns + start, cosines[rows, columns], crowded + start
