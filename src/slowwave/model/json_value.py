"""JSON values that a caller stores with a memory: metadata of messages and facts, and the data of notes."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Final

from slowwave.errors import InputError, shown
from slowwave.model.memory import JsonValue
from slowwave.model.plain_text import clean, storable

LONGEST: Final = 1_000_000
"""Characters of metadata, and of the data of a note, as JSON."""
DEPTH_MOST: Final = 64
"""Levels of lists and objects inside each other. A parser fails on a few thousand."""


def checked_json(value: object, what: str, *, exact: bool = False) -> JsonValue:
    r"""A deep copy of the value, or InputError.

    Args:
        value: text, numbers, True, False, None, and lists, tuples and mappings of them. A tuple becomes a list.
        what: the name of the argument, for the error.
        exact: refuse text with NUL or a lone surrogate, which no store can hold. Otherwise each becomes U+FFFD.

    >>> checked_json({"a": (1, 2.5, None)}, "metadata")
    {'a': [1, 2.5, None]}
    """
    plain = _plain(value, what, DEPTH_MOST, exact=exact)
    try:
        length = len(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))
    except ValueError as error:  # Python does not write integers of more than a few thousand digits
        raise InputError(f"{what} cannot be written as JSON: {error}") from error
    if length > LONGEST:
        raise InputError(f"{what} has {length:,} characters as JSON, more than {LONGEST:,}: store a reference instead")
    return plain


def checked_metadata(value: object, what: str = "metadata") -> dict[str, JsonValue]:
    """Metadata as a dict of JSON values, or InputError."""
    if not isinstance(value, Mapping):
        raise InputError(f"{what}={shown(value)}: pass a mapping of names to JSON values")
    plain = checked_json(value, what)
    assert isinstance(plain, dict)  # a mapping becomes a dict
    return plain


def strings(value: object) -> Iterator[str]:
    """The texts of a JSON value in order, without the names of its fields.

    >>> list(strings({"a": "tea", "b": [1, {"c": "milk"}]}))
    ['tea', 'milk']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def same_json(one: object, other: object) -> bool:
    """Whether two JSON values are equal. True and 1 differ, 1 and 1.0 are equal, as in JSON.

    >>> same_json({"a": [1]}, {"a": [1.0]}), same_json(True, 1)
    (True, False)
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_json(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_json, one, other))
    return one == other


def _plain(value: object, what: str, depth: int, *, exact: bool) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, what, exact=exact)
    if isinstance(value, int | float):
        return _number(value, what)
    if depth == 0:
        raise InputError(f"{what} has more than {DEPTH_MOST} levels of lists and objects: make it flatter")
    if isinstance(value, Mapping):
        made: dict[str, JsonValue] = {}
        for name, item in value.items():
            if not isinstance(name, str):
                raise InputError(f"{what} has the name {shown(name)} of type {type(name).__name__}: use texts as names")
            made[_text(name, what, exact=exact)] = _plain(item, what, depth - 1, exact=exact)
        return made
    if isinstance(value, list | tuple):
        return [_plain(item, what, depth - 1, exact=exact) for item in value]
    raise InputError(f"{what} holds {shown(value)} of type {type(value).__name__}: use JSON values")


def _number(value: float, what: str) -> int | float:
    if isinstance(value, int):
        return int(value)
    if not math.isfinite(value):
        raise InputError(f"{what} holds {shown(value)}, which JSON has no word for: pass a finite number or None")
    return float(value)


def _text(text: str, what: str, *, exact: bool) -> str:
    if exact and not storable(text):
        raise InputError(f"{what} holds text with NUL or a lone surrogate, which no store keeps: {shown(text)}")
    return clean(str.__str__(text))
