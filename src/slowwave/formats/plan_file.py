"""Stores the plan of a dry run as a JSON file, so that it can be reviewed and applied later with its version checks."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from slowwave.errors import InputError, shown
from slowwave.files import check_regular
from slowwave.formats.atomic_file import replacing
from slowwave.formats.export_records import from_line, to_line
from slowwave.formats.json_stream import Json
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import ExportedMemory
from slowwave.model.memory import Memory
from slowwave.model.operations import (
    OPERATION_NAMES,
    Add,
    Change,
    Link,
    MoveCursor,
    Operation,
    RejectFact,
    SetTitle,
    Suppress,
    Use,
)
from slowwave.model.plan import Cost, Group, Plan
from slowwave.model.zone import with_offset

VERSION: Final = 1
_OPERATIONS: Final[Mapping[str, Callable[..., Operation]]] = {
    OPERATION_NAMES[kind]: kind for kind in (Add, Change, Link, MoveCursor, SetTitle, Use, Suppress, RejectFact)
}
"""The operations of a plan in a file. Erasing is never planned."""
_DERIVED: Final = frozenset({"entry"})
"""Fields that are computed from the text when the plan is applied."""
_FILE_NAMES: Final[Mapping[str, str]] = {"used_version": "seen"}
"""Fields that have another name in a file. Files of earlier versions hold it: it never changes."""
_FIELD_NAMES: Final = {name: field for field, name in _FILE_NAMES.items()}


def write(path: str | Path, plan: Plan) -> None:
    """Write a plan to a new file that only its owner can read, completely or not at all.

    Raises:
        InputError: the file exists already, or cannot be written.
    """
    path = Path(path)
    try:
        with replacing(path, new=True) as file:
            file.write(to_text(plan, indent=1) + "\n")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}; name another file") from error


def read(path: str | Path) -> Plan:
    """The plan of a file that `write` created. The caller computes the index entries of its new texts.

    Raises:
        InputError: the file does not exist, or is not a plan of this version.
    """
    path = Path(path)
    try:
        check_regular(path)
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a plan: it is not UTF-8 text") from error
    return from_text(text, str(path))


def to_text(plan: Plan, *, indent: int | None = None) -> str:
    """The plan as JSON."""
    values = {"slowwave": "plan", "version": VERSION, **_plan(plan)}
    return json.dumps(values, ensure_ascii=False, indent=indent)


def from_text(text: str, path: str) -> Plan:
    """The plan of a text that `to_text` made. The caller computes the index entries of its new texts.

    Raises:
        InputError: it is not a plan of this version; the error names the path.
    """
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not a plan: {error}") from error
    if not isinstance(data, dict) or (data.get("slowwave"), data.get("version")) != ("plan", VERSION):
        raise InputError(f"{path} is not a plan of version {VERSION}: save the plan of a dry run again")
    try:
        return _plan_of(data)
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
        raise InputError(f"{path} is a damaged plan: {error!s}") from error


def _plan(plan: Plan) -> dict[str, Json]:
    return {
        "id": plan.id,
        "scope": plan.scope,
        "cause": plan.cause,
        "at": plan.at.isoformat(),
        "parent": plan.parent,
        "cost": asdict(plan.cost),
        "undoes": plan.undoes,
        "groups": [_group(group) for group in plan.groups],
        "parts": [_plan(part) for part in plan.parts],
    }


def _group(group: Group) -> dict[str, Json]:
    return {
        "because": group.because,
        "conversations": list(group.conversations),
        "count_of": group.count_of,
        "rests_on": list(group.rests_on),
        "operations": [_operation(operation) for operation in group.operations],
    }


def _operation(operation: Operation) -> dict[str, Json]:
    values = {
        _FILE_NAMES.get(f.name, f.name): _value(getattr(operation, f.name))
        for f in fields(operation)
        if f.name not in _DERIVED
    }
    return {"op": OPERATION_NAMES[type(operation)], **values}


def _value(value: Any) -> Json:  # noqa: ANN401 - any field of an operation
    if isinstance(value, Memory):
        due = value.due_at.isoformat() if value.due_at else None
        return {**to_line(ExportedMemory(memory=value, where="")), "due_at": due, "pace": value.pace}
    return value.isoformat() if isinstance(value, datetime) else value


def _plan_of(data: Mapping[str, Any]) -> Plan:
    scope = _checked(data["scope"], str)
    groups = [
        Group(
            because=_checked(group["because"], str),
            conversations=tuple(_checked(name, str) for name in group.get("conversations", ())),
            count_of=_checked(group.get("count_of", ""), str),
            rests_on=tuple(_checked(identity, str) for identity in group.get("rests_on", ())),
            operations=tuple(_operation_of(operation, scope) for operation in group["operations"]),
        )
        for group in data["groups"]
    ]
    return Plan(
        id=_checked(data["id"], str),
        scope=scope,
        cause=_checked(data["cause"], str),
        at=_time(data["at"]),
        groups=tuple(groups),
        parent=None if data["parent"] is None else _checked(data["parent"], str),
        cost=Cost(**{name: _checked(number, int | float) for name, number in data["cost"].items()}),
        parts=tuple(_plan_of(part) for part in data["parts"]),
        undoes=None if data.get("undoes") is None else _checked(data["undoes"], str),
    )


def _operation_of(data: Mapping[str, Any], scope: str) -> Operation:
    values = {
        _FIELD_NAMES.get(name, name): _value_of(name, value, scope) for name, value in data.items() if name != "op"
    }
    return _OPERATIONS[data["op"]](**values)


def _value_of(name: str, value: Any, scope: str) -> object:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        item = from_line(value, name, scope)
        if not isinstance(item, ExportedMemory):
            raise InputError(f"{name} is not a memory")
        due = None if value["due_at"] is None else _time(value["due_at"])
        return replace(item.memory, due_at=due, pace=None if value["pace"] is None else _checked(value["pace"], int))
    return _time(value) if name == "at" else _checked(value, str | int | float)


def _time(value: object) -> datetime:
    at = instant(value) if isinstance(value, str) else None
    if at is None:
        raise InputError(f"{shown(value)} is not a date")
    return with_offset(at)


def _checked(value: Any, kind: Any) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(value, kind):
        raise InputError(f"{shown(value)} is not allowed in a plan")
    return value
