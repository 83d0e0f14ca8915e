"""Orders the items of a file, and groups them into the batches in which an import stores them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from slowwave.model.exchange import ConversationTitle, ExportedMemory, ImportedMessage, Item, SkippedItem
from slowwave.model.memory import MESSAGE

_OLDEST: Final = datetime.min.replace(tzinfo=UTC)
_NOW: Final = datetime.max.replace(tzinfo=UTC)
"""The time of a message without one, which is said when it is stored: later than that of all others."""


def newest_last(items: Iterable[Item]) -> Iterator[Item]:
    """The items, with the newest message of the file after all others, so that its conversation is written to last.

    The messages of one conversation keep their order, and a title still follows the messages. At most one message with
    one title is held back.
    """
    held: list[ImportedMessage | ConversationTitle] = []
    newest = _OLDEST
    for item in items:
        if isinstance(item, ImportedMessage):
            at = item.message.at or _NOW
            if at >= newest or (held and held[0].conversation == item.conversation):
                yield from held
                held = [item]
                newest = max(newest, at)
                continue
        elif isinstance(item, ConversationTitle) and len(held) == 1 and held[0].conversation == item.conversation:
            held.append(item)
            continue
        yield item
    yield from held


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
