"""The similarity of single words, from the word vectors of an embedder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.policy.comparison.alignment import Grid, WordCosine
    from slowwave.ports import Embedder


def word_similarity(embedder: "Embedder | None") -> "WordCosine | None":
    """The cosines of an embedder's `word_vectors`; None if it has none, and then only equal words match."""
    vectors = getattr(embedder, "word_vectors", None)
    if vectors is None:
        return None

    def cosines(rows: Sequence[str], columns: Sequence[str]) -> "Grid":
        grid: Grid = vectors(rows) @ vectors(columns).T
        return grid

    return cosines
