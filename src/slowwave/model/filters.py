"""Filters on metadata, such as `{"project": "x", "a.b": 3, "score": {"$gte": 2}}`. All stores use this one function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from slowwave.errors import InputError, shown
from slowwave.model.json_value import checked_json, same_json

KEY_LONGEST: Final = 512
CONDITIONS_MOST: Final = 100
"""Conditions of one filter."""
_MISSING: Final = object()
_UNEXPECTED: Final = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""Errors of a function on values that it does not expect. A store that reads rows would take them for damage of a row."""

Test: TypeAlias = Callable[[object], bool]
Condition: TypeAlias = Callable[[Any, Mapping[str, Any]], bool]
"""A function of the data of a note (None for other memories) and of the metadata."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that all must hold. A field that is missing counts as null.

    Attributes:
        conditions: for each the whole key, its parts between the dots, and the test of the value.
        function: a condition of the caller on the data of a note, None for other memories, and on the metadata.
    """

    conditions: tuple[tuple[str, tuple[str, ...], Test], ...] = ()
    function: Condition | None = None

    def __call__(self, data: Any, metadata: Mapping[str, Any]) -> bool:  # noqa: ANN401 - any JSON
        """Whether the conditions hold. A field is looked up in the data, and if it is not there, in the metadata."""
        if self.function is not None:
            return self._answer(self.function, data, metadata)
        return all(test(_first((data, metadata), key, parts)) for key, parts, test in self.conditions)

    def _answer(self, function: Condition, data: object, metadata: Mapping[str, Any]) -> bool:
        try:
            return bool(function(data, metadata))
        except _UNEXPECTED as error:
            raise InputError(
                f"where failed with {type(error).__name__} ({error}) on the data {shown(data)} and the metadata "
                f"{shown(metadata)}: let the function return False for what it does not expect"
            ) from error

    @property
    def passes_without_metadata(self) -> bool:
        """Whether a memory without data and metadata may pass, as with `{"project": {"$ne": "x"}}`, or with a function."""
        return self.function is not None or self(None, {})


def checked_filter(where: object) -> Filter | None:
    """The filter of a `where` argument, or InputError with the condition at fault; None without conditions.

    >>> passes = checked_filter({"project": "x", "score": {"$gte": 2}})
    >>> passes(None, {"project": "x", "score": 3}), passes(None, {"project": "x"})
    (True, False)
    """
    if where is None:
        return None
    if callable(where) and not isinstance(where, type):
        return Filter(function=where)
    if not isinstance(where, Mapping):
        raise InputError(
            f"where={shown(where)}: pass a mapping such as {{'project': 'x', 'score': {{'$gte': 2}}}}, or a function of the "
            "data and the metadata"
        )
    conditions = [(key, _parts(key), test) for key, wanted in where.items() for test in _tests(_key(key), wanted)]
    if len(conditions) > CONDITIONS_MOST:
        raise InputError(f"where has {len(conditions)} conditions, more than {CONDITIONS_MOST}: use fewer")
    return Filter(tuple(conditions)) if conditions else None


def _key(key: object) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= KEY_LONGEST or "" in key.split("."):
        raise InputError(f"where has the key {shown(key)}: use the name of a field, or names joined by single dots")
    if key.startswith("$"):
        raise InputError(f"where has the operator {shown(key)} in place of a field: write {{'field': {{'$gte': 2}}}}")
    return key


def _parts(key: str) -> tuple[str, ...]:
    return tuple(key.split("."))


def _tests(key: str, condition: object) -> list[Test]:
    """The tests of one field: a mapping whose keys begin with "$" holds operators, anything else is a value."""
    if not isinstance(condition, Mapping) or not any(
        isinstance(name, str) and name.startswith("$") for name in condition
    ):
        if isinstance(condition, Mapping) and condition and {f"${name}" for name in condition} <= _OPERATORS.keys():
            name = next(iter(condition))
            raise InputError(
                f"where[{shown(key)}] has {shown(name)} in place of an operator: write '${name}', or {{'$eq': {{...}}}} for an "
                "object with this field"
            )
        return [_equal(checked_json(condition, f"where[{shown(key)}]"))]
    return [_operator(key, name, value) for name, value in condition.items()]


def _operator(key: str, name: object, value: object) -> Test:
    if name not in _OPERATORS:
        raise InputError(f"where[{shown(key)}] has the unknown operator {shown(name)}: use {', '.join(_OPERATORS)}")
    operator, value = _OPERATORS[str(name)], checked_json(value, f"where[{shown(key)}][{shown(name)}]")
    if name == "$in" and not isinstance(value, list):
        raise InputError(f"where[{shown(key)}] has '$in' with {shown(value)}: pass a list of values")
    is_ordered = isinstance(value, str | int | float) and not isinstance(value, bool)
    if name in _ORDERED and not is_ordered:
        raise InputError(f"where[{shown(key)}] compares with {shown(value)}: {shown(name)} takes a number or a text")
    return operator(value)


def _equal(expected: object) -> Test:
    return lambda value: same_json(value, expected)


def _different(expected: object) -> Test:
    return lambda value: not same_json(value, expected)


def _among(expected: Any) -> Test:  # noqa: ANN401 - a list, as `_operator` checked
    return lambda value: any(same_json(value, item) for item in expected)


def _ordered(holds: Callable[[Any, Any], bool]) -> Callable[[object], Test]:
    """A comparison by order: numbers with numbers, texts with texts by code point; other pairs do not pass."""

    def operator(expected: object) -> Test:
        kind: Any = str if isinstance(expected, str) else (int, float)
        return lambda value: isinstance(value, kind) and not isinstance(value, bool) and holds(value, expected)

    return operator


_ORDERED: Final[Mapping[str, Callable[[object], Test]]] = {
    "$gt": _ordered(lambda value, wanted: value > wanted),
    "$gte": _ordered(lambda value, wanted: value >= wanted),
    "$lt": _ordered(lambda value, wanted: value < wanted),
    "$lte": _ordered(lambda value, wanted: value <= wanted),
}
_OPERATORS: Final[Mapping[str, Callable[[object], Test]]] = {
    "$eq": _equal,
    "$ne": _different,
    "$in": _among,
    **_ORDERED,
}


def _first(fields: tuple[object, ...], key: str, parts: tuple[str, ...]) -> object:
    for value in fields:
        if (found := _at(value, key, parts)) is not _MISSING:
            return found
    return None


def _at(value: object, key: str, parts: tuple[str, ...]) -> object:
    """The value of a field: of the name as it is written, else of the path of its parts."""
    if isinstance(value, Mapping) and key in value:
        return value[key]
    for part in parts:
        if not isinstance(value, Mapping) or part not in value:
            return _MISSING
        value = value[part]
    return value
