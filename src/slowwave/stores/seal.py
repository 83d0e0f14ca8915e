"""Computes the checksums of rows before they are written, and refuses rows that would be read back differently.

A checksum is computed over the values in Python. SQLite and Postgres convert a value to the type of its column, so a
number in a text column would be stored as text, and its checksum would fail on every later read.
"""

from dataclasses import astuple
from math import isfinite
from typing import Any, Final
from zlib import crc32

from slowwave.errors import InputError
from slowwave.model.codec import COLUMNS, Row, dumps, to_row, written
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory, misplaced_fields
from slowwave.model.operations import (
    Add,
    Change,
    Erase,
    Link,
    MoveCursor,
    Operation,
    RejectFact,
    SetTitle,
    Suppress,
    Use,
)
from slowwave.model.plain_text import storable
from slowwave.model.plan import FREE, Plan
from slowwave.stores.rows import ENTRY_COLUMNS, entry_row

_REALS: Final = ("confidence", "importance", "stability")
_WHOLE: Final = (
    *("recorded_at", "valid_from", "pinned", "valid_to", "expires_at", "due_at", "accesses", "sessions", "used_at"),
    *("depth", "seq", "span_first", "span_last", "version", "pace"),
)
_REQUIRED: Final = (
    *("id", "kind", "text", "recorded_at", "valid_from", "category", "phase", "pinned", "trust", "accesses"),
    *("sessions", "depth", "version", *_REALS),
)
_EXPECTED: Final = tuple(
    (float if name in _REALS else int if name in _WHOLE else str, name not in _REQUIRED) for name in COLUMNS
)
"""For each column the Python type of its values, and whether it may be None."""
_ENTRY_TYPES: Final = (bytes, int, float, int, bytes, int)
_FIRST_REAL: Final = COLUMNS.index(_REALS[0])
_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 63) - 1
_NO_TEXT: Final = "text with NUL or a lone surrogate"
_NUL: Final = "\\u0000"
"""NUL in JSON. It also occurs in the JSON of a text that contains a backslash and "u0000"."""


_fitting: Final[set[tuple[type, ...]]] = set()
"""Combinations of types that are known to fit, so that a row costs one lookup."""
_FITTING_MAX: Final = 4096


def fitted(row: Row) -> Row:
    """Return the row if each value has the type of its column and each number is finite.

    Raises:
        InputError: a value does not fit; the message names its column.
    """
    types = tuple(map(type, row))
    if types not in _fitting:
        for name, value, (expected, optional) in zip(COLUMNS, row, _EXPECTED, strict=True):
            if not ((value is None and optional) or (isinstance(value, expected) and not isinstance(value, bool))):
                raise _refused(row, name, f"{value!r}, of type {type(value).__name__}")
        if len(_fitting) < _FITTING_MAX:
            _fitting.add(types)
    reals: Any = row[_FIRST_REAL : _FIRST_REAL + len(_REALS)]
    if not isfinite(sum(reals)):
        raise _refused(row, " or ".join(_REALS), "not a finite number")
    return row


def sealed(row: Row) -> tuple[str, int]:
    """What is written of the row as JSON, and its checksum.

    Raises:
        InputError: the row would be read back differently.
    """
    text = dumps(written(fitted(row)))
    try:
        total = crc32(text.encode())
    except UnicodeEncodeError as error:
        raise _refused(row, _unstorable(row), _NO_TEXT) from error
    if _NUL in text and (name := _unstorable(row)):
        raise _refused(row, name, _NO_TEXT)
    return text, total


def _unstorable(row: Row) -> str:
    """The first column whose text contains NUL or a lone surrogate; "" if there is none."""
    found = (name for name, value in zip(COLUMNS, row, strict=True) if isinstance(value, str) and not storable(value))
    return next(found, "")


def row_of(memory: Memory) -> Row:
    """The row of a memory, not yet checked. InputError for values that cannot be converted to a row."""
    try:
        return to_row(memory)
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"the memory {memory.id!r} cannot be stored: {error}") from error


def placed(memory: Memory, before: Memory | None = None) -> Memory:
    """Return the memory if it has no field of another kind, besides those that the version before it has.

    Raises:
        InputError: with the names of the fields.
    """
    names = misplaced_fields(memory)
    if names and (before is None or not set(names) <= set(misplaced_fields(before))):
        raise InputError(
            f"the memory {memory.id!r} cannot be stored: a memory of kind {memory.kind} has no {', '.join(names)}"
        )
    return memory


def _refused(row: Row, column: str, found: str) -> InputError:
    return InputError(f"the memory {row[0]!r} cannot be stored: its {column} is {found}")


def sealed_journal(op: str, memory: str | None, other: str | None, because: str, payload: str | None) -> int:
    """The checksum of a journal row, as `rows.journal_checksum` computes it.

    Raises:
        InputError: a value is not text, or contains NUL or a lone surrogate.
    """
    try:
        joined = "\x1f".join((op, memory or "", other or "", because, payload or "")).encode()
    except (TypeError, UnicodeEncodeError):
        joined = b"\x00"
    if b"\x00" in joined:
        texts(f"an operation {op!r}", memory, other, because, payload)
    return crc32(joined)


def sealed_entry(entry: IndexEntry) -> tuple[object, ...]:
    """The values of ENTRY_COLUMNS and a checksum.

    Raises:
        InputError: a value does not have the type of its column.
    """
    row = entry_row(entry)
    if tuple(map(type, row[:-1])) != _ENTRY_TYPES or not isfinite(entry.question):
        found = ", ".join(f"{name} {type(value).__name__}" for name, value in zip(ENTRY_COLUMNS, row, strict=False))
        raise InputError(f"an index entry cannot be stored with the types {found}: make entries with `policy.features`")
    return row


def texts(what: str, *values: object) -> None:
    """Raise InputError unless each value is None or text without NUL and lone surrogates."""
    for value in values:
        if value is not None and not (isinstance(value, str) and storable(value)):
            raise InputError(f"{what} cannot be stored: {value!r} is not text without NUL and lone surrogates")


def numbers(what: str, *values: object, whole: bool = False) -> None:
    """Raise InputError unless each value is a finite number, and with `whole` an int."""
    for value in values:
        expected = int if whole else int | float
        infinite = isinstance(value, float) and not isfinite(value)
        if isinstance(value, bool) or not isinstance(value, expected) or infinite:
            raise InputError(f"{what} cannot be stored: {value!r} is not a {'whole' if whole else 'finite'} number")


def check_run(plan: Plan) -> None:
    """Raise InputError for a plan whose run row would be read back differently."""
    texts("a run", plan.id, plan.scope, plan.cause, plan.parent, *(group.because for group in plan.groups))
    if plan.cost is not FREE:
        numbers("the cost of a run", *astuple(plan.cost))


def check(operation: Operation) -> None:
    """Raise InputError for an operation with a value that would be read back differently."""
    match operation:
        case Add():
            _check_memory(placed(operation.memory), operation.entry)
        case Change():
            _check_memory(placed(operation.after, operation.before), operation.entry)
        case Use():
            fitted(row_of(operation.used_version))
            _check_memory(operation.after, None)
        case Link():
            texts("a link", operation.source, operation.target, operation.kind)
            numbers("the weight of a link", operation.weight, operation.before)
        case MoveCursor():
            texts("a cursor", operation.conversation, operation.cursor)
            numbers("a cursor", operation.before, operation.after, whole=True)
        case SetTitle():
            texts("a title", operation.conversation, operation.before, operation.after)
        case Suppress():
            texts("a suppressed key", operation.key)
        case RejectFact():
            texts("a refused fact", operation.text, operation.quote, operation.reason)
        case Erase():
            texts("an erase", operation.memory, operation.conversation, *operation.words)
    texts("the reason of an operation", operation.because)


def _check_memory(memory: Memory, entry: IndexEntry | None) -> None:
    row = row_of(memory)
    sealed(row)
    for name, value in zip(COLUMNS, row, strict=True):
        if isinstance(value, int) and not _LEAST <= value <= _MOST:  # a write would fail in the driver
            raise _refused(row, name, "a number of more than 64 bits")
    if entry is not None:
        sealed_entry(entry)
