"""What recall needs of a text, made ready before any transaction: its terms, cues and vectors."""

from collections.abc import Sequence

from slowwave.errors import EmbedderError
from slowwave.model.index_entry import IndexEntry
from slowwave.policy.text.features import index_text, passages
from slowwave.ports import Ports


def entries(ports: Ports, texts: Sequence[str]) -> tuple[list[IndexEntry], tuple[str, ...]]:
    """One entry a text, and the problems: with a failing embedder texts are stored without vectors, found by words."""
    bare = [index_text(text) for text in texts]
    try:
        return embedded_entries(ports, texts, bare), ()
    except EmbedderError as error:
        return bare, (f"stored without vectors, found by words until `slowwave reembed`: {error}",)


def embedded_entries(ports: Ports, texts: Sequence[str], bare: list[IndexEntry]) -> list[IndexEntry]:
    """The bare entries of these texts with their vectors, or as they are if there is no embedder.

    Raises:
        EmbedderError: if the embedder fails.
    """
    embedder = ports.embedder
    if embedder is None or not texts:
        return bare
    pieces = [passages(text) for text in texts]
    vectors = ports.embed([*texts, *(piece for row in pieces for piece in row)])
    made, next_piece = [], len(texts)
    for place, (entry, row) in enumerate(zip(bare, pieces, strict=True)):
        own = vectors[place].tobytes()
        if own.count(0) == len(own):  # zeros: a text without a single known token has no direction, and needs none
            own = b""
        elif row:
            own += vectors[next_piece : next_piece + len(row)].tobytes()
        made.append(_with_vectors(entry, own, vectors.shape[1] if own else 0, embedder.name))
        next_piece += len(row)
    return made


def _with_vectors(entry: IndexEntry, vectors: bytes, dim: int, embedder: str) -> IndexEntry:
    return IndexEntry(  # spelled out: `replace` costs a tenth of a durable add
        terms=entry.terms,
        words=entry.words,
        question=entry.question,
        cues=entry.cues,
        vectors=vectors,
        dim=dim,
        embedder=embedder,
    )
