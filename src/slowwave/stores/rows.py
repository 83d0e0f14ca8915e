"""Converts between table rows and memories, index entries and journal rows, and verifies the checksums of rows."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeVar
from zlib import crc32

from slowwave.errors import CorruptError, InputError, SlowwaveError
from slowwave.model.codec import COLUMNS, Row, Scalar, dumps, from_row, written
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory

MEMORY_COLUMNS = (*COLUMNS, "content", "checksum")
RUN_COLUMNS = (
    *("key", "scope", "id", "cause", "at", "parent", "undoes"),
    *("cost", "because", "details", "seal", "first", "last"),
)
ENTRY_COLUMNS = tuple(f.name for f in fields(IndexEntry) if f.name != "embedder")
"""The columns of an entry, without its embedder, which is stored as a token."""

_WIDTH = len(COLUMNS)
Place = TypeVar("Place", int, tuple[Any, ...])
"""A key, or the values of an order that end with one."""
_ENTRY = attrgetter(*ENTRY_COLUMNS)
_PUT = tuple(IndexEntry.__dict__[name].__set__ for name in ("embedder", *ENTRY_COLUMNS))
_UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
_LISTED = "`doctor(deep=True)` lists what else is damaged"
ADVICE = f"is damaged in the store: restore a backup; {_LISTED}"
"""The end of a sentence about a damaged row."""
REPAIRABLE = f"is damaged in the store: run `slowwave doctor --repair`; if that cannot, restore a backup; {_LISTED}"


def unreadable(error: BaseException | None, name: str) -> SlowwaveError | None:
    """The error to raise for an exception of reading or writing rows; None for one that passes unchanged.

    Damage can change the type or form of any value, and decoding such a value raises one of these built-in exceptions,
    also before a checksum is verified.
    """
    if isinstance(error, UnicodeEncodeError | OverflowError):
        return InputError(f"{name} cannot store this value ({error})")
    if isinstance(error, SlowwaveError) or not isinstance(error, _UNREADABLE):
        return None
    return CorruptError(f"{name} is damaged ({type(error).__name__}: {error}): restore a backup; {_LISTED}")


def last_key(rows: Sequence[Sequence[Any]], after: int) -> int:
    """The last key of a page of rows that were read in the order of their keys, which are greater than `after`.

    Raises:
        CorruptError: for keys that do not increase. A damaged table can return such, and a loop over its pages would not end.
    """
    keys: list[int] = [after, *(row[0] for row in rows)]
    return last_place(keys)


def last_place(places: Sequence[Place], *, descending: bool = False) -> Place:
    """The last of the places of rows in the order in which they were read.

    Raises:
        CorruptError: for places that do not increase (`descending`: decrease), as those of a damaged table.
    """
    if any(earlier <= later if descending else earlier >= later for earlier, later in pairwise(places)):
        raise CorruptError(f"the order of a table {ADVICE}")
    return places[-1]


def checksum(text: str) -> int:
    """A CRC-32 of a row as JSON. SQLite does not detect a flipped bit inside a value."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def checked(row: Sequence[Scalar]) -> Row:
    """The values of COLUMNS; CorruptError if they fail the checksum of the row."""
    values = tuple(row[:_WIDTH])
    try:
        sound = checksum(dumps(written(values))) == row[_WIDTH + 1]
    except TypeError:  # damage can turn text into bytes
        sound = False
    if not sound:
        raise CorruptError(f"the memory {row[0]!r} {REPAIRABLE}")
    return values


def journal_checksum(op: str, memory: str | None, other: str | None, because: str, payload: str | None) -> int:
    """A CRC-32 of these values of a journal row."""
    joined = f"{op or ''}\x1f{memory or ''}\x1f{other or ''}\x1f{because or ''}\x1f{payload or ''}"
    return crc32(joined.encode("utf-8", "surrogatepass"))


def checked_journal(key: int, values: Sequence[Any], expected: object) -> None:
    """Raise CorruptError if a journal row is not what was written."""
    if (
        any(value is not None and not isinstance(value, str) for value in values)
        or journal_checksum(*values) != expected
    ):
        raise CorruptError(f"row {key} of the journal {ADVICE}")


def memory_of(scope: str, row: Sequence[Scalar]) -> Memory:
    """The memory of a row of MEMORY_COLUMNS."""
    return from_row(scope, checked(row))


def entry_row(entry: IndexEntry) -> tuple[object, ...]:
    """The values of ENTRY_COLUMNS and a checksum."""
    values = _ENTRY(entry)
    return (*values, entry_checksum(values))


def entry_of(name: str | None, values: Sequence[object], expected: object) -> IndexEntry:
    """The entry with these values of ENTRY_COLUMNS and this embedder; CorruptError if they fail the checksum."""
    if entry_checksum(values) != expected:
        raise CorruptError(f"an index entry {REPAIRABLE}")
    entry = object.__new__(IndexEntry)  # twice as fast as the constructor; a cold start reads 10,000
    for put, value in zip(_PUT, (name, *values), strict=True):
        put(entry, value)
    return entry


def entry_checksum(values: Sequence[object]) -> int:
    """A CRC-32 of the values of ENTRY_COLUMNS, the blobs first; -1, which no CRC is, if the blobs are not bytes."""
    terms, words, question, cues, vectors, dim = values
    if not (isinstance(terms, bytes) and isinstance(vectors, bytes)):
        return -1  # damage can turn bytes into text
    plain = f"{words}\x1f{question}\x1f{cues}\x1f{dim}"
    return crc32(plain.encode("utf-8", "surrogatepass"), crc32(vectors, crc32(terms)))
