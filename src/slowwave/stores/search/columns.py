"""The columns of a search index, as arrays that grow in place."""

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
    """Arrays by column name, each with a capacity of at least `size` rows."""

    def __init__(self) -> None:
        super().__init__({name: np.zeros(0, dtype=kind) for name, kind in _COLUMNS.items()})
        self.size = 0

    def add(self, words: Sequence[int], question: Sequence[float], cues: Sequence[int]) -> int:
        """Append rows for new texts with the values of their entries. Returns the first new row."""
        start = self.size
        self.size += len(words)
        for name, column in self.items():
            self[name] = grown(column, self.size)
        new, count = slice(start, self.size), np.array(words, dtype=np.float64)
        self["words"][new] = count
        self["gate"][new] = length_gate(count)
        self["question"][new] = question_share(np.array(question, dtype=np.float64), count)
        self["cues"][new] = cues
        return start

    def take(self, columns: Mapping[str, NDArray[Any]], size: int) -> None:
        """Replace all columns by these, which have `size` rows."""
        self.data.update(columns)
        self.size = size
