"""Checks names and ids: one check for every public argument that is stored as text."""

from collections.abc import Iterable
from typing import Final

from slowwave.errors import InputError, shown
from slowwave.model.message import DIGITS_MAX
from slowwave.model.plain_text import storable

NAME_LONGEST: Final = 512
"""Characters of a name."""
LABEL_LONGEST: Final = 256
"""Characters of a category or a subject."""
FACT_LONGEST: Final = 100_000
"""Characters of the text of a fact that is stated or imported."""
TITLE_LONGEST: Final = 256
"""Characters of the title of a conversation."""
COUNT_MOST: Final = 2**63 - 1
"""The largest number that a column of either store holds."""


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
    if numbers and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**DIGITS_MAX:
        value = format(int(value), "d")  # a member of an enumeration formats itself by its name
    if not isinstance(value, str):
        accepted = "text or a whole number" if numbers else "text"
        raise InputError(f"{what}={shown(value)} is of type {type(value).__name__}: pass {accepted}")
    if not value.strip() or len(value) > longest:
        raise InputError(f"{what}={shown(value)}: use 1 to {longest} characters")
    if not storable(value):
        raise InputError(
            f"{what}={shown(value)} holds NUL or a lone surrogate, which no store keeps: pass text that encodes to UTF-8"
        )
    return str.__str__(value)


def checked_label(value: object, what: str) -> str:
    """A category or a subject, checked as by `checked_name`, without white space around it."""
    return checked_name(value, what, longest=LABEL_LONGEST).strip()


def optional_name(value: object, what: str, *, longest: int = NAME_LONGEST, numbers: bool = False) -> str | None:
    """A name as `checked_name` returns it, or None."""
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
        raise InputError(f"{what}={shown(values)}: pass a list of them")
    return frozenset(checked_name(value, f"an item of {what}") for value in values)


def texts_of(values: Iterable[object], what: str) -> list[str]:
    """The items of a list, each of which must be text."""
    texts: list[str] = []
    for value in values:
        if not isinstance(value, str):
            raise InputError(f"an item of {what}={shown(value)} is of type {type(value).__name__}: pass text")
        texts.append(value)
    return texts


def checked_count(value: object, what: str, *, least: int = 0) -> int:
    """A whole number, or InputError. One above 2**63 - 1 becomes that, because a limit may exceed the content."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{what}={shown(value)}: use a whole number of at least {least}")
    return min(value, COUNT_MOST)


def optional_count(value: object, what: str) -> int | None:
    """The same, where None is allowed."""
    return None if value is None else checked_count(value, what)
