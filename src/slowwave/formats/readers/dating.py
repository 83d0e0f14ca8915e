"""Gives messages without a time that of a neighbour, of their conversation, or of the file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from slowwave.model.exchange import OF_FILE, ImportedMessage, Item

NEIGHBOUR: Final = "a neighbour"
CONVERSATION: Final = "their conversation"
HELD_MOST: Final = 10_000
"""Items that are in memory until a message with a time follows."""


def filled(times: Sequence[datetime | None], otherwise: datetime | None) -> list[tuple[datetime | None, str]]:
    """The time of each message of a conversation, and where it is from; "" if it is its own or is not known.

    Args:
        times: the own times of the messages in order.
        otherwise: the time of the conversation.

    A message without a time has that of the one before it, else of the first that has one, else of the conversation.
    """
    near = next((at for at in times if at is not None), None)
    found: list[tuple[datetime | None, str]] = []
    for at in times:
        near = at or near
        source = "" if at else NEIGHBOUR if near else CONVERSATION if otherwise else ""
        found.append((near or otherwise, source))
    return found


def dated(items: Iterable[Item], of_file: datetime) -> Iterator[Item]:
    """The items of a file in order, in which each message has a time.

    One that its reader did not give any has the time of the message before it in its conversation, else of the next message
    of the file that has one, else of the one before it, else `of_file`.
    """
    held: list[Item] = []
    latest: dict[str, datetime] = {}
    before: datetime | None = None
    for item in items:
        if isinstance(item, ImportedMessage):
            own = item.message.at or latest.get(item.conversation)
            if own is not None:
                yield from (_given(one, own, NEIGHBOUR) for one in held)
                held = []
                latest[item.conversation] = before = own
                yield _given(item, own, NEIGHBOUR)
                continue
            held.append(item)
        elif held:
            held.append(item)
        else:
            yield item
        if len(held) >= HELD_MOST:
            yield from (_given(one, before or of_file, NEIGHBOUR if before else OF_FILE) for one in held)
            held = []
    yield from (_given(one, before or of_file, NEIGHBOUR if before else OF_FILE) for one in held)


def _given(item: Item, at: datetime, source: str) -> Item:
    """A message with this time if it has none; any other item as it is."""
    if not isinstance(item, ImportedMessage) or item.message.at is not None:
        return item
    return replace(item, message=replace(item.message, at=at), time_of=source)
