"""A note: a text or JSON data that a caller stores under a name and reads back exactly as it was."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from slowwave.errors import InputError, shown
from slowwave.model.filters import Filter
from slowwave.model.memory import NOTE, WORDS_OF_DATA, JsonValue, Memory
from slowwave.model.plain_text import check_place, storable

NAME_LONGEST: Final = 512
"""Characters of a name, and of a folder."""
TEXT_LONGEST: Final = 1_000_000
"""Characters of the text of a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text, or JSON data, under a name that is unique in its folder.

    Of a note to store, only the first six fields count: the others are set by the store.

    Args:
        name: 1 to 512 characters.
        folder: up to 512 characters; "/" separates a folder from those below it, and "" is the root.
        text: up to 1,000,000 characters, kept exactly. With "", search uses the texts in `data`, or else the name. A
            text of white space only is never found by search.
        data: any JSON value, at most 1,000,000 characters as JSON; None: no data.
        metadata: JSON values of the caller by name.
        expires_at: until when the note is read, listed and found; None: until it is removed.
        created_at: when the note was first stored.
        updated_at: when its present content was stored.
        id: the id of its memory, for `history`, `explain`, `delete` and `erase`.
        version: 1 for the first content; it grows with every change.
    """

    name: str
    folder: str = ""
    text: str = ""
    data: JsonValue = field(default=None, hash=False)
    metadata: Mapping[str, JsonValue] = field(default_factory=dict, hash=False)
    expires_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    id: str = ""
    version: int = 0


def note_of(memory: Memory) -> Note:
    """The note of a stored memory.

    Raises:
        InputError: the memory is not a note.
    """
    if memory.kind != NOTE:
        raise InputError(f"{memory.id!r} is a {memory.kind}, not a note: read it with `get`")
    return Note(
        name=memory.ref or "",
        folder=memory.conversation or "",
        text="" if WORDS_OF_DATA in memory.flags else memory.text,
        data=memory.data,
        metadata=memory.metadata,
        expires_at=memory.expires_at,
        created_at=memory.recorded_at,
        updated_at=memory.valid_from,
        id=memory.id,
        version=memory.version,
    )


def has_expired(memory: Memory, now: datetime) -> bool:
    """Whether the end of a note has passed (strictly)."""
    return memory.kind == NOTE and memory.expires_at is not None and now > memory.expires_at


def is_findable(memory: Memory, now: datetime, *, expired: bool) -> bool:
    """Whether a search may find the memory: not a note without words, and one that has expired only if `expired`."""
    if memory.kind != NOTE:
        return True
    return bool(memory.text.strip()) and (expired or not has_expired(memory, now))


def is_below(memory: Memory, folder: str) -> bool:
    """Whether a memory is a note in this folder or in one below it."""
    inside = memory.conversation or ""
    return memory.kind == NOTE and (not folder or inside == folder or inside.startswith(f"{folder}/"))


def passes_filter(passes: Filter, memory: Memory) -> bool:
    """Whether a memory passes a `where` filter. Only a note has data."""
    return passes(memory.data, memory.metadata)


def checked_place(folder: object, name: object) -> tuple[str, str]:
    """Folder and name of a note, or InputError."""
    folder, name = checked_folder(folder), _place(name, "name")
    if not name:
        raise InputError(f"a note needs a name: use 1 to {NAME_LONGEST} characters")
    check_place(folder, name, "folder and name of a note")
    return folder, name


def checked_folder(folder: object) -> str:
    """The folder of notes, or InputError."""
    return _place(folder, "folder")


def checked_note_text(text: object) -> str:
    """The text of a note as it is, or InputError."""
    if not isinstance(text, str):
        raise InputError(f"the text of a note is of type {type(text).__name__}: pass text, or other values as data")
    if len(text) > TEXT_LONGEST:
        raise InputError(
            f"the text of a note has {len(text):,} characters, more than {TEXT_LONGEST:,}: cut it into several notes"
        )
    if not storable(text):
        raise InputError("the text of a note holds NUL or a lone surrogate, which no store keeps: leave them out")
    return str.__str__(text)


def _place(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"the {what} of a note is of type {type(value).__name__}: pass text")
    if len(value) > NAME_LONGEST:
        raise InputError(
            f"the {what} of a note has {len(value):,} characters, more than {NAME_LONGEST}: use a shorter one"
        )
    if not storable(value):
        raise InputError(
            f"the {what} {shown(value)} holds NUL or a lone surrogate, which no store keeps: use other text"
        )
    return str.__str__(value)
