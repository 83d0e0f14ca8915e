"""ChatGPT's data export: each conversation is a tree; the branch that ends in `current_node` is imported."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.branches import OTHER_BRANCH, thread
from slowwave.formats.readers.builders import (
    MessageBuilder,
    as_label,
    as_list,
    as_mapping,
    conversation_title,
    first_time,
)
from slowwave.formats.readers.dating import filled
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import Item, SkippedItem
from slowwave.model.message import role_of

_TEXT_TYPES = ("text", "multimodal_text")
_HIDDEN = "hidden in the chat itself"
_TOOL = "a message to or from a tool"
_NOT_SAID = "reasoning, code and notes of the app: not part of the conversation"
_NOT_TO_REMEMBER = "a conversation that its owner asked ChatGPT not to remember"
_BEGIN, _NEXT, _END = "\ue200", "\ue202", "\ue201"
_MARK = re.compile(
    rf"([ \t]*){_BEGIN}(\w*)((?:{_NEXT}[^{_BEGIN}{_END}\n]*)*)(?:{_END}|\Z|(?=[{_BEGIN}\n]))([.,;:!?)]?)"
)
"""A citation, a link, or the name of a thing: its sort, and then its arguments."""
_SOURCE_MARK = re.compile(r"[ \t]*【[^【】\n]*†[^【】\n]*】")
_STRAY_MARK = re.compile(r"[\ue200-\ue2ff]")
_REFERENCE = re.compile(r"(?:turn\d+\w*|L\d+(?:-L?\d+)?|https?://\S+)(?:\s*,\s*turn\d+\w*)*")
"""What names a source for the app alone."""
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
    if element.get("is_do_not_remember") is True:
        yield SkippedItem(where=place, why=_NOT_TO_REMEMBER)
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
    messages = [(key, as_mapping(nodes[key].get("message"))) for key in followed]
    times = [instant(message.get("create_time")) for _, message in messages]
    for (key, message), (at, time_of) in zip(
        messages, filled(times, first_time(element, ("create_time", "update_time"))), strict=True
    ):
        if message:
            yield from _message(message, f"{place}, message {key}", conversation, key, at, time_of, builder)
    yield from conversation_title(conversation, element.get("title"), place)


def _message(
    message: Mapping[str, Json],
    where: str,
    conversation: str,
    key: str,
    at: datetime | None,
    time_of: str,
    builder: MessageBuilder,
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
            conversation, role, text, where=where, at=at, ref=as_label(message.get("id")) or key, time_of=time_of
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
        return (_without_marks(plain), 0) if isinstance(plain, str) else ("", 0)
    texts = [part if isinstance(part, str) else as_mapping(part).get("text") for part in parts]
    words = [_without_marks(text) for text in texts if isinstance(text, str)]
    return "\n".join(text for text in words if text.strip()), len(texts) - len(words)


def _without_marks(text: str) -> str:
    """A text in which the marks that the app shows as citations and links are their words, or nothing."""
    if _BEGIN in text:
        text = _STRAY_MARK.sub("", _MARK.sub(_words_of_mark, text))
    return _SOURCE_MARK.sub("", text) if "†" in text else text


def _words_of_mark(mark: re.Match[str]) -> str:
    gap, sort, arguments, after = mark.groups()
    words = [] if "cite" in sort else [word for given in arguments.split(_NEXT)[1:] if (word := _word(given))]
    is_at_end = mark.string[mark.end() : mark.end() + 1] in {"", "\n"}
    return f"{gap}{' '.join(dict.fromkeys(words))}{after}" if words else after or ("" if is_at_end else gap)


def _word(argument: str) -> str:
    """The words of an argument: a text, or the name in a list such as ["city", "Lisbon", 0]."""
    try:
        value = json.loads(argument)
    except ValueError:
        value = argument
    if isinstance(value, list):
        texts = [text for text in value if isinstance(text, str)]
        value = texts[1] if len(texts) > 1 else next(iter(texts), "")
    return value if isinstance(value, str) and not _REFERENCE.fullmatch(value.strip()) else ""


def _thread(nodes: Mapping[str, Mapping[str, Json]], current: Json) -> tuple[list[str], str | None]:
    """The keys from the root to the current node, and a problem on the way."""
    times = {
        key: at for key, node in nodes.items() if (at := instant(as_mapping(node.get("message")).get("create_time")))
    }
    return thread(_parents(nodes, times), times, current)


def _parents(nodes: Mapping[str, Mapping[str, Json]], times: Mapping[str, datetime]) -> dict[str, str | None]:
    """The key of the message before each one, by the links of either side.

    A message with neither, other than the first, follows the last one before it that nothing follows.
    """
    of_children = {str(child): key for key, node in nodes.items() for child in as_list(node.get("children"))}
    parents: dict[str, str | None] = {}
    for key, node in nodes.items():
        named = node.get("parent")
        known = named if isinstance(named, str) and named in nodes else of_children.get(key)
        parents[key] = known if known != key else None
    dates = filled([times.get(key) for key in nodes], None)
    since = {key: at.timestamp() if at else 0.0 for key, (at, _) in zip(nodes, dates, strict=True)}
    order = sorted(nodes, key=since.__getitem__)
    beginnings = [key for key in order if parents[key] is None]
    first = next((key for key in beginnings if nodes[key].get("message") is None), next(iter(beginnings), None))
    followed, above = set(parents.values()), dict(parents)
    for place, key in enumerate(order):
        if parents[key] is None and key != first and nodes[key].get("message") is not None:
            ends = (order[before] for before in range(place - 1, -1, -1) if order[before] not in followed)
            parents[key] = above[key] = next((end for end in ends if _beginning(above, end) != key), None)
            followed.add(parents[key])
    return parents


def _beginning(above: dict[str, str | None], key: str) -> str:
    """The first message of the branch of another. Each message on the way is put below it, so that no way is long."""
    way = [key]
    seen = {key}
    while (before := above[way[-1]]) is not None and before not in seen:
        seen.add(before)
        way.append(before)
    above |= dict.fromkeys(way[:-1], way[-1])
    above[way[-1]] = None
    return way[-1]


def _is_importable(node: Mapping[str, Json]) -> bool:
    message = as_mapping(node.get("message"))
    content = as_mapping(message.get("content"))
    text, _ = _words(content)
    return bool(text.strip()) and _skip_reason(message, content, text) is None
