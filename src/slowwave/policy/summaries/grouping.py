"""Grouping: memories that all resemble each other, by complete link, whatever the order they come in."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_NEIGHBOURS: Final = 32  # pairs kept for each: what is close to more than these is grouped with some of them anyway
_TILE: Final = 4_000_000  # numbers of one block of similarities, 16 MB


def groups(
    vectors: Vectors, *, keys: Sequence[str], threshold: float, smallest: int = 5, largest: int = 12
) -> list[tuple[int, ...]]:
    """Groups in which every two memories are at least this similar.

    The two clusters whose least similar pair is most similar are joined first, until none can be joined any more.
    Memory grows with n, not with its square.

    Args:
        vectors: (n, dim) float32 unit rows; a row of zeros resembles nothing.
        keys: n distinct names; they settle ties, so that the result does not depend on the order of the rows.
        threshold: the least cosine between any two of a group.
        smallest: the fewest memories that make a group.
        largest: the most.

    Returns:
        Tuples of row numbers, ordered by key within and by first key between; a row is in at most one.

    >>> pair = np.eye(3, dtype=np.float32)[[0, 1, 0]]
    >>> groups(pair, keys=["a", "b", "c"], threshold=0.9, smallest=2)
    [(0, 2)]
    """
    order = sorted(range(len(keys)), key=keys.__getitem__)
    linked = _Linkage(np.ascontiguousarray(vectors[order]), threshold, largest)
    found = sorted(members for members in linked.merged() if len(members) >= smallest)
    return [tuple(order[member] for member in members) for members in found]


class _Linkage:
    """Agglomerative clustering over the pairs above a threshold. Cluster n + k is the k-th that was made.

    `near` holds the similarity of every two clusters that may be joined, that of their least similar pair. Two that are
    not in it are below the threshold, unless one of them is `cut`: has more neighbours than are kept.
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
        """All clusters of two and more, each in ascending order."""
        self._pair()
        made = len(self.vectors)
        while self.queue or self._overlooked():
            _, one, other = heappop(self.queue)
            if one in self.members and other in self.members and self._fits(one, other):
                self._merge(one, other, made)
                made += 1
        return [sorted(members) for members in self.members.values() if len(members) > 1]

    def _pair(self) -> None:
        for rows, columns, cosines, crowded in _close_pairs(self.vectors, self.threshold):
            self.cut.update(crowded.tolist())
            for one, other, cosine in zip(rows.tolist(), columns.tolist(), cosines.tolist(), strict=True):
                self.near.setdefault(one, {})[other] = cosine
                self.near.setdefault(other, {})[one] = cosine
                self.queue.append((-cosine, one, other))
        self.members = {single: [single] for single in self.near}
        heapify(self.queue)

    def _overlooked(self) -> bool:
        """Queue the pairs that crowded clusters were not told of; whether there are any. They know all their near ones then."""
        free = [cluster for cluster, members in self.members.items() if len(members) < self.largest]
        crowded = sorted(self.cut.intersection(free))
        self.cut.clear()
        for place, one in enumerate(crowded):
            known = set(crowded[: place + 1])
            others = [other for other in free if other not in known and self._fits(one, other)]
            for other, cosine in zip(others, self._links(one, others), strict=True):
                if cosine >= self.threshold:
                    self.near[one][other] = self.near[other][one] = cosine
                    heappush(self.queue, (-cosine, min(one, other), max(one, other)))
        return bool(self.queue)

    def _fits(self, one: int, other: int) -> bool:
        return len(self.members[one]) + len(self.members[other]) <= self.largest

    def _merge(self, one: int, other: int, made: int) -> None:
        first, second = self.near.pop(one), self.near.pop(other)
        self.members[made] = self.members.pop(one) + self.members.pop(other)
        if one in self.cut or other in self.cut:
            self.cut.add(made)
        linked: dict[int, float] = {}
        unknown: list[int] = []
        for cluster in sorted(first.keys() | second.keys()):
            if cluster not in self.members:
                continue
            self.near[cluster].pop(one, None)
            self.near[cluster].pop(other, None)
            if not self._fits(cluster, made):
                continue
            if cluster in first and cluster in second:
                linked[cluster] = min(first[cluster], second[cluster])
            elif cluster in self.cut or made in self.cut:
                unknown.append(cluster)
        linked.update(zip(unknown, self._links(made, unknown), strict=True))
        nearest = sorted(
            ((-cosine, cluster) for cluster, cosine in linked.items() if cosine >= self.threshold),
        )
        if len(nearest) > _NEIGHBOURS:
            self.cut.add(made)
        self.near[made] = {cluster: -cosine for cosine, cluster in nearest[:_NEIGHBOURS]}
        for cosine, cluster in nearest[:_NEIGHBOURS]:
            self.near[cluster][made] = -cosine
            heappush(self.queue, (cosine, cluster, made))

    def _links(self, cluster: int, others: Sequence[int]) -> list[float]:
        """The similarity of the least similar pair between a cluster and each of the others."""
        if not others:
            return []
        sizes = [len(self.members[other]) for other in others]
        rows = self.vectors[[member for other in others for member in self.members[other]]]
        worst = (rows @ self.vectors[self.members[cluster]].T).min(axis=1)
        starts = np.cumsum([0, *sizes[:-1]])
        least: list[float] = np.minimum.reduceat(worst, starts).tolist()
        return least


def _close_pairs(
    vectors: Vectors, threshold: float
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32], NDArray[np.intp]]]:
    """Pairs (row < column) at least this similar, block by block; of each row its nearest, when there are too many.

    Last come the rows of which some were left out.
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
