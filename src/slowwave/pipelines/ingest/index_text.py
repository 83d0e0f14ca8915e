"""Computes the search data of texts, before any transaction is open."""

from collections.abc import Iterator, Sequence
from typing import Final

from slowwave.errors import EmbedderError
from slowwave.model.config import Config
from slowwave.model.index_entry import IndexEntry, fingerprint, name_and_width
from slowwave.policy.guard.redaction import redact
from slowwave.policy.text.features import index_text, passages
from slowwave.ports import Embedder, Ports

_AGREEING_MAX: Final = 10_000
"""Scopes of one process for which it is kept that all their vectors have one width; a full set is emptied."""


def entries(ports: Ports, texts: Sequence[str]) -> tuple[list[IndexEntry], tuple[str, ...]]:
    """One index entry for each text, and problems. If the embedder fails, entries have no vectors."""
    bare = [index_text(text) for text in texts]
    try:
        made = embedded_entries(ports, texts, bare)
    except EmbedderError as error:
        return bare, (f"stored without vectors, found by words until `reembed`: {error}",)
    return made, tuple(_other_widths(ports)) if made else ()


def _other_widths(ports: Ports) -> Iterator[str]:
    """A sentence if the scope has vectors of another width under the name of the embedder, such as of another model there."""
    space, agreeing = ports.space, ports.width.agreeing
    if space is None or (ports.scope, space) in agreeing:
        return
    name, width = name_and_width(space)
    if other := ports.store.other_width(ports.scope, space):
        yield (
            f"the embedder {name} answers vectors of {width} numbers, and older texts have vectors of {other}: "
            "they are found by words until `reembed`"
        )
        return
    if len(agreeing) >= _AGREEING_MAX:
        agreeing.clear()
    agreeing.add((ports.scope, space))


def embedded_entries(ports: Ports, texts: Sequence[str], bare: list[IndexEntry]) -> list[IndexEntry]:
    """The bare entries of these texts with their vectors, or as they are if there is no embedder.

    Raises:
        EmbedderError: if the embedder fails.
    """
    embedder = ports.embedder
    if embedder is None or not texts:
        return bare
    if blank := {place for place, text in enumerate(texts) if not text.strip()}:  # embedders never get blank text
        worded = [place for place in range(len(texts)) if place not in blank]
        made = embedded_entries(ports, [texts[place] for place in worded], [bare[place] for place in worded])
        nothing = {place: _with_vectors(bare[place], b"", 0, ports.space or embedder.name) for place in blank}
        by_place = nothing | dict(zip(worded, made, strict=True))
        return [by_place[place] for place in range(len(texts))]
    texts = texts_to_embed(embedder, texts, ports.config)  # first, so that no passage holds a part of a secret
    pieces = [passages(text) for text in texts]
    vectors = ports.embed([*texts, *(piece for row in pieces for piece in row)])
    index_entries, next_piece, space = [], len(texts), fingerprint(embedder.name, vectors.shape[1])
    for place, (entry, row) in enumerate(zip(bare, pieces, strict=True)):
        data = vectors[place].tobytes()
        if data.count(0) == len(data):  # the embedder knows no token of the text
            data = b""
        elif row:
            data += vectors[next_piece : next_piece + len(row)].tobytes()
        index_entries.append(_with_vectors(entry, data, vectors.shape[1] if data else 0, space))
        next_piece += len(row)
    return index_entries


def texts_to_embed(embedder: Embedder, texts: Sequence[str], config: Config) -> Sequence[str]:
    """The texts as an embedder gets them: without recognised secrets, unless it is local or the setting allows them."""
    if not config.redact_to_model or getattr(embedder, "is_local", False):
        return texts
    return [redact(text).text for text in texts]


def _with_vectors(entry: IndexEntry, vectors: bytes, dim: int, embedder: str) -> IndexEntry:
    return IndexEntry(  # not by `replace`, which takes a tenth of the time of a durable add
        terms=entry.terms,
        words=entry.words,
        question=entry.question,
        cues=entry.cues,
        vectors=vectors,
        dim=dim,
        embedder=embedder,
    )
