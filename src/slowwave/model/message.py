"""A message: one utterance, verbatim, as the caller passes it; and the forms in which programs pass messages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, TypeAlias, cast

from slowwave.errors import InputError, shown
from slowwave.model.content import (
    by_source,
    content_text,
    is_of_tool,
    is_reasoning,
    item_by_source,
    reasoning_of,
    without_reasoning,
)
from slowwave.model.json_value import checked_metadata
from slowwave.model.memory import JsonValue, Role
from slowwave.model.plain_text import check_place, clean, storable
from slowwave.model.suggestions import suggests_arguments, suggests_names
from slowwave.model.zone import local, with_offset

ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "system", "tool")
_OTHER_ROLES: Final[Mapping[str, Role]] = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}
_THOUGHT_FIELDS: Final = ("reasoning", "reasoning_content", "thinking")
"""Fields in which providers write what a model thought before it answered."""
_STORED_FIELDS: Final = frozenset(
    {"role", "content", "parts", "refusal", "name", "speaker", "at", "id", "metadata", *_THOUGHT_FIELDS}
)
_FORMAT_FIELDS: Final = frozenset({"type", "object", "status"})
"""Fields that only name the format of a message; leaving them out loses nothing."""
_CALLS: Final = frozenset({"tool_calls", "function_call", "refusal", "audio", *_THOUGHT_FIELDS})
"""Fields that a message without content may have."""
LONGEST = 20_000_000  # characters; longer ones belong into a document store
_ID_LONGEST = 512
DIGITS_MAX: Final = 100
"""Digits of an int that is converted to text; Python itself refuses to convert more than a few thousand."""
FIRST_TIME: Final = datetime(2, 1, 1, tzinfo=UTC)
LAST_TIME: Final = datetime(9899, 12, 31, tzinfo=UTC)
"""Times of a file between which date arithmetic over a human lifetime stays within the calendar."""


@suggests_names
@suggests_arguments
@dataclass(frozen=True, slots=True)
class Message:
    """One utterance.

    Args:
        role: "user", "assistant", "system" or "tool".
        content: the words, kept verbatim (NUL and lone surrogates are replaced by U+FFFD, which no store can hold).
        speaker: the name of who said it. It adds to the role and never replaces it: a message of an assistant or a tool has the
            trust of its role under any name. In a chat between people of equal trust, all have the role "user". It is
            refused with NUL or a lone surrogate, like `id`: replacing the character would produce the name of another speaker.
        at: when it was said. It is stored with its offset, in which "today" and "tomorrow" are counted; a time without a
            zone is in the zone of the memory. None means now, by the memory's clock.
        id: the caller's own id, unique in its scope and conversation; the same id with the same content is one message. At most
            512 characters, and together with the name of the conversation 2,600 bytes as UTF-8.
        metadata: JSON values of the caller by name, stored with it, at most 1,000,000 characters as JSON. A message that
            is known keeps the metadata that it has: `AgentMemory.update` replaces them.
        reasoning: what an assistant thought before it said this. It is stored with the message, and nothing searches,
            distils or shows it. What `content` has of it between marks such as <think> and </think> is moved here.
    """

    role: str
    content: str
    speaker: str | None = None
    at: datetime | None = None
    id: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict, hash=False)
    reasoning: str | None = field(default=None, repr=False)


MessageLike: TypeAlias = Message | Mapping[str, Any]
"""A message as callers may pass it: a Message, or a mapping as chat APIs take it.

The mapping has "role" and "content" (a text, or a list of parts), and optionally "name" or "speaker", "id", "at" (a
datetime, or ISO 8601), "metadata" and "reasoning". Other fields, such as "tool_calls", are not stored.
What a tool returned is stored as a message of a tool, also where it is a part of another message or an item without a role.
"""


def role_of(name: object) -> Role | None:
    """The role for a name that other programs use, in upper or lower case; None if it is unknown.

    >>> role_of("developer"), role_of("CHATBOT"), role_of("function"), role_of("robot")
    ('system', 'assistant', 'tool', None)
    """
    if not isinstance(name, str):
        return None
    lower = name.strip().lower()
    return lower if lower in ROLES else _OTHER_ROLES.get(lower)


def listed_messages(messages: object) -> list[MessageLike]:
    """The messages that a caller passes: one, or several in a list or tuple.

    Raises:
        InputError: it is of another type.
    """
    if isinstance(messages, Message | Mapping):
        return [messages]
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise InputError(
            f"messages is a {type(messages).__name__}: pass a list of slowwave.Message, or of mappings with role and content"
        )
    return list(messages)


def _content_of(message: Mapping[str, Any]) -> object:
    """The content of a mapping, which Gemini calls its parts; without one, the words with which an assistant refused."""
    content = message["content"] if "content" in message else message.get("parts")
    return message.get("refusal") if _is_empty(content) else content


def _is_empty(value: object) -> bool:
    """Whether it is None, or a text, list or mapping without content."""
    return value is None or (isinstance(value, str | list | tuple | Mapping) and not value)


def unstored_fields(message: object) -> Iterator[str]:
    """The names of the fields of a mapping that contain something and are not stored."""
    if isinstance(message, Mapping) and message.get("role") is not None:
        for name, value in message.items():
            if name not in _STORED_FIELDS | _FORMAT_FIELDS and not _is_empty(value):
                yield name if isinstance(name, str) else shown(name)


def as_messages(message: object, place: str = "the message") -> list[Message]:
    """The messages that a caller passes as one: what tools returned, then the words of its role. Those without text are left out.

    The last one has the id of the message, the others that id with "#" and their number. Reasoning of an assistant is no
    part of its words.

    >>> as_messages({"role": "developer", "content": [{"type": "text", "text": "Be brief"}]})
    [Message(role='developer', content='Be brief', speaker=None, at=None, id=None, metadata={})]
    >>> blocks = [{"type": "tool_result", "content": {"temp": 9}}, {"type": "text", "text": "Thanks"}]
    >>> [(one.role, one.content, one.id) for one in as_messages({"role": "user", "content": blocks, "id": "m7"})]
    [('tool', '{"temp": 9}', 'm7#1'), ('user', 'Thanks', 'm7')]
    >>> as_messages({"role": "assistant", "content": None, "tool_calls": [{"id": "call_1"}]})
    []

    Raises:
        InputError: naming the place of what is neither a Message nor a mapping of one.
    """
    if isinstance(message, Message):
        if not isinstance(message.content, str):
            return [message]  # `checked_message` refuses it
        return [said] if (said := _without_reasoning(message)).content.strip() else []
    if not isinstance(message, Mapping):
        raise InputError(
            f"{place} is a {type(message).__name__}: pass slowwave.Message(role=..., content=...), or a mapping with both"
        )
    sources = _sources(message, place)
    speaker = message.get("speaker")
    identity: Any = message.get("id")
    identity = format(int(identity), "d") if _is_id(identity) else identity
    metadata = message.get("metadata")
    found = []
    for number, (role, content) in enumerate(sources, 1):
        is_last = number == len(sources)
        said = Message(
            role=cast("str", role),
            content=content_text(content, place, role=role_of(role)),
            speaker=(message.get("name") if speaker is None else speaker)
            if role_of(role) == role_of(message.get("role"))
            else None,
            at=_time_of(message.get("at"), place),
            id=identity if is_last or not isinstance(identity, str) else f"{identity}#{number}",
            metadata={} if metadata is None else metadata,
            reasoning=_reasoning(message, content) if role_of(role) == "assistant" else None,
        )
        found += [said] if (said := _without_reasoning(said)).content.strip() else []
    return found


def _sources(message: Mapping[str, Any], place: str) -> list[tuple[object, object]]:
    """Role and content of each source in a mapping."""
    role = message.get("role")
    if role is None and (is_of_tool(message) or is_reasoning(message)):
        return item_by_source(message)
    if role is None or ("content" not in message and "parts" not in message and _CALLS.isdisjoint(message)):
        missing = "role" if role is None else "content"
        raise InputError(f"{place} has no {missing!r}: pass {{'role': ..., 'content': ...}}")
    return by_source("tool" if role_of(role) == "tool" else role, _content_of(message))


def _reasoning(message: Mapping[str, Any], content: object) -> str | None:
    """What an assistant thought, as its provider writes it beside the words."""
    fields = [thought for name in _THOUGHT_FIELDS if isinstance(thought := message.get(name), str) and thought.strip()]
    return "\n".join([*dict.fromkeys(fields), *filter(None, [reasoning_of(content)])]) or None


def _without_reasoning(message: Message) -> Message:
    """The message, with the reasoning in the words of an assistant as its `reasoning`."""
    if role_of(message.role) != "assistant":
        return message
    words, thoughts = without_reasoning(message.content)
    if words == message.content:
        return message
    return replace(message, content=words, reasoning="\n".join(filter(None, (message.reasoning, thoughts))) or None)


def _is_id(value: object) -> bool:
    """Whether it is a number that can be written as an id; Python refuses to write thousands of digits."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**DIGITS_MAX


def _time_of(at: object, place: str) -> datetime | None:
    if not isinstance(at, str):
        return cast("datetime | None", at)  # `checked_message` refuses other types
    try:
        return datetime.fromisoformat(at)
    except ValueError as error:
        raise InputError(
            f"{place} has the time {shown(at)}: use ISO 8601, such as 2026-05-01T09:30:00+02:00"
        ) from error


def checked_time(at: datetime, what: str, zone: tzinfo = UTC) -> datetime:
    """The time as a plain `datetime` with its own offset, which no change of a clock alters, or InputError with the fix.

    Args:
        at: a time. Subclasses of other libraries are converted, because they calculate differently.
        what: the name of the argument, for the error.
        zone: the zone of a time without one. A time that a change of the clock leaves out is counted from before the change.
    """
    if not isinstance(at, datetime):
        raise InputError(f"{what} {shown(at)} is of type {type(at).__name__}: pass a datetime")
    try:
        plain = _plain(at)
        return local(plain.replace(tzinfo=None), zone) if at.utcoffset() is None else with_offset(plain)
    except OverflowError as error:
        raise InputError(f"{what} {shown(at)} lies outside the years 1 to 9999 in UTC") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} has a time zone without a valid offset ({error}): use another time zone") from error


def _plain(at: datetime) -> datetime:
    """The same local time as an instance of `datetime` itself."""
    return datetime.combine(at.date(), at.timetz())


def checked_message(
    message: Message, place: str = "the message", *, conversation: str = "", zone: tzinfo = UTC
) -> Message:
    """The message with its role, clean text and an aware time, or InputError naming its place in the batch.

    Args:
        message: one of `as_messages`.
        place: how errors name it.
        conversation: the one in which it is stored; with the id it is one key. "": not known yet.
        zone: the zone of a time without one.
    """
    role = role_of(message.role)
    if role is None:
        raise InputError(
            f"{place} has the role {shown(message.role)}: use one of {', '.join(ROLES)} (or {', '.join(_OTHER_ROLES)})"
        )
    if not isinstance(message.content, str) or not message.content.strip():
        raise InputError(f"{place} has no text: leave empty messages out")
    if len(message.content) > LONGEST:
        raise InputError(f"{place} has {len(message.content):,} characters, more than {LONGEST:,}: cut it into parts")
    for name, value in (("speaker", message.speaker), ("id", message.id)):
        if value is None:
            continue
        if not isinstance(value, str) or not value.strip() or len(value) > _ID_LONGEST:
            raise InputError(f"{place} has the {name} {shown(value)}: use 1 to {_ID_LONGEST} characters, or None")
        if not storable(value):
            raise InputError(
                f"{place} has the {name} {shown(value)}, which holds NUL or a lone surrogate: pass text that encodes to UTF-8"
            )
    if message.id:
        check_place(conversation, message.id, f"{place} cannot be stored: its conversation and its id")
    return Message(
        role=role,
        content=clean(message.content),
        speaker=message.speaker or None,
        at=checked_time(message.at, f"{place}'s time", zone) if message.at is not None else None,
        id=message.id or None,
        metadata=checked_metadata(message.metadata, f"{place}'s metadata") if message.metadata is not None else {},
        reasoning=_checked_reasoning(message.reasoning, place),
    )


def _checked_reasoning(reasoning: object, place: str) -> str | None:
    if reasoning is None or reasoning == "":
        return None
    if not isinstance(reasoning, str) or len(reasoning) > LONGEST:
        raise InputError(f"{place} has reasoning that is no text of at most {LONGEST:,} characters")
    return clean(reasoning)
