"""Claude's data export: conversations with `chat_messages`. Reasoning and tool calls are not imported."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.builders import (
    NO_OBJECT,
    MessageBuilder,
    as_label,
    conversation_title,
    message_text,
)
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import Item, SkippedItem
from slowwave.model.message import role_of

_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)


def fits(element: Json) -> bool:
    """Whether a JSON value is a conversation of Claude."""
    return isinstance(element, Mapping) and isinstance(element.get("chat_messages"), list)


def read(element: Json, number: int, builder: MessageBuilder, name: str) -> Iterator[Item]:
    """The messages of one conversation in order of time; a message without a time keeps its position."""
    place = f"conversation {number}"
    if not fits(element):
        yield SkippedItem(where=place, why="no chat_messages in it")
        return
    conversation = as_label(element.get("uuid")) or f"{name}-{number}"
    last = instant(element.get("created_at"))
    dated: list[tuple[datetime, int, Mapping[str, Json]]] = []
    for count, message in enumerate(element["chat_messages"], 1):
        if not isinstance(message, Mapping):
            yield SkippedItem(where=f"{place}, message {count}", why=NO_OBJECT)
            continue
        last = instant(message.get("created_at")) or last
        dated.append((last or _EARLIEST, count, message))
    for at, count, message in sorted(dated, key=lambda entry: entry[:2]):
        where = f"{place}, message {count}"
        yield builder.message(
            conversation,
            role_of(message.get("sender")),
            _text(message),
            where=where,
            at=None if at == _EARLIEST else at,
            ref=as_label(message.get("uuid")),
        )
        for attached in ("attachments", "files"):
            if isinstance(message.get(attached), list) and message[attached]:
                yield SkippedItem(where=where, why="its attachments: only text is imported")
    yield from conversation_title(conversation, element.get("name"), place)


def _text(message: Mapping[str, Json]) -> str:
    content = message.get("content")
    text = message_text(content) if isinstance(content, list) else ""
    whole = message.get("text")
    return text if text.strip() or not isinstance(whole, str) else whole
