"""Converts results to the JSON values of `--json`; docs/cli.md lists their fields."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import singledispatch
from typing import Any, Final

from slowwave.model.memory import SourceRef
from slowwave.model.operations import Use
from slowwave.model.plan import Plan, Receipt, Run, count_operations, merge_groups

DIGITS: Final = 9
"""Significant digits of a number: more would only show how computers add fractions."""


@singledispatch
def to_json_value(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Convert a value: a record to an object of its fields, a time to ISO 8601."""
    if is_dataclass(value):
        return {field.name: to_json_value(getattr(value, field.name)) for field in fields(value) if field.repr}
    if isinstance(value, Iterable):
        return [to_json_value(item) for item in value]
    return value


@to_json_value.register(str)
def _(value: str) -> str:
    return value


@to_json_value.register(float)
def _(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


@to_json_value.register(datetime)
def _(value: datetime) -> str:
    return value.isoformat()


@to_json_value.register(frozenset)
def _(value: frozenset[str]) -> list[str]:
    return sorted(value)


@to_json_value.register(Mapping)
def _(value: Mapping[object, object]) -> dict[str, Any]:
    return {
        "/".join(map(str, key)) if isinstance(key, tuple) else str(key): to_json_value(item)
        for key, item in value.items()
    }


@to_json_value.register(SourceRef)
def _(value: SourceRef) -> dict[str, str]:
    return {"id": value.ref, "memory": value.memory, "quote": value.quote}


@to_json_value.register(Use)
def _(value: Use) -> dict[str, Any]:
    return {"seen": to_json_value(value.used_version), "after": to_json_value(value.after), "because": value.because}


@to_json_value.register(Receipt)
def _(value: Receipt) -> dict[str, Any]:
    return {
        "run_id": value.run_id if value.applied or value.dropped else None,  # a plan without effect stores no run
        "cause": value.cause,
        "scope": value.scope,
        "ids": list(value.ids),
        "did": count_operations(value.applied),
        "dropped": [group.reason for group in value.dropped],
        "waiting": value.waiting,
        "problems": list(value.problems),
        "notes": list(value.notes),
    }


@to_json_value.register(Run)
@to_json_value.register(Plan)
def _(value: Run | Plan) -> dict[str, Any]:
    plan = value.plan if isinstance(value, Run) else value
    return {
        "id": value.id,
        "scope": value.scope,
        "cause": value.cause,
        "at": value.at.isoformat(),
        "parent": value.parent,
        "did": value.counted if isinstance(value, Run) else count_operations(plan.operations),
        "because": [group.because for group in merge_groups(plan.groups)],
        "parts": [to_json_value(part) for part in (value.parts if isinstance(value, Run) else plan.parts)],
        "cost": to_json_value(value.cost),
    }
