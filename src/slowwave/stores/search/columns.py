"""The columns of a search index: what each row says, as arrays that grow in place."""

from collections import UserDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.policy.ranking.score import length_gate, question_share
from slowwave.stores.search.vectors import grown

_COLUMNS: Final[Mapping[str, type[np.generic]]] = {
    "words": np.float64,
    "gate": np.float64,
    "question": np.float64,
    "at": np.float64,
    "anchor": np.float64,
    "importance": np.float64,
    "before": np.intp,
    "after": np.intp,
    "day": np.intp,
    "speaker": np.intp,
    "conversation": np.intp,
    "category": np.intp,
    "kind": np.intp,
    "cues": np.uint8,
    "user": np.bool_,
    "original": np.bool_,
    "hot": np.bool_,
    "open": np.bool_,
    "outdated": np.bool_,
}


class Columns(UserDict[str, NDArray[Any]]):
    """One array a name, each with room for `size` rows or more."""

    def __init__(self) -> None:
        super().__init__({name: np.zeros(0, dtype=kind) for name, kind in _COLUMNS.items()})
        self.size = 0

    def add(self, words: Sequence[int], question: Sequence[float], cues: Sequence[int]) -> int:
        """Rows for new texts, with what their entries say; the first of them."""
        start = self.size
        self.size += len(words)
        for name, column in self.items():
            self[name] = grown(column, self.size)
        fresh, count = slice(start, self.size), np.array(words, dtype=np.float64)
        self["words"][fresh] = count
        self["gate"][fresh] = length_gate(count)
        self["question"][fresh] = question_share(np.array(question, dtype=np.float64), count)
        self["cues"][fresh] = cues
        return start

    def take(self, columns: Mapping[str, NDArray[Any]], size: int) -> None:
        """Take up columns of so many rows."""
        self.data.update(columns)
        self.size = size
