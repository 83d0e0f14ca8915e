"""Plans as files: a dry run's plan as JSON, to be looked at, kept, and carried out later under its version checks."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from slowwave.errors import InputError
from slowwave.formats.export_records import from_line, to_line
from slowwave.formats.json_stream import Json
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import ExportedMemory
from slowwave.model.memory import Memory
from slowwave.model.operations import Add, Change, Link, MoveCursor, Operation, RejectFact, Suppress, Use
from slowwave.model.plan import Cost, Group, Plan

VERSION: Final = 1
_OPERATIONS: Final[Mapping[str, Callable[..., Operation]]] = {
    kind.__name__.lower(): kind for kind in (Add, Change, Link, MoveCursor, Use, Suppress, RejectFact)
}
"""What a plan in a file may do. To erase is asked for, never planned."""
_DERIVED: Final = frozenset({"entry"})
"""Fields that follow from the words: they are made anew by whoever applies."""


def write(path: str | Path, plan: Plan) -> None:
    """Write a plan to a new file that only its owner can read.

    Raises:
        InputError: if the file is there already, or cannot be written.
    """
    path = Path(path)
    text = json.dumps({"slowwave": "plan", "version": VERSION, **_plan(plan)}, ensure_ascii=False, indent=1)
    try:
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}; name another file") from error


def read(path: str | Path) -> Plan:
    """The plan of a file that `write` made; what is searchable of its new words is to be made anew.

    Raises:
        InputError: if there is no such file, or it is no plan of this version.
    """
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path} is no plan: {error}") from error
    if not isinstance(told, dict) or (told.get("slowwave"), told.get("version")) != ("plan", VERSION):
        raise InputError(f"{path} is no plan of version {VERSION}: `slowwave sleep --dry-run --save` writes one")
    try:
        return _planned(told)
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
        "operations": [_operation(one) for one in group.operations],
    }


def _operation(operation: Operation) -> dict[str, Json]:
    told = {one.name: _value(getattr(operation, one.name)) for one in fields(operation) if one.name not in _DERIVED}
    return {"op": type(operation).__name__.lower(), **told}


def _value(value: Any) -> Json:  # noqa: ANN401 - whatever operations hold
    if isinstance(value, Memory):
        due = value.due_at.isoformat() if value.due_at else None
        return {**to_line(ExportedMemory(memory=value, where="")), "due_at": due, "pace": value.pace}
    return value.isoformat() if isinstance(value, datetime) else value


def _planned(told: Mapping[str, Any]) -> Plan:
    scope = _of(told["scope"], str)
    groups = [
        Group(
            because=_of(one["because"], str),
            conversations=tuple(_of(name, str) for name in one.get("conversations", ())),
            count_of=_of(one.get("count_of", ""), str),
            operations=tuple(_done(each, scope) for each in one["operations"]),
        )
        for one in told["groups"]
    ]
    return Plan(
        id=_of(told["id"], str),
        scope=scope,
        cause=_of(told["cause"], str),
        at=_time(told["at"]),
        groups=tuple(groups),
        parent=None if told["parent"] is None else _of(told["parent"], str),
        cost=Cost(**{name: _of(number, int | float) for name, number in told["cost"].items()}),
        parts=tuple(_planned(part) for part in told["parts"]),
        undoes=None if told.get("undoes") is None else _of(told["undoes"], str),
    )


def _done(told: Mapping[str, Any], scope: str) -> Operation:
    values = {name: _meant(name, value, scope) for name, value in told.items() if name != "op"}
    return _OPERATIONS[told["op"]](**values)


def _meant(name: str, value: Any, scope: str) -> object:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        item = from_line(value, name, scope)
        if not isinstance(item, ExportedMemory):
            raise InputError(f"{name} is no memory")
        due = None if value["due_at"] is None else _time(value["due_at"])
        return replace(item.memory, due_at=due, pace=None if value["pace"] is None else _of(value["pace"], int))
    return _time(value) if name == "at" else _of(value, str | int | float)


def _time(value: object) -> datetime:
    at = instant(value) if isinstance(value, str) else None
    if at is None:
        raise InputError(f"{value!r} is no time")
    return at


def _of(value: Any, kind: Any) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(value, kind):
        raise InputError(f"{value!r} has no place in a plan")
    return value
