"""mem0's filters: AND, OR and NOT of conditions on entities, metadata, categories and times."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from slowwave.errors import InputError, shown

ENTITIES: Final = ("user_id", "agent_id", "app_id", "run_id")
"""The entities by which mem0 keeps memories apart, in the order of the scope's path."""
DEEPEST: Final = 20
"""Levels of AND, OR and NOT."""
MISSING: Final = object()
Lookup: TypeAlias = Callable[[str], object]
"""The value of a field; `MISSING` if it is not known at this stage."""
Filters: TypeAlias = Mapping[str, Any] | None


def holds(filters: object, lookup: Lookup, *, depth: int = 0) -> bool | None:
    """Whether a filter holds; None if that depends on fields that `lookup` does not know.

    Several conditions in one object must all hold.

    >>> fields = {"user_id": "alice", "agent_id": None}
    >>> known = lambda name: fields.get(name, MISSING)
    >>> holds({"AND": [{"user_id": "alice"}, {"NOT": [{"agent_id": "*"}]}]}, known)
    True
    >>> holds({"OR": [{"user_id": {"in": ["bob"]}}, {"category": "food"}]}, known) is None
    True

    Raises:
        InputError: it is not a filter.
    """
    if depth > DEEPEST:
        raise InputError(f"filters nest AND, OR and NOT more than {DEEPEST} levels deep: write them flat")
    if filters is None:
        return True
    if not isinstance(filters, Mapping):
        raise InputError(f"filters contain {shown(filters)}: use objects such as {{'user_id': 'alice'}}")
    return _all([_condition(str(name), wanted, lookup, depth) for name, wanted in filters.items()])


def pinned(filters: object, name: str) -> str | None:
    """The one value that an entity must have for the filter to hold; None if it may have several."""
    if not isinstance(filters, Mapping):
        return None
    if isinstance(value := filters.get(name), str) and value != "*":
        return value
    parts = filters.get("AND")
    values = (pinned(part, name) for part in parts) if isinstance(parts, Sequence) else ()
    return next((value for value in values if value is not None), None)


def _condition(name: str, wanted: object, lookup: Lookup, depth: int) -> bool | None:
    if name in {"AND", "OR", "NOT"}:
        parts = wanted if isinstance(wanted, list) else [wanted]
        found = [holds(part, lookup, depth=depth + 1) for part in parts]
        if name == "AND":
            return _all(found)
        some = _any(found)
        return some if name == "OR" else _not(some)
    if name == "metadata" and isinstance(wanted, Mapping):
        return _all([_test(lookup(f"metadata.{key}"), value) for key, value in wanted.items()])
    return _test(lookup(name), wanted)


def _test(value: object, wanted: object) -> bool | None:
    if value is MISSING:
        return None
    if wanted == "*":
        return value is not None
    if not isinstance(wanted, Mapping):
        return _equal(value, wanted)
    return all(_operator(name, value, operand) for name, operand in wanted.items())


def _operator(name: object, value: object, operand: object) -> bool:
    test = _OPERATORS.get(str(name))
    if test is None:
        raise InputError(f"filters contain the operator {shown(name)}: use {', '.join(_OPERATORS)}")
    if name == "in" and not isinstance(operand, list):
        raise InputError(f"filters contain 'in' with {shown(operand)}: pass a list of values")
    return test(value, operand)


def _equal(value: object, wanted: object) -> bool:
    if isinstance(value, list | tuple):
        return wanted in value
    return type(value) is type(wanted) and value == wanted


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def test(value: object, wanted: object) -> bool:
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, wanted))
        texts = isinstance(value, str) and isinstance(wanted, str)
        return (numbers or texts) and compare(value, wanted)

    return test


def _contains(value: object, wanted: object) -> bool:
    if isinstance(value, list | tuple):
        return wanted in value
    return isinstance(value, str) and isinstance(wanted, str) and wanted in value


def _contains_in_any_case(value: object, wanted: object) -> bool:
    values = value if isinstance(value, list | tuple) else [value]
    return isinstance(wanted, str) and any(
        isinstance(one, str) and wanted.casefold() in one.casefold() for one in values
    )


_OPERATORS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "in": lambda value, wanted: any(_equal(value, one) for one in wanted) if isinstance(wanted, list) else False,
    "eq": _equal,
    "ne": lambda value, wanted: not _equal(value, wanted),
    "gt": _ordered(lambda value, wanted: value > wanted),
    "gte": _ordered(lambda value, wanted: value >= wanted),
    "lt": _ordered(lambda value, wanted: value < wanted),
    "lte": _ordered(lambda value, wanted: value <= wanted),
    "contains": _contains,
    "icontains": _contains_in_any_case,
}


def _all(found: Sequence[bool | None]) -> bool | None:
    if False in found:
        return False
    return None if None in found else True


def _any(found: Sequence[bool | None]) -> bool | None:
    if True in found:
        return True
    return None if None in found else False


def _not(found: bool | None) -> bool | None:
    return None if found is None else not found
