"""The postings of a search index: pairs of term and row, sorted once enough lookups have scanned them."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.policy.ranking.score import Rows
from slowwave.stores.search.vectors import grown

Terms = NDArray[np.uint64]

SCANS_BEFORE_SORTING: Final = 64
"""The number of linear scans that cost about as much as sorting the postings."""


class Postings:
    """Pairs of a term, as a number, and a row that contains it.

    New pairs are scanned linearly, and are sorted in when the scans have cost as much as sorting. So a process that
    answers one question never sorts, and one that answers many scans little.
    """

    def __init__(self) -> None:
        self._terms: Terms = np.zeros(0, dtype=np.uint64)
        self._rows: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._count = self._sorted = self._looked = 0

    def add(self, terms: Terms, rows: Rows) -> None:
        """Append terms and their rows. Rows may not decrease."""
        end = self._count + len(terms)
        self._terms, self._rows = grown(self._terms, end), grown(self._rows, end)
        self._terms[self._count : end], self._rows[self._count : end] = terms, rows
        self._count = end

    def of(self, term: int) -> Rows:
        """The rows that contain a term, ascending, one for each occurrence."""
        key = np.uint64(term)
        if self._looked > SCANS_BEFORE_SORTING * self._count:
            self._sort()
        known = self._terms[: self._sorted]
        first, last = np.searchsorted(known, key), np.searchsorted(known, key, side="right")
        new = np.flatnonzero(self._terms[self._sorted : self._count] == key) + self._sorted
        self._looked += self._count - self._sorted
        return np.concatenate((self._rows[first:last], self._rows[new])).astype(np.intp)

    @property
    def nbytes(self) -> int:
        """The RAM of the arrays, in bytes."""
        return self._terms.nbytes + self._rows.nbytes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All pairs, sorted, in the form that `take` reads."""
        if self._sorted < self._count:
            self._sort()
        return {"terms": self._terms[: self._count], "rows": self._rows[: self._count]}

    def take(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the content by the result of `arrays`."""
        self._terms, self._rows = arrays["terms"], arrays["rows"]
        self._count = self._sorted = len(self._terms)

    def _sort(self) -> None:
        order = np.argsort(self._terms[: self._count], kind="stable")  # stable: the rows of a term stay ascending
        self._terms[: self._count] = self._terms[order]
        self._rows[: self._count] = self._rows[order]
        self._sorted, self._looked = self._count, 0
