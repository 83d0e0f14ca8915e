"""ChatGPT's data export: each conversation is a tree; the branch that ends in `current_node` is imported."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.branches import OTHER_BRANCH, thread
from slowwave.formats.readers.builders import MessageBuilder, as_label, as_mapping, conversation_title
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import Item, SkippedItem
from slowwave.model.message import role_of

_TEXT_TYPES = ("text", "multimodal_text")
_HIDDEN = "hidden in the chat itself"
_TOOL = "a message to or from a tool"
_NOT_SAID = "reasoning, code and notes of the app: not part of the conversation"
_NOT_WORDS = "a picture, sound or file: only text is imported"


def fits(element: Json) -> bool:
    """Whether a JSON value is a conversation of ChatGPT."""
    return isinstance(element, Mapping) and isinstance(element.get("mapping"), Mapping)


def read(element: Json, number: int, builder: MessageBuilder, name: str) -> Iterator[Item]:
    """The messages of one conversation, oldest first."""
    place = f"conversation {number}"
    if not fits(element):
        yield SkippedItem(where=place, why="no mapping of messages in it")
        return
    nodes = {key: node for key, node in element["mapping"].items() if isinstance(node, Mapping)}
    conversation = as_label(element.get("conversation_id")) or as_label(element.get("id")) or f"{name}-{number}"
    followed, broken = _thread(nodes, element.get("current_node"))
    if broken:
        yield SkippedItem(where=place, why=broken)
    kept = set(followed)
    for key, node in nodes.items():
        if key not in kept and _is_importable(node):
            yield SkippedItem(where=f"{place}, message {key}", why=OTHER_BRANCH)
    last = instant(element.get("create_time"))
    for key in followed:
        message = nodes[key].get("message")
        if isinstance(message, Mapping):
            last = instant(message.get("create_time")) or last
            yield from _message(message, f"{place}, message {key}", conversation, key, last, builder)
    yield from conversation_title(conversation, element.get("title"), place)


def _message(
    message: Mapping[str, Json], where: str, conversation: str, key: str, at: datetime | None, builder: MessageBuilder
) -> Iterator[Item]:
    content = as_mapping(message.get("content"))
    text, others = _words(content)
    if why := _skip_reason(message, content, text):
        yield SkippedItem(where=where, why=why)
        return
    if others:
        yield SkippedItem(where=where, why=_NOT_WORDS)
    if text.strip():
        role = role_of(as_mapping(message.get("author")).get("role"))
        yield from builder.messages(
            conversation, role, text, where=where, at=at, ref=as_label(message.get("id")) or key
        )


def _skip_reason(message: Mapping[str, Json], content: Mapping[str, Json], text: str) -> str | None:
    """The reason to skip a message of the thread, or None. An empty system message counts as hidden."""
    role = as_mapping(message.get("author")).get("role")
    hidden = as_mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    if hidden or message.get("weight") == 0 or (role == "system" and not text.strip()):
        return _HIDDEN
    if role == "tool" or message.get("recipient", "all") not in ("all", None):
        return _TOOL
    if content.get("content_type", "text") not in _TEXT_TYPES:
        return _NOT_SAID
    return None


def _words(content: Mapping[str, Json]) -> tuple[str, int]:
    """The text of the parts, transcripts of speech included, and the number of parts without text."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        plain = content.get("text")
        return (plain, 0) if isinstance(plain, str) else ("", 0)
    texts = [part if isinstance(part, str) else as_mapping(part).get("text") for part in parts]
    words = [text for text in texts if isinstance(text, str)]
    return "\n".join(text for text in words if text.strip()), len(texts) - len(words)


def _thread(nodes: Mapping[str, Mapping[str, Json]], current: Json) -> tuple[list[str], str | None]:
    """The keys from the root to the current node, and a problem on the way."""
    parents = {key: parent if isinstance(parent := node.get("parent"), str) else None for key, node in nodes.items()}
    times = {
        key: at for key, node in nodes.items() if (at := instant(as_mapping(node.get("message")).get("create_time")))
    }
    return thread(parents, times, current)


def _is_importable(node: Mapping[str, Json]) -> bool:
    message = as_mapping(node.get("message"))
    content = as_mapping(message.get("content"))
    text, _ = _words(content)
    return bool(text.strip()) and _skip_reason(message, content, text) is None
