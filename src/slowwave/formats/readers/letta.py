"""Letta's agent files: blocks and archival passages become facts, the messages of user and agent become messages."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from slowwave.formats.json_stream import Json, json_object
from slowwave.formats.readers.builders import (
    NO_OBJECT,
    MessageBuilder,
    as_label,
    as_list,
    as_mapping,
    changed_at,
    imported_fact,
    simple_metadata,
)
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import Item, SkippedItem
from slowwave.model.message import role_of

_CATEGORIES = {"human": "person"}
_BULLETS = "-*•–# \t"
_PASSAGE = frozenset({"archive_id", "embedding_config", "embedding", "is_deleted"})
_NOT_CONVERSATION = "instructions, tools and events: not part of the conversation"


def fits(element: Json) -> bool:
    """Whether a JSON value is an agent file, a block of an agent, or a passage of its archive."""
    if not isinstance(element, Mapping):
        return False
    if isinstance(element.get("agents"), list) or isinstance(element.get("core_memory"), list):
        return True
    block = "value" in element and "label" in element
    return block or (isinstance(element.get("text"), str) and bool(_PASSAGE & element.keys()))


def read(element: Json, number: int, builder: MessageBuilder, name: str) -> Iterator[Item]:
    """The items of one element: an agent file, a block, or a passage."""
    place = f"element {number}"
    if not fits(element):
        yield SkippedItem(where=place, why="no agents, block or passage in it")
    elif "value" in element:
        yield from _block(element, place)
    elif isinstance(element.get("text"), str):
        yield _passage(element, place)
    else:
        yield from _file(element, builder, name)


def _file(file: Mapping[str, Json], builder: MessageBuilder, name: str) -> Iterator[Item]:
    """The items of an agent file. Blocks are read first: they are the latest knowledge of the agent."""
    agents = file["agents"] if isinstance(file.get("agents"), list) else [file]
    for key in ("blocks", "passages", "archival_memory"):
        yield from _facts(file, key, key)
    for count, agent in enumerate(agents, 1):
        place = f"agent {count}"
        if not isinstance(agent, Mapping):
            yield SkippedItem(where=place, why=NO_OBJECT)
            continue
        for key in ("core_memory", "memory_blocks"):
            yield from _facts(agent, key, f"{place}, {key}")
        if agent is not file:
            yield from _facts(agent, "archival_memory", f"{place}, archival_memory")
        conversation = as_label(agent.get("name")) or as_label(agent.get("id")) or f"{name}-{count}"
        for order, message in enumerate(as_list(agent.get("messages")), 1):
            yield from _messages(message, f"{place}, message {order}", conversation, builder)


def _facts(container: Mapping[str, Json], key: str, place: str) -> Iterator[Item]:
    for count, entry in enumerate(as_list(container.get(key)), 1):
        where = f"{place} {count}"
        if not isinstance(entry, Mapping):
            yield SkippedItem(where=where, why=NO_OBJECT)
        elif "value" in entry:
            yield from _block(entry, where)
        else:
            yield _passage(entry, where)


def _block(block: Mapping[str, Json], where: str) -> Iterator[Item]:
    """One fact for each line of a block, without headings."""
    text, name = block.get("value"), as_label(block.get("label")) or "block"
    if not isinstance(text, str):
        yield SkippedItem(where=where, why="a block without text")
        return
    at = changed_at(block)
    for line in text.splitlines():
        text_line = line.strip(_BULLETS)
        if any(character.isalnum() for character in text_line) and not line.lstrip().startswith("#"):
            yield imported_fact(
                text_line, where=where, category=_CATEGORIES.get(name), valid_from=at, metadata={"letta_block": name}
            )


def _passage(passage: Mapping[str, Json], where: str) -> Item:
    text, tags = passage.get("text"), as_list(passage.get("tags"))
    if passage.get("is_deleted") is True:
        return SkippedItem(where=where, why="deleted there")
    if as_label(passage.get("file_id")) or as_label(passage.get("file_name")):
        return SkippedItem(where=where, why="a part of a file: only notes of the agent are imported")
    metadata = simple_metadata(as_mapping(passage.get("metadata")))
    if name := as_label(passage.get("id")):
        metadata["letta_id"] = name
    return imported_fact(
        text if isinstance(text, str) else None,
        where=where,
        category=as_label(next(iter(tags), None)),
        valid_from=changed_at(passage),
        metadata=metadata,
    )


def _messages(message: Json, where: str, conversation: str, builder: MessageBuilder) -> Iterator[Item]:
    if not isinstance(message, Mapping):
        yield SkippedItem(where=where, why=NO_OBJECT)
        return
    role, at = role_of(message.get("role")), instant(message.get("created_at"))
    content = message.get("content") or message.get("text")
    if role == "assistant":
        content = _sent(message) or content
    else:
        content, at = _packed(content, at)
    if role not in {"user", "assistant"} or not content:
        yield SkippedItem(where=where, why=_NOT_CONVERSATION)
        return
    # without its id: ids start at the same number in every file
    yield from builder.messages(conversation, role, content, where=where, at=at)


def _sent(message: Mapping[str, Json]) -> str:
    """The texts that the agent sent with its tool `send_message`; only these reach the user."""
    texts = []
    for call in as_list(message.get("tool_calls")):
        function = as_mapping(as_mapping(call).get("function"))
        if function.get("name") == "send_message":
            arguments = function.get("arguments")
            sent = json_object(arguments).get("message") if isinstance(arguments, str) else None
            texts += [sent] if isinstance(sent, str) else []
    return "\n".join(texts)


def _packed(content: Json, at: datetime | None) -> tuple[Json, datetime | None]:
    """The message of a user inside the JSON envelope of older agents; other envelopes are events."""
    text = (
        content[0].get("text")
        if isinstance(content, list) and len(content) == 1 and as_mapping(content[0])
        else content
    )
    envelope = json_object(text) if isinstance(text, str) else {}
    if "type" not in envelope:
        return content, at
    message = envelope.get("message") if envelope["type"] == "user_message" else None
    return (message if isinstance(message, str) else ""), instant(envelope.get("time")) or at
