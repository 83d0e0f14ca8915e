"""The search data of one text: computed once, when the text is written, and stored as blobs."""

from dataclasses import dataclass
from typing import Final

_MARK: Final = "\x1f"  # in no name of an embedder


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
        embedder: the fingerprint of the vectors, None without vectors.
    """

    terms: bytes
    words: int
    question: float
    cues: int
    vectors: bytes = b""
    dim: int = 0
    embedder: str | None = None


def fingerprint(embedder: str, width: int) -> str:
    """What names the vectors of an embedder: its name and their width, so that vectors of two widths are never compared."""
    return f"{embedder}{_MARK}{width}"


def name_and_width(fingerprint: str) -> tuple[str, int | None]:
    """The name and the width of a fingerprint; the width is None where a name stands alone."""
    name, mark, width = fingerprint.rpartition(_MARK)
    return (name, int(width)) if mark else (fingerprint, None)
