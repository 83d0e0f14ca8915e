"""The search data of one text: computed once, when the text is written, and stored as blobs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """The search data of one text.

    Attributes:
        terms: the 64-bit ids of its stems in the order of the text, stop words included, 8 bytes each, little-endian.
        words: how many stems there are.
        question: the share of its words in sentences that end with a question mark, 0 to 1.
        cues: which kinds of answer it may hold, one bit each (`policy.features`).
        vectors: (1 + k, dim) float32, little-endian, row by row: the text's own unit vector, then those of its k
            passages; empty without an embedder.
        dim: the width of a vector, 0 without vectors.
        embedder: the fingerprint of the embedder of the vectors, None without vectors.
    """

    terms: bytes
    words: int
    question: float
    cues: int
    vectors: bytes = b""
    dim: int = 0
    embedder: str | None = None
