"""What a table holds of a memory and of its entry: rows, and checksums by which a damaged one is noticed."""

from collections.abc import Sequence
from dataclasses import fields
from zlib import crc32

from slowwave.errors import CorruptError
from slowwave.model.codec import COLUMNS, Row, Scalar, from_row, row_content, to_row
from slowwave.model.entry import Entry
from slowwave.model.memory import Memory

MEMORY_COLUMNS = (*COLUMNS, "content", "checksum")
ENTRY_COLUMNS = tuple(f.name for f in fields(Entry) if f.name != "embedder")
"""The columns of an entry; its embedder is stored as a token."""

_WIDTH = len(COLUMNS)
_ADVICE = "is damaged in the file: restore a backup; `check(deep=True)` lists what else is"


def checksum(row: Sequence[Scalar]) -> int:
    """A CRC-32 of the values of COLUMNS. SQLite itself would not notice a flipped bit inside a value."""
    return crc32("\x1f".join(map(str, row)).encode("utf-8", "surrogatepass"))


def stored(row: Row) -> tuple[Scalar, ...]:
    """A row of COLUMNS as the table holds it: with content key and checksum."""
    return (*row, row_content(row), checksum(row))


def checked(row: Sequence[Scalar]) -> Sequence[Scalar]:
    """The row as read, or CorruptError if it is not what was written."""
    if checksum(row[:_WIDTH]) != row[_WIDTH + 1]:
        raise CorruptError(f"the memory {row[0]!r} {_ADVICE}")
    return row


def memory_of(scope: str, row: Sequence[Scalar]) -> Memory:
    """The memory of a row of MEMORY_COLUMNS."""
    return from_row(scope, checked(row))


def memory_row(memory: Memory) -> tuple[Scalar, ...]:
    """The values of MEMORY_COLUMNS."""
    return stored(to_row(memory))


def entry_row(entry: Entry) -> tuple[object, ...]:
    """The values of ENTRY_COLUMNS and a checksum."""
    values = tuple(getattr(entry, name) for name in ENTRY_COLUMNS)
    return (*values, entry_checksum(values))


def entry_of(name: str | None, values: Sequence[object], expected: object) -> Entry:
    """The entry of the values of ENTRY_COLUMNS under its embedder's name, or CorruptError."""
    if entry_checksum(values) != expected:
        raise CorruptError(f"an index entry {_ADVICE}")
    return Entry(embedder=name, **dict(zip(ENTRY_COLUMNS, values, strict=True)))  # type: ignore[arg-type]  # as written


def entry_checksum(values: Sequence[object]) -> int:
    """A CRC-32 of an entry's values, blobs last to first."""
    total = 0
    plain = []
    for value in values:
        if isinstance(value, bytes):
            total = crc32(value, total)
        else:
            plain.append(str(value))
    return crc32("\x1f".join(plain).encode(), total)
