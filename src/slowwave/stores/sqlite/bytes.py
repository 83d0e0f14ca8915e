"""Reads the bytes of a store's files through SQLite, without releasing the locks of this process.

POSIX locks belong to a process and an inode: closing any descriptor of a file releases every lock that the process
holds on it, also those of other connections (sqlite.org/howtocorrupt.html, section 2.2). SQLite keeps such descriptors
open until its last lock on the inode is released, so its own VFS is the only safe way to read a store that may be open.
"""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from slowwave.stores.byte_scan import PIECE

HEADER: Final = 100
"""Bytes of the header of a database."""
MAGIC: Final = b"SQLite format 3\x00"

_DATABASE: Final = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
"""SQLite reuses a kept descriptor only for the same flags. With other flags the number of descriptors would grow."""
_LOG: Final = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_READONLY
_JOURNAL: Final = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_READONLY

_JOURNAL_MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
_LOG_MAGIC: Final = bytes.fromhex("377f0682")
_LOG_MAGIC_BIG_ENDIAN: Final = bytes.fromhex("377f0683")
"""Logs of machines with the other byte order of checksums."""
_INITIAL_SIZE: Final = slice(16, 20)
"""The field of a rollback journal's header with the number of pages before the transaction."""


class _File(apsw.VFSFile):
    """An open file of SQLite's default VFS, which wants a path without symlinks."""

    def __init__(self, path: str, flags: int) -> None:
        super().__init__("", os.path.realpath(path), [flags, 0])

    def close(self) -> None:
        """Close it; SQLite defers this while the process holds locks on the file."""
        self.xClose()


def header(path: str) -> bytes:
    """The first 100 bytes of a database, fewer if it is shorter. Takes no lock and creates no side file.

    Raises:
        apsw.Error: the file cannot be read.
    """
    with closing(_File(path, _DATABASE)) as file:
        return file.xRead(min(HEADER, file.xFileSize()), 0)


def has_log(path: str) -> bool:
    """Whether a log of SQLite is beside this database; one that is empty or has another header is none."""
    log = f"{os.path.realpath(path)}-wal"
    if not os.path.isfile(log):  # noqa: PTH113 - no error for a name that is too long
        return False
    try:
        with closing(_File(log, _LOG)) as file:
            return file.xFileSize() > 0 and file.xRead(len(_LOG_MAGIC), 0) in {_LOG_MAGIC, _LOG_MAGIC_BIG_ENDIAN}
    except apsw.CantOpenError:  # deleted since by a process that closed the store as the last one
        return False


def rolls_back_to_nothing(path: str) -> bool:
    """Whether a hot journal beside this database makes it empty again: its first transaction was interrupted.

    A journal that is kept after its transaction (journal_mode PERSIST or TRUNCATE) begins with zeros or is empty.
    """
    journal = f"{os.path.realpath(path)}-journal"
    if not Path(journal).is_file():
        return False
    with closing(_File(journal, _JOURNAL)) as file:
        begins = file.xRead(min(_INITIAL_SIZE.stop, file.xFileSize()), 0)
    return begins.startswith(_JOURNAL_MAGIC) and not any(begins[_INITIAL_SIZE])


def files(path: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The files of a store that may contain texts of memories, as name and pieces.

    The `-shm` file is skipped: it contains page numbers and locks, never content.
    """
    for place, flags in ((path, _DATABASE), (f"{path}-wal", _LOG), (f"{path}-journal", _JOURNAL)):
        if Path(place).is_file():
            yield Path(place).name, _pieces(place, flags)


def _pieces(path: str, flags: int) -> Iterator[bytes]:
    with closing(_File(path, flags)) as file:
        size = file.xFileSize()
        for start in range(0, size, PIECE):
            yield file.xRead(min(PIECE, size - start), start)
