"""Whether a SQLite store is sound, copies of it, and getting rid of what was erased."""

from collections.abc import Sequence
from pathlib import Path

import apsw

from slowwave.errors import BusyError, CorruptError, InputError
from slowwave.model.codec import COLUMNS
from slowwave.stores.checking import COUNTS, Checking
from slowwave.stores.remains import holds, pieces
from slowwave.stores.sqlite_base import SqliteBase
from slowwave.stores.sqlite_file import MEMORY, translated
from slowwave.stores.statements import SQL

_WIDTH = len(COLUMNS)
_FEW = 5
_BESIDE = ("-wal", "-shm", "-journal")


class SqliteCheck(Checking, SqliteBase):
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
        found: list[str] = []
        with self._guard:
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
        """A copy of the file as it stands, checked. Others may go on writing meanwhile.

        Raises:
            InputError: there is a file of this name.
            CorruptError: the copy is not sound.
        """
        if Path(path).exists():
            raise InputError(f"{path!r} exists: name a new file for the backup")
        with self._guard:
            copy = apsw.Connection(path)
            try:
                with copy.backup("main", self._db, "main") as copying:
                    copying.step()
                wrong = [str(row[0]) for row in copy.execute("PRAGMA integrity_check") if row[0] != "ok"]
            except apsw.Error as error:
                raise translated(error, path) from error
            finally:
                copy.close()
        if wrong:
            raise CorruptError(f"the backup {path!r} is not sound: {wrong[0]}; check the disk, and this store")

    def scrub(self, *, rewrite: bool | None = None, again: bool = False) -> tuple[str, ...]:  # noqa: ARG002  # of Store
        """Make the bytes of what was erased vanish from the file and its log; the file shrinks. Needs as much room again.

        Args:
            rewrite: False leaves the file as it is: what was erased is overwritten in it, but it does not shrink.
            again: all the same here.

        Raises:
            BusyError: another process reads or writes; try again.
        """
        with self._guard:
            self._emptied()
            if rewrite is False:
                return ()
            self._db.execute("VACUUM")
            self._emptied()
            return () if self.name == MEMORY else (Path(self.name).name,)

    def traces(self, texts: Sequence[str], _ids: Sequence[str] = ()) -> list[str]:
        """Where the bytes of erased words still lie, in sentences; words that some memory still holds are no trace."""
        with self._guard:
            needles = self._needles(texts)
            places = [Path(name) for name in (self.name, *(self.name + end for end in _BESIDE))]
            return [
                f"{path.name} still holds the bytes of what was erased"
                for path in places
                if path.is_file() and holds(pieces(path), needles)
            ]

    def _emptied(self) -> None:
        """The log written into the file and cut to nothing."""
        busy = self._one("PRAGMA wal_checkpoint(TRUNCATE)", ())[0]
        if busy:
            raise BusyError(f"{self.name} is in use by another process: what was erased is gone, its bytes are not yet")
