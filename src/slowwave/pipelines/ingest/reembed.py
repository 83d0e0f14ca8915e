"""Computes missing vectors of the current embedder. It can be interrupted; meanwhile searches go by words."""

from collections.abc import Sequence
from typing import Final

from slowwave.errors import EmbedderError, SettingsError
from slowwave.model.memory import Memory
from slowwave.pipelines.ingest.index_text import embedded_entries
from slowwave.policy.text.features import index_text
from slowwave.ports import Ports, Progress

BATCH = 500
_TRIED: Final = "a sentence to try it"


def reembed(ports: Ports, *, most: int | None = None, on_progress: Progress | None = None) -> int:
    """Embed batch by batch until every text has a vector. Returns how many texts got a vector.

    Full texts are embedded first, then the remaining clauses of shortened messages. It reads no more texts than there
    are when it begins: else it would not end while another program embeds the same texts with another embedder.

    Args:
        ports: the store and the embedder.
        most: how many texts to read; None means all that are stored when it begins.
        on_progress: called after each batch with the number of texts that were read, and of all.

    Raises:
        SettingsError: if there is no embedder.
        EmbedderError: if it fails; the batches before are stored. A text that it refuses does not stop the others.
    """
    if ports.embedder is None:
        raise SettingsError("there is no embedder to re-embed with: open the memory with one")
    ports.embed([_TRIED])  # its width says which vectors are those of another model
    space = ports.space
    embedded = read = 0
    total = _count(ports, space) if on_progress else 0
    most = 2 * sum(ports.store.count(ports.scope).values()) if most is None else most
    refused: list[EmbedderError] = []
    for gists in (False, True):
        while read < most:
            batch = ports.store.unembedded(ports.scope, space, BATCH, gists=gists)
            if not batch:
                break
            read += len(batch)
            count, refused = _embed(ports, batch, gists=gists)
            embedded += count
            if on_progress:
                on_progress(read, max(read, total))
            if len(refused) == len(batch):
                break
    if refused:
        raise refused[0]
    return embedded


def _count(ports: Ports, embedder: str | None) -> int:
    return sum(len(ports.store.unembedded(ports.scope, embedder, gists=gists)) for gists in (False, True))


def without_vector(ports: Ports, most: int | None = None) -> list[Memory]:
    """The memories whose text, or whose remaining clauses, have no vector of the current embedder; none without one."""
    if ports.embedder is None:
        return []
    memories = [
        memory
        for gists in (False, True)
        for memory in ports.store.unembedded(ports.scope, ports.space, most, gists=gists)
    ]
    return list({memory.id: memory for memory in memories}.values())


def _embed(ports: Ports, batch: Sequence[Memory], *, gists: bool) -> tuple[int, list[EmbedderError]]:
    """Embed one batch. Returns how many texts got a vector, and the refusals of single texts.

    A text without a single known token gets no vector.
    """
    texts = [memory.visible_text if gists else memory.text for memory in batch]
    try:
        index_entries = embedded_entries(ports, texts, [index_text(text) for text in texts])
    except EmbedderError as error:
        if not error.refused:
            raise
        if len(batch) == 1:
            return 0, [error]
        half = len(batch) // 2
        (first, refused), (second, more) = (_embed(ports, part, gists=gists) for part in (batch[:half], batch[half:]))
        return first + second, refused + more
    ports.store.index(
        ports.scope, {memory.id: entry for memory, entry in zip(batch, index_entries, strict=True)}, gists=gists
    )
    return sum(1 for entry in index_entries if entry.dim), []
