"""Re-embed: vectors of the current embedder for what has none; resumable, and recall works by words meanwhile."""

from slowwave.errors import SettingsError
from slowwave.pipelines.entries import entries
from slowwave.ports import Ports

BATCH = 500


def reembed(ports: Ports, *, most: int | None = None) -> int:
    """Embed batch by batch until nothing is left, or the embedder fails. Returns how many got a vector.

    Args:
        ports: everything to work with.
        most: how many to look at; None means all.

    Raises:
        SettingsError: if there is no embedder.
        EmbedderError: if it fails; what was embedded before stays.
    """
    if ports.embedder is None:
        raise SettingsError("there is no embedder to re-embed with: open the memory with one")
    done = 0
    without: set[str] = set()  # texts without a single known token have no direction, and stay without a vector
    while most is None or done + len(without) < most:
        found = ports.store.unembedded(ports.scope, ports.embedder.name, BATCH + len(without))
        batch = [memory for memory in found if memory.id not in without]
        if not batch:
            break
        made, problems = entries(ports, [memory.text for memory in batch])
        if problems:
            ports.embed([batch[0].text])  # raises with the embedder's own words
        wanted = {memory.id: entry for memory, entry in zip(batch, made, strict=True) if entry.dim}
        without |= {memory.id for memory in batch} - wanted.keys()
        done += ports.store.index(ports.scope, wanted) if wanted else 0
    return done
