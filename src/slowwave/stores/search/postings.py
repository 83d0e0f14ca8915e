"""Where each word of a search index occurs: a list of words and rows, put in order once asking has become dear."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.policy.ranking.score import Rows
from slowwave.stores.search.vectors import grown

Terms = NDArray[np.uint64]

PATIENCE: Final = 64
"""Looking through the whole list so many times costs about as much as sorting it."""


class Postings:
    """Words as numbers, each with the row it occurs in.

    What is new is looked through word by word; it joins the sorted rest when that has cost as much as sorting does. So
    a process that asks one question never sorts, and one that asks many never looks through much.
    """

    def __init__(self) -> None:
        self._terms: Terms = np.zeros(0, dtype=np.uint64)
        self._rows: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._count = self._sorted = self._looked = 0

    def add(self, terms: Terms, rows: Rows) -> None:
        """Words in the order of the text and the row of each, no row less than those before."""
        end = self._count + len(terms)
        self._terms, self._rows = grown(self._terms, end), grown(self._rows, end)
        self._terms[self._count : end], self._rows[self._count : end] = terms, rows
        self._count = end

    def of(self, term: int) -> Rows:
        """The rows with a word, ascending, one for each time it occurs."""
        wanted = np.uint64(term)
        if self._looked > PATIENCE * self._count:
            self._sort()
        known = self._terms[: self._sorted]
        first, last = np.searchsorted(known, wanted), np.searchsorted(known, wanted, side="right")
        new = np.flatnonzero(self._terms[self._sorted : self._count] == wanted) + self._sorted
        self._looked += self._count - self._sorted
        return np.concatenate((self._rows[first:last], self._rows[new])).astype(np.intp)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, sorted, as `take` wants it."""
        if self._sorted < self._count:
            self._sort()
        return {"terms": self._terms[: self._count], "rows": self._rows[: self._count]}

    def take(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up what `arrays` gave."""
        self._terms, self._rows = arrays["terms"], arrays["rows"]
        self._count = self._sorted = len(self._terms)

    def _sort(self) -> None:
        order = np.argsort(self._terms[: self._count], kind="stable")  # stable: the rows of a word stay ascending
        self._terms[: self._count] = self._terms[order]
        self._rows[: self._count] = self._rows[order]
        self._sorted, self._looked = self._count, 0
