"""Detects that a store's files were deleted or replaced while it was open.

SQLite goes on writing into a file that has no name any more: every commit succeeds, and all of it is gone at the end.
"""

import os
from typing import Final, TypeAlias

from slowwave.errors import StoreError

Inode: TypeAlias = tuple[int, int]
"""Device and inode of a file."""

_EFFECTIVE: Final = os.access in os.supports_effective_ids


def inode(path: str) -> Inode | None:
    """The file that has this name now, None if there is none. Opens no descriptor, so that no lock is released."""
    try:
        found = os.stat(path)  # noqa: PTH116 - every commit pays for it
    except OSError:
        return None
    return found.st_dev, found.st_ino


class OpenedFiles:
    """A store's file and its log as they were when the store was opened.

    Args:
        path: the store as errors name it.
        file: the absolute path of its file, and its inode; None where there is no file to lose, as in RAM.
        log: the same of its log; None where there is none, as on a disk that is only read.
    """

    def __init__(
        self, path: str, file: tuple[str, Inode | None] | None = None, log: tuple[str, Inode | None] | None = None
    ) -> None:
        self._path = path
        self._file = file
        self._log = log if log and log[1] else None

    def verify(self) -> None:
        """Raise StoreError if a commit would go into a file that nobody can open any more.

        The log must only exist. Asking for its inode asks for its times too, and since Linux 6.13 the file system then
        writes them anew with the next commit: an add took 14 % longer.
        """
        if self._file and inode(self._file[0]) != self._file[1]:
            raise StoreError(_sentence(self._path))
        if self._log and not os.access(self._log[0], os.F_OK, effective_ids=_EFFECTIVE):
            raise StoreError(_sentence(self._log[0]))

    def after_fork(self) -> None:
        """In a forked child: its own connection may have created the log again, so only its existence is checked."""
        self._log = self._log and (self._log[0], None)

    def problems(self) -> list[str]:
        """What was deleted or replaced, in sentences, for a check; the log by its inode too."""
        known = [(self._path, self._file), (self._log and self._log[0], self._log)]
        return [_sentence(name) for name, one in known if name and one and one[1] and inode(one[0]) != one[1]]


def _sentence(name: str) -> str:
    return (
        f"{name} was deleted or replaced while it was open: nothing more is stored through this handle; open it again"
    )
