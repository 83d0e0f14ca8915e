"""Checks names and ids: one check for every public argument that is stored as text."""

from collections.abc import Iterable
from typing import Final

from slowwave.errors import InputError
from slowwave.model.message import storable

NAME_LONGEST: Final = 512
_DIGITS_MAX: Final = 100
"""Digits of an int that is converted to text; Python itself refuses to convert more than a few thousand."""
_SHOWN: Final = 80
"""Characters of a refused value that an error repeats."""


def checked_name(value: object, what: str, *, longest: int = NAME_LONGEST, numbers: bool = False) -> str:
    """The value as the text that is stored, or InputError saying what to pass.

    Stores convert values of other types to text, and a row's checksum would then fail on the next read.

    Args:
        value: what the caller passed.
        what: the name of the argument, for the error.
        longest: characters allowed.
        numbers: convert an int, such as the numeric id of a chat, to its decimal digits.

    >>> checked_name(42, "session", numbers=True)
    '42'
    """
    if numbers and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**_DIGITS_MAX:
        value = format(value, "d")
    if not isinstance(value, str):
        accepted = "text or a whole number" if numbers else "text"
        raise InputError(f"{what}={_shown(value)} is of type {type(value).__name__}: pass {accepted}")
    if not value.strip() or len(value) > longest:
        raise InputError(f"{what}={_shown(value)}: use 1 to {longest} characters")
    if not storable(value):
        raise InputError(
            f"{what}={_shown(value)} holds NUL or a lone surrogate, which no store keeps: pass text that encodes to UTF-8"
        )
    return str.__str__(value)


def optional_name(value: object, what: str, *, longest: int = NAME_LONGEST, numbers: bool = False) -> str | None:
    """The same, where None is allowed."""
    return None if value is None else checked_name(value, what, longest=longest, numbers=numbers)


def optional_conversation(value: object) -> str | None:
    """The name of a conversation, or None for the one written to last."""
    return optional_name(value, "conversation", numbers=True)


def checked_id(value: object, what: str = "id") -> str:
    """The id of a memory or a run."""
    return checked_name(value, what)


def optional_names(values: object, what: str) -> frozenset[str] | None:
    """A collection of names as a set, or None; a single text is refused, because it would be read letter by letter."""
    if values is None:
        return None
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{what}={_shown(values)}: pass a list of them")
    return frozenset(checked_name(value, f"an item of {what}") for value in values)


def checked_count(value: object, what: str, *, least: int = 0) -> int:
    """A whole number, or InputError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{what}={_shown(value)}: use a whole number of at least {least}")
    return value


def optional_count(value: object, what: str) -> int | None:
    """The same, where None is allowed."""
    return None if value is None else checked_count(value, what)


def _shown(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_DIGITS_MAX:
        return f"a number of more than {_DIGITS_MAX} digits"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
