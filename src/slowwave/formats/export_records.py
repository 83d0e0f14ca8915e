"""Converts memories, links and cursors to the lines of an export and back. Reading checks every field."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any, Final

from slowwave.errors import InputError, shown
from slowwave.formats.json_stream import Json
from slowwave.formats.readers.timestamps import any_instant
from slowwave.model.exchange import ConversationTitle, ExportedCursor, ExportedLink, ExportedMemory, Item
from slowwave.model.json_value import checked_json, checked_metadata
from slowwave.model.memory import KINDS, MESSAGE, NOTE, PHASES, Memory, SourceRef
from slowwave.model.message import LONGEST, ROLES
from slowwave.model.names import NAME_LONGEST, checked_name
from slowwave.model.note import checked_folder, checked_note_text, checked_place
from slowwave.model.plain_text import clean
from slowwave.model.status import LinkRow
from slowwave.model.zone import with_offset

_NAMES: Final = {"text": "content", "valid_from": "at", "ref": "id", "id": "memory"}
"""The names of the fields in the line of a message, which are those of any message file; `id` is the caller's id."""
_NOTE_NAMES: Final = {"ref": "name", "conversation": "folder"}
"""The names of the fields in the line of a note."""
_RENAMED: Final[Mapping[str, Mapping[str, str]]] = {"message": _NAMES, "note": _NOTE_NAMES}

_DEFAULTS: Final = {
    f.name: f.default_factory() if f.default_factory is not MISSING else f.default for f in fields(Memory)
}
PLANNED: Final = frozenset({"due_at", "pace"})
"""Fields that the import computes from the other fields and its configuration."""


def to_line(item: Item) -> dict[str, Json]:
    """The object of one line, without fields that have their default value."""
    match item:
        case ExportedMemory(memory=memory):
            return _memory_line(memory)
        case ExportedLink(link=link):
            ends = {"type": "link", "source": link.source, "target": link.target, "kind": link.kind}
            return ends | {"weight": link.weight, "at": link.at.isoformat()}
        case ExportedCursor():
            return {"type": "cursor", "conversation": item.conversation, "cursor": item.cursor, "seq": item.seq}
        case ConversationTitle():
            return {"type": "title", "conversation": item.conversation, "title": item.title}
        case _:
            raise AssertionError(f"an export holds no {type(item).__name__}")


def _memory_line(memory: Memory) -> dict[str, Json]:
    is_message = memory.kind == MESSAGE
    sort = memory.kind if memory.kind in _RENAMED else "summary" if memory.is_cascade else "fact"
    line: dict[str, Json] = {"type": sort}
    named = _RENAMED.get(sort, {})
    for field in fields(Memory):
        value = getattr(memory, field.name)
        if (
            field.name == "scope"
            or field.name in PLANNED
            or (is_message and field.name in {"kind", "category"})
            or value == _DEFAULTS[field.name]
        ):
            continue
        line[named.get(field.name, field.name)] = value if field.name in _AS_THEY_ARE else _plain(value)
    return line


def _plain(value: object) -> Json:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(sorted(value.items()))
    if isinstance(value, tuple):
        return [_source_line(item) if isinstance(item, SourceRef) else item for item in value]
    return value


def _source_line(source: SourceRef) -> dict[str, str]:
    return {"memory": source.memory, "id": source.ref, "quote": source.quote}


def from_line(line: Mapping[str, Json], where: str, scope: str) -> Item:
    """The item of a line that `to_line` returned.

    Raises:
        InputError: a field is invalid; the message names it.
    """
    match line.get("type"):
        case "message" | "fact" | "summary" | "note":
            return ExportedMemory(memory=_memory(line, scope), where=where)
        case "link":
            link = LinkRow(
                source=_name(line.get("source"), "source"),
                target=_name(line.get("target"), "target"),
                kind=_name(line.get("kind"), "kind"),
                weight=_share(line.get("weight"), "weight"),
                at=_time(line.get("at"), "at"),
            )
            return ExportedLink(link=link, where=where)
        case "cursor":
            return ExportedCursor(
                conversation=_name(line.get("conversation"), "conversation"),
                cursor=_name(line.get("cursor"), "cursor"),
                seq=_count(line.get("seq"), "seq"),
                where=where,
            )
        case "title":
            conversation = _name(line.get("conversation"), "conversation")
            return ConversationTitle(conversation=conversation, title=_name(line.get("title"), "title"), where=where)
        case other:
            raise InputError(f"an unknown type {shown(other)}")


def _memory(line: Mapping[str, Json], scope: str) -> Memory:
    is_message, is_note = line["type"] == "message", line["type"] == "note"
    values: dict[str, Any] = {"kind": MESSAGE, "category": "message"} if is_message else {}
    named, checks = _RENAMED.get(str(line["type"]), {}), {**_CHECKS, **(_NOTE_CHECKS if is_note else {})}
    for name, check in checks.items():
        key = named.get(name, name)
        if line.get(key) is not None and name not in values:
            values[name] = check(line[key], key)
    missing = {name for name, default in _DEFAULTS.items() if default is MISSING} - set(values) - {"scope"}
    if is_message:
        missing |= {"conversation", "role"} - set(values)
    if is_note:
        values.setdefault("conversation", "")
        missing |= {"ref"} - set(values)
    if missing:
        raise InputError(f"no {', '.join(sorted(missing))}")
    if (values["kind"] == NOTE) != is_note:
        raise InputError(f"a {line['type']} of kind {shown(values['kind'])}")
    if (values["kind"] == MESSAGE) != is_message or (line["type"] == "summary") != ("span" in values):
        raise InputError(f"a {line['type']} of kind {shown(values['kind'])} with a span of {shown(values.get('span'))}")
    if not is_message and values.get("role"):
        raise InputError("a role, which only messages have")
    return Memory(scope=scope, **values)


def _text(value: Json, name: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
        raise InputError(f"{name} is not a text of 1 to {LONGEST:,} characters")
    return clean(value)


def _name(value: Json, name: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > NAME_LONGEST:
        raise InputError(f"{name} is not a name of 1 to {NAME_LONGEST} characters")
    return checked_name(value, name)


def _time(value: Json, name: str) -> datetime:
    at = any_instant(value) if isinstance(value, str) else None
    if at is None:
        raise InputError(f"{name} is not a date")
    return with_offset(at)


def _share(value: Json, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"{name} is not a number from 0 to 1")
    return float(value)


def _count(value: Json, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 40:
        raise InputError(f"{name} is not a count")
    return value


def _boolean(value: Json, name: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} is neither true nor false")
    return value


def _one_of(*known: str) -> Callable[[Json, str], str]:
    def check(value: Json, name: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise InputError(f"{name} is none of {', '.join(known)}")
        return value

    return check


def _names(value: Json, name: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InputError(f"{name} is not a list")
    return tuple(_name(item, name) for item in value)


def _span(value: Json, name: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - first and last
        raise InputError(f"{name} is not a pair of numbers")
    return _count(value[0], name), _count(value[1], name)


def _sources(value: Json, name: str) -> tuple[SourceRef, ...]:
    if not isinstance(value, list) or not all(isinstance(source, Mapping) for source in value):
        raise InputError(f"{name} is not a list of sources")
    return tuple(
        SourceRef(
            memory=_name(source.get("memory"), name),
            ref=_name(source.get("id"), name),
            quote=_text(source["quote"], name) if source.get("quote") else "",
        )
        for source in value
    )


_AS_THEY_ARE: Final = frozenset({"metadata", "data"})
"""Fields that are JSON values already."""


_CHECKS: Final[Mapping[str, Callable[[Json, str], object]]] = {
    **dict.fromkeys(("recorded_at", "valid_from", "valid_to", "expires_at", "used_at"), _time),
    **dict.fromkeys(("id", "category", "subject", "reason", "trust", "conversation", "speaker", "ref"), _name),
    **dict.fromkeys(("superseded_by", "last_session"), _name),
    **dict.fromkeys(("confidence", "importance", "stability"), _share),
    **dict.fromkeys(("accesses", "sessions", "depth", "seq", "version"), _count),
    "text": _text,
    "gist": _text,
    "reasoning": _text,
    "kind": _one_of(*KINDS),
    "phase": _one_of(*PHASES),
    "role": _one_of(*ROLES),
    "pinned": _boolean,
    "span": _span,
    "members": _names,
    "sources": _sources,
    "flags": lambda value, name: frozenset(_names(value, name)),
    "metadata": checked_metadata,
}
_NOTE_CHECKS: Final[Mapping[str, Callable[[Json, str], object]]] = {
    "text": lambda value, _: checked_note_text(value),
    "ref": lambda value, _: checked_place("", value)[1],
    "conversation": lambda value, _: checked_folder(value),
    "data": lambda value, name: checked_json(value, name, exact=True),
}
"""The checks of a note's own fields, which are kept exactly."""
