"""Whether a SQLite store is sound, copies of it, and getting rid of what was erased."""

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw

from slowwave.errors import BusyError, CorruptError, InputError, StoreError
from slowwave.model.codec import COLUMNS
from slowwave.stores.byte_scan import contains
from slowwave.stores.repair import Repairing
from slowwave.stores.replay import COUNTS
from slowwave.stores.sql import SQL
from slowwave.stores.sqlite.bytes import files
from slowwave.stores.sqlite.connection import SqliteBase
from slowwave.stores.sqlite.file import MEMORY, translated

_WIDTH = len(COLUMNS)
_FEW = 5
_BESIDE = ("-wal", "-shm", "-journal")


class SqliteCheck(Repairing, SqliteBase):
    """What keeps a file in order."""

    def about(self) -> list[tuple[str, bool, str]]:
        """Which SQLite this is."""
        return [("sqlite", True, f"apsw {apsw.apsw_version()}")]

    def check(self, *, deep: bool = False) -> list[str]:
        """What is wrong with the store, in sentences; empty when all is well.

        SQLite checks the structure of its pages and indexes, and rows are counted against index entries. Deep also
        reads every row against its checksum, and replays the journal of every scope from nothing: the outcome must
        be what the tables hold. That takes seconds for a hundred thousand memories, and memory for the largest scope.
        """
        with self._guard:
            found = self._files.problems()
            self._db.release_memory()  # else pages of a damaged or truncated file are taken from the cache
            self._db.execute("BEGIN")  # one state for all that follows
            try:
                found += [f"SQLite: {row[0]}" for row in self._all("PRAGMA integrity_check", ()) if row[0] != "ok"]
                for query, words in COUNTS:
                    if number := self._one(SQL[query], ())[0]:
                        found.append(words.format(number))
                if deep:
                    for token, path in self._all(SQL["scopes"], ()):
                        found += self._differences(token, path)
            except (apsw.CorruptError, CorruptError, UnicodeDecodeError) as error:
                found.append(str(error))
            finally:
                self._db.execute("ROLLBACK")
        return found

    def backup(self, path: str) -> None:
        """Write a verified copy into a new file that only its owner can read. Others may go on writing meanwhile.

        Raises:
            InputError: there is a file of this name.
            StoreError: it cannot be written, or the copy does not pass its deep check; no file is left.
        """
        for end in _BESIDE:
            if Path(path + end).exists():
                raise InputError(f"{path + end!r} exists and SQLite would take it for part of the backup: name another")
        try:
            # Creating it exclusively never opens a file that is there, so no lock of this process is released.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError as error:
            raise InputError(f"{path!r} exists: name a new file for the backup") from error
        except OSError as error:
            raise StoreError(f"{path!r} cannot be written ({error.strerror}): check the path and its folder") from error
        try:
            self._copy_into(path)
            self._verify_copy(path)
        except BaseException:
            for end in ("", *_BESIDE):
                Path(path + end).unlink(missing_ok=True)
            raise

    def _copy_into(self, path: str) -> None:
        """The pages of one committed state into an empty file."""
        with self._guard:
            self._files.verify()
            with closing(apsw.Connection(path)) as copy:
                try:
                    with copy.backup("main", self._db, "main") as copying:
                        copying.step()
                except apsw.Error as error:
                    raise translated(error, path) from error

    def _verify_copy(self, path: str) -> None:
        with closing(type(self)(path)) as copy:
            if wrong := copy.check(deep=True):
                raise CorruptError(f"the backup {path!r} is not sound: {wrong[0]}; check the disk, and this store")

    def rewrite_erased(self, *, rewrite: bool | None = None, again: bool = False) -> tuple[str, ...]:  # noqa: ARG002  # of Store
        """Make the bytes of what was erased vanish from the file and its log; the file shrinks. Needs as much room again.

        Args:
            rewrite: False leaves the file as it is: what was erased is overwritten in it, but it does not shrink.
            again: all the same here.

        Raises:
            BusyError: another process reads or writes; try again.
        """
        with self._guard:
            self._files.verify()
            self._emptied()
            if rewrite is False:
                return ()
            self._db.execute("VACUUM")
            self._emptied()
            return () if self.name == MEMORY else (Path(self.name).name,)

    def find_traces(self, texts: Sequence[str], _ids: Sequence[str] = ()) -> list[str]:
        """Where the bytes of erased words still lie, in sentences; words that some memory still holds are no trace."""
        with self._guard:
            needles = self._needles(texts)
            return [
                f"{name} still holds the bytes of what was erased"
                for name, data in files(self._db.filename)
                if contains(data, needles)
            ]

    def _emptied(self) -> None:
        """The log written into the file and cut to nothing."""
        busy = self._one("PRAGMA wal_checkpoint(TRUNCATE)", ())[0]
        if busy:
            raise BusyError(f"{self.name} is in use by another process: what was erased is gone, its bytes are not yet")
