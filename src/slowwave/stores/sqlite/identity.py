"""Detects that a store's files were deleted or replaced while it was open.

SQLite continues to write into a deleted file: every commit succeeds, and all of them are lost when it is closed.
"""

import os
from typing import Final, TypeAlias
from weakref import WeakSet

from slowwave.errors import StoreError

Inode: TypeAlias = tuple[int, int]
"""Device and inode of a file."""

_EFFECTIVE: Final = os.access in os.supports_effective_ids


def inode(path: str) -> Inode | None:
    """The device and inode of a path, None if it does not exist. Opens no descriptor, so that no lock is released."""
    try:
        found = os.stat(path)  # noqa: PTH116 - faster than pathlib, and every commit runs it
    except OSError:
        return None
    return found.st_dev, found.st_ino


class OpenedFiles:
    """The path and inode of a store's file and of its log when the store was opened.

    Args:
        path: the store in error messages.
        file: the absolute path of the file and its inode; None without a file, as in RAM.
        log: the absolute path of the log and its inode; None without a log, as on a read-only disk.
    """

    def __init__(
        self, path: str, file: tuple[str, Inode | None] | None = None, log: tuple[str, Inode | None] | None = None
    ) -> None:
        self._path = path
        self._file = file
        self._log = log if log and log[1] else None
        _opened.add(self)

    def include(self, path: str) -> bool:
        """Whether a path is the store's file, its log or its shared memory, under any name."""
        found = inode(path)
        return bool(
            found and self._file and found in {inode(self._file[0] + end) for end in ("", "-wal", "-shm", "-journal")}
        )

    def verify(self) -> None:
        """Raise StoreError if a commit would be written into a deleted or replaced file.

        For the log only its existence is checked. Reading its inode also reads its times, and since Linux 6.13 the
        file system then updates the times at the next commit: an add took 14 % longer.
        """
        if self._file and inode(self._file[0]) != self._file[1]:
            raise StoreError(_sentence(self._path))
        if self._log and not os.access(self._log[0], os.F_OK, effective_ids=_EFFECTIVE):
            raise StoreError(_sentence(self._log[0]))

    def after_fork(self) -> None:
        """In a forked child: the child's connection may have created another log, so only its existence is checked."""
        self._log = self._log and (self._log[0], None)

    def problems(self) -> list[str]:
        """The deleted or replaced files, as sentences. Unlike `verify`, it also compares the inode of the log."""
        known = [(self._path, self._file), (self._log and self._log[0], self._log)]
        return [_sentence(name) for name, file in known if name and file and file[1] and inode(file[0]) != file[1]]


def _sentence(name: str) -> str:
    return f"{name} was deleted or replaced while it was open: nothing more is stored in it; open it again"


_opened: Final[WeakSet[OpenedFiles]] = WeakSet()


def belongs_to_open_store(path: str) -> bool:
    """Whether a path is a file of any store of this process, whose locks would be released by closing it."""
    return any(files.include(path) for files in list(_opened))
