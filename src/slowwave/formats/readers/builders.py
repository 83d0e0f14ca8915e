"""Builds messages and facts from the values of a file: roles, texts of several parts, and missing ids."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType

from slowwave.errors import InputError
from slowwave.formats.json_stream import Json
from slowwave.formats.readers.timestamps import instant
from slowwave.model.content import TOOL, is_of_tool
from slowwave.model.exchange import ConversationTitle, ImportedFact, ImportedMessage, ImportedNote, SkippedItem
from slowwave.model.json_value import checked_json, checked_metadata
from slowwave.model.memory import JsonValue, Trust
from slowwave.model.message import ROLES, Message, as_messages, checked_message, role_of
from slowwave.model.mind import Fact
from slowwave.model.names import FACT_LONGEST, LABEL_LONGEST, NAME_LONGEST, TITLE_LONGEST, checked_label, checked_name
from slowwave.model.note import Note, checked_note_text, checked_place
from slowwave.model.plain_text import clean, tidy

EMPTY = "it has no text"
NO_OBJECT = "not an object with fields"


def as_label(value: object) -> str | None:
    """A name or id as a text, or None; a number is accepted."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip()[:NAME_LONGEST] or None


def as_mapping(value: Json) -> Mapping[str, Json]:
    """A JSON object, or an empty one in place of any other value."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Json) -> Sequence[Json]:
    """A JSON array, or an empty one in place of any other value."""
    return value if isinstance(value, list) else []


def first_time(record: Mapping[str, Json], names: Iterable[str]) -> datetime | None:
    """The first of these fields that is a time; None if none can be read."""
    return next((at for name in names if (at := instant(record.get(name))) is not None), None)


def changed_at(record: Mapping[str, Json]) -> datetime | None:
    """When a record of another system was last changed, else when it was created; None if it says neither."""
    return first_time(record, ("updated_at", "created_at"))


class MessageBuilder:
    """Builds the messages of one file. A message without an id gets one from its text and its number among equal texts."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def messages(
        self,
        conversation: str,
        role: str | None,
        content: object,
        *,
        where: str,
        at: datetime | None = None,
        speaker: str | None = None,
        ref: str | None = None,
        metadata: Mapping[str, JsonValue] = MappingProxyType({}),
        fields: Mapping[str, Json] = MappingProxyType({}),
        time_of: str = "",
    ) -> Iterator[ImportedMessage | SkippedItem]:
        """The checked messages of a text or of parts, as `as_messages` splits them, or the reason why one is skipped.

        Args:
            conversation: its name.
            role: one of ROLES; None: the file has none of them.
            content: a text, or parts as chat APIs write them.
            where: the place in the file.
            at: when it was said; None: the file does not say.
            speaker: who said it.
            ref: its id in the file; None: it gets one.
            metadata: values to store with it.
            fields: other fields of the message in the file, such as its reasoning.
            time_of: from what it has its time if that is not its own.
        """
        named = {
            "role": role if role is not None or is_of_tool(fields) else "",
            "content": content if role == TOOL else readable(content),
            "speaker": speaker,
            "at": at,
            "id": ref,
            "metadata": {
                clean(name): clean(value) if isinstance(value, str) else value for name, value in metadata.items()
            },
        }
        try:
            found = as_messages({**fields, **named})
        except InputError as error:
            yield SkippedItem(where=where, why=str(error).removeprefix("the message "))
            return
        if not found:
            yield SkippedItem(where=where, why=EMPTY)
        for message in found:
            yield self._checked(conversation, message, where, time_of)

    def _checked(self, conversation: str, message: Message, where: str, time_of: str) -> ImportedMessage | SkippedItem:
        if role_of(message.role) is None:
            return SkippedItem(where=where, why=f"its role is none of {', '.join(ROLES)}")
        identity = message.id or self._new_id(conversation, message.role, message.content)
        try:
            conversation = checked_name(conversation, "conversation")
            checked = checked_message(replace(message, id=identity), conversation=conversation)
        except InputError as error:
            return SkippedItem(where=where, why=str(error).removeprefix("the message "))
        message = replace(checked, at=message.at)
        return ImportedMessage(conversation=conversation, message=message, where=where, time_of=time_of)

    def _new_id(self, conversation: str, role: str, text: str) -> str:
        data = f"{conversation}\x00{role}\x00{text}".encode("utf-8", "surrogatepass")
        key = blake2b(data, digest_size=9).digest()
        self._seen[key] += 1
        return f"{key.hex()}-{self._seen[key]}"


def readable(content: Json) -> str | list[Json] | None:
    """A text, or the parts of a content that can be read; None if it is neither."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, Mapping) else content if isinstance(content, list) else []
    return [part for part in parts if isinstance(part, str | Mapping)] or None


def conversation_title(conversation: str, title: object, where: str) -> Iterator[ConversationTitle]:
    """The title that a file gives to a conversation, on one line and cut to 256 characters; nothing if it gives none."""
    line = tidy(title)[:TITLE_LONGEST] if isinstance(title, str) else ""
    if line and line != conversation:
        yield ConversationTitle(conversation=conversation, title=line, where=where)


def imported_fact(
    text: str | None,
    *,
    where: str,
    category: str | None = None,
    subject: str | None = None,
    valid_from: datetime | None = None,
    expires_at: datetime | None = None,
    metadata: Mapping[str, str] = MappingProxyType({}),
    trust: Trust = "import",
) -> ImportedFact | SkippedItem:
    """A fact of another system, or the reason why it is skipped.

    `trust` is "user" if the file says that it is a statement of the user, which counts only if a person vouches for the file.
    """
    fact = Fact(
        text=text or "",
        category=category or "other",
        subject=subject,
        valid_from=valid_from,
        expires_at=expires_at,
        trust=trust,
        metadata={clean(name): clean(value) for name, value in metadata.items()},
    )
    return checked_fact(fact, where)


def checked_fact(fact: Fact, where: str) -> ImportedFact | SkippedItem:
    """The fact, or the reason why it cannot be stored. A category or a subject that is too long is cut."""
    text = clean(fact.text).strip()
    if not 0 < len(text) <= FACT_LONGEST:
        return SkippedItem(where=where, why=f"a fact of 1 to {FACT_LONGEST:,} characters was expected")
    try:
        fact = replace(
            fact,
            text=text,
            category=checked_label(fact.category[:LABEL_LONGEST], "category"),
            subject=None if fact.subject is None else checked_label(fact.subject[:LABEL_LONGEST], "subject"),
            metadata=checked_metadata(fact.metadata),
        )
    except InputError as error:
        return SkippedItem(where=where, why=str(error))
    return ImportedFact(fact=fact, where=where)


def imported_note(note: Note, where: str, *, lines: str | None = None) -> ImportedNote | SkippedItem:
    """A note of another system, or the reason why it cannot be stored exactly."""
    try:
        checked_place(note.folder, note.name)
        checked_note_text(note.text)
        checked_json(note.data, "its value", exact=True)
    except InputError as error:
        return SkippedItem(where=where, why=str(error))
    return ImportedNote(note=note, where=where, lines=lines)


def simple_metadata(metadata: Mapping[str, Json]) -> dict[str, str]:
    """The fields of the metadata of another system that are names, numbers or short texts."""
    return {name: label for name, value in metadata.items() if isinstance(name, str) and (label := as_label(value))}


def first_field(line: Mapping[str, Json], names: Iterable[str]) -> Json:
    """The first of these fields that is present and not null."""
    return next((line[name] for name in names if line.get(name) is not None), None)
