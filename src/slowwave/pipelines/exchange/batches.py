"""Groups the items of a file into the batches in which an import stores them."""

from collections.abc import Iterable, Iterator

from slowwave.model.exchange import ConversationTitle, ExportedMemory, Item, SkippedItem
from slowwave.model.memory import MESSAGE


def batches(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Groups neighbours of one sort, at most so many; titles and skipped items belong to any sort."""
    batch: list[Item] = []
    sort: object = None
    for item in items:
        own = sort if isinstance(item, SkippedItem | ConversationTitle) else _sort(item)
        if batch and (len(batch) >= most or (sort is not None and own != sort)):
            yield batch
            batch = []
        batch.append(item)
        sort = own
    if batch:
        yield batch


def _sort(item: Item) -> object:
    """The key by which items are batched: exported messages of one conversation are numbered together."""
    if isinstance(item, ExportedMemory):
        return ExportedMemory, item.memory.conversation if item.memory.kind == MESSAGE else None
    return type(item)
