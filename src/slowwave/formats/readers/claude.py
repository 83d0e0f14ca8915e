"""Claude's data export: conversations with `chat_messages`, which may have branches. Reasoning and tools are skipped."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.branches import OTHER_BRANCH, thread
from slowwave.formats.readers.builders import (
    NO_OBJECT,
    MessageBuilder,
    as_label,
    conversation_title,
    first_time,
    readable,
)
from slowwave.formats.readers.dating import filled
from slowwave.formats.readers.timestamps import instant
from slowwave.model.content import content_text, is_of_tool
from slowwave.model.exchange import Item, SkippedItem
from slowwave.model.message import role_of

_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
_ROOTS = ("00000000-0000-4000-8000-000000000000", "00000000-0000-0000-0000-000000000000")
"""The parents of the first message of a conversation."""
_DAMAGED = "the order of its branches is damaged: all its messages were read"
_TOOL = "a call of a tool, or its result: only what was said is imported"


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
    counted = [(count, one) for count, one in enumerate(element["chat_messages"], 1) if isinstance(one, Mapping)]
    for count, message in enumerate(element["chat_messages"], 1):
        if not isinstance(message, Mapping):
            yield SkippedItem(where=f"{place}, message {count}", why=NO_OBJECT)
    times = filled(
        [first_time(message, ("created_at", "updated_at")) for _, message in counted],
        first_time(element, ("created_at", "updated_at")),
    )
    dated = [
        (at or _EARLIEST, count, time_of, message)
        for (count, message), (at, time_of) in zip(counted, times, strict=True)
    ]
    others, problem = _other_branches(element, [message for _, message in counted])
    if problem:
        yield SkippedItem(where=place, why=problem)
    for at, count, time_of, message in sorted(dated, key=lambda entry: entry[:2]):
        where = f"{place}, message {count}"
        if as_label(message.get("uuid")) in others:
            yield SkippedItem(where=where, why=OTHER_BRANCH)
            continue
        parts = readable(message.get("content")) or []
        own = [part for part in parts if not is_of_tool(part)]
        yield from builder.messages(
            conversation,
            role_of(message.get("sender")),
            own if any(content_text([part]).strip() for part in own) else message.get("text"),
            where=where,
            at=None if at == _EARLIEST else at,
            ref=as_label(message.get("uuid")),
            time_of=time_of,
        )
        if len(own) < len(parts):
            yield SkippedItem(where=where, why=_TOOL)
        for attached in ("attachments", "files"):
            if isinstance(message.get(attached), list) and message[attached]:
                yield SkippedItem(where=where, why="its attachments: only text is imported")
    yield from conversation_title(conversation, element.get("name"), place)


def _other_branches(element: Mapping[str, Json], messages: Sequence[Mapping[str, Json]]) -> tuple[set[str], str | None]:
    """The ids of messages that are not on the branch of the latest message, and a problem.

    Older exports name no parents: their conversations have one branch.
    """
    parents: dict[str, str | None] = {}
    times: dict[str, datetime] = {}
    for message in messages:
        uuid, parent = message.get("uuid"), message.get("parent_message_uuid")
        if not isinstance(uuid, str) or not isinstance(parent, str | None):
            return set(), None
        parents[uuid.strip()] = parent if parent and parent not in _ROOTS else None
        if at := instant(message.get("created_at")):
            times[uuid.strip()] = at
    if sum(message.get("parent_message_uuid") is None for message in messages) > 1:
        return set(), None
    followed, broken = thread(parents, times, element.get("current_leaf_message_uuid"))
    return (set(), _DAMAGED) if broken else (parents.keys() - set(followed), None)
