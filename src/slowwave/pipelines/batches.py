"""Batches: what of an import is taken in together, in one transaction."""

from collections.abc import Iterable, Iterator

from slowwave.model.memory import MESSAGE
from slowwave.model.transfer import Item, Kept, Skipped


def batches(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Neighbours of one sort, at most so many of them; what is skipped goes along with any."""
    batch: list[Item] = []
    sort: object = None
    for item in items:
        own = sort if isinstance(item, Skipped) else _sort(item)
        if batch and (len(batch) >= most or (sort is not None and own != sort)):
            yield batch
            batch = []
        batch.append(item)
        sort = own
    if batch:
        yield batch


def _sort(item: Item) -> object:
    """Records of a conversation are numbered together; lines of many conversations may well alternate."""
    if isinstance(item, Kept):
        return Kept, item.memory.conversation if item.memory.kind == MESSAGE else None
    return type(item)
