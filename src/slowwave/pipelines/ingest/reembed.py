"""Re-embed: vectors of the current embedder for what has none; resumable, and recall works by words meanwhile."""

from slowwave.errors import SettingsError
from slowwave.model.memory import Memory
from slowwave.pipelines.ingest.index_text import embedded_entries
from slowwave.policy.text.features import index_text
from slowwave.ports import Ports

BATCH = 500


def reembed(ports: Ports, *, most: int | None = None) -> int:
    """Embed batch by batch until nothing is left, or the embedder fails. Returns how many got a vector.

    Whole texts first, then what is left of messages that have lost some of their wording.

    Args:
        ports: everything to work with.
        most: how many to look at; None means all.

    Raises:
        SettingsError: if there is no embedder.
        EmbedderError: if it fails; what was embedded before stays.
    """
    if ports.embedder is None:
        raise SettingsError("there is no embedder to re-embed with: open the memory with one")
    done = looked = 0
    for gists in (False, True):
        while most is None or looked < most:
            batch = ports.store.unembedded(ports.scope, ports.embedder.name, BATCH, gists=gists)
            if not batch:
                break
            looked += len(batch)
            done += _embedded(ports, batch, gists=gists)
    return done


def without_vector(ports: Ports, most: int | None = None) -> list[Memory]:
    """Memories of which the text, or what is left of it, has no vector of the current embedder; none without one."""
    if ports.embedder is None:
        return []
    name = ports.embedder.name
    found = [one for gists in (False, True) for one in ports.store.unembedded(ports.scope, name, most, gists=gists)]
    return list({memory.id: memory for memory in found}.values())


def _embedded(ports: Ports, batch: list[Memory], *, gists: bool) -> int:
    """How many of a batch got a vector. A text without a single known token has no direction, and needs none."""
    texts = [memory.visible_text if gists else memory.text for memory in batch]
    made = embedded_entries(ports, texts, [index_text(text) for text in texts])
    ports.store.index(ports.scope, {one.id: entry for one, entry in zip(batch, made, strict=True)}, gists=gists)
    return sum(1 for entry in made if entry.dim)
