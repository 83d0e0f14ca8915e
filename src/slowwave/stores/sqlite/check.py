"""Checks a SQLite store, backs it up, and removes the bytes of erased texts from its files."""

import os
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from slowwave.errors import BusyError, CorruptError, InputError, StoreError
from slowwave.model.codec import COLUMNS
from slowwave.model.schema import SchemaState
from slowwave.model.scope import ScopeName
from slowwave.model.status import Repaired
from slowwave.stores.address import encodable
from slowwave.stores.byte_scan import contains
from slowwave.stores.migrations import migrations
from slowwave.stores.repair import Repairer
from slowwave.stores.replay import COUNT_CHECKS
from slowwave.stores.sqlite.bytes import files
from slowwave.stores.sqlite.connection import SqliteBase
from slowwave.stores.sqlite.file import MEMORY, translated
from slowwave.stores.sqlite.log_mark import COMPLETE, missing

if TYPE_CHECKING:
    from slowwave.model.fleet import RunningWorker
    from slowwave.model.proof import ErasureProof, PendingProof, StoreProof

_WIDTH = len(COLUMNS)
_FEW = 5
_BESIDE = ("-wal", "-shm", "-journal")


class SqliteCheck(Repairer, SqliteBase):
    """Checks, backups and erasure for a SQLite file."""

    def about(self) -> list[tuple[str, bool, str]]:
        """The version of SQLite, as checks for `doctor`."""
        return [("sqlite", True, f"apsw {apsw.apsw_version()}")]

    def check(self, *, deep: bool = False, scopes: Collection[ScopeName] | int | None = None) -> list[str]:
        """The problems of the store, or of some scopes, as sentences; empty if there is none. See `Store.check`.

        SQLite checks the structure of its pages and indexes, and rows are counted against index entries. A deep check
        also verifies the checksum of every row, replays the journal of every scope and compares the result with the
        tables. It takes seconds for 100,000 memories, and holds the largest scope in RAM.
        """
        with self._guard:
            self._refuse_newer()
            found = self._files.problems() + missing(self._db, self.name)
            self._db.release_memory()  # otherwise the cache hides damage in the file
            self._db.execute("BEGIN")  # all reads below see one state
            try:
                if scopes is not None:
                    for token, path in self._chosen_scopes(scopes):
                        found += self._problems_of(token, path, deep=deep)
                    return found
                found += [f"SQLite: {row[0]}" for row in self._db.execute("PRAGMA integrity_check") if row[0] != "ok"]
                for query, words in COUNT_CHECKS:
                    if number := self._one(query, ())[0]:
                        found.append(words.format(number))
                if deep:
                    for token, path in self._all("scopes", ()):
                        found += self._differences(token, path)
            except (apsw.CorruptError, CorruptError, UnicodeDecodeError) as error:
                found.append(str(error))
            finally:
                self._db.execute("ROLLBACK")
        return found

    def repair(self) -> Repaired:
        """As in `Repairer`. What was said of a missing log is known from now on."""
        with self._guard, self._transaction(""):
            self._db.execute("UPDATE log SET missed_at = NULL")
        return super().repair()

    def schema_state(self) -> SchemaState:
        """The schema of the file, which opening it has migrated."""
        wanted = migrations("sqlite")[-1][0]
        with self._guard:
            version = int(self._db.pragma("user_version"))
        return SchemaState(store=self.name, version=version, wanted=wanted)

    def running_workers(self) -> "list[RunningWorker]":
        """No workers: a file is slept by `sleep_due`."""
        return []

    def backup(self, path: str) -> None:
        """Write a verified copy into a new file that only its owner can read. Other writers are not blocked.

        Raises:
            InputError: a file of this name exists.
            StoreError: the copy cannot be written or fails its deep check; the file is deleted.
        """
        encodable(path)
        for end in _BESIDE:
            if Path(path + end).exists():
                raise InputError(
                    f"{path + end!r} exists and SQLite would read it as part of the backup: name another file"
                )
        try:
            # O_EXCL never opens an existing file, so no lock of this process is released.
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
        """Copy the pages of one committed state into an empty file."""
        with self._guard:
            self._files.verify()
            with closing(apsw.Connection(path)) as copy:
                try:
                    with copy.backup("main", self._db, "main") as copying:
                        copying.step()
                    copy.execute(COMPLETE)  # the copy has a log of its own
                except apsw.Error as error:
                    raise translated(error, path) from error

    def _verify_copy(self, path: str) -> None:
        with closing(type(self)(path)) as copy:
            if wrong := copy.check(deep=True):
                raise CorruptError(f"the backup {path!r} is not sound: {wrong[0]}; check the disk, and this store")

    def rewrite_erased(self, *, rewrite: bool | None = None, again: bool = False) -> tuple[str, ...]:  # noqa: ARG002  # of Store
        """Remove erased bytes from the file and its log, and shrink the file. Needs free space of the size of the file.

        Args:
            rewrite: with False the file does not shrink; erased bytes are still overwritten in it.
            again: has no effect on SQLite.

        Raises:
            BusyError: another process reads or writes the store; try again.
        """
        with self._guard:
            self._refuse_newer()
            self._files.verify()
            self._emptied()
            if rewrite is not False:
                self._db.execute("VACUUM")
                self._emptied()
            self._log.forget()
            with self._transaction(""):
                pass  # the commit marks the file again
            return () if rewrite is False or self.name == MEMORY else (Path(self.name).name,)

    def prove_erased(
        self,
        scope: str,  # noqa: ARG002  # of Store
        texts: Sequence[str],
        ids: Sequence[str],
        *,
        rewrite: bool | None = None,
        again: bool = False,
    ) -> "ErasureProof":
        """Rewrite the file, and search it for erased texts. A file is always proved as a whole. See `Store.prove_erased`."""
        from slowwave.model.proof import ErasureProof  # noqa: PLC0415 - few processes erase

        problems: list[str] = []
        rewritten: tuple[str, ...] = ()
        try:
            rewritten = self.rewrite_erased(rewrite=rewrite, again=again)
        except StoreError as error:
            problems.append(str(error))
        return ErasureProof(problems=(*problems, *self.find_traces(texts, ids)), rewritten=rewritten)

    def prove_pending(self, *, rewrite: bool | None = None, on_progress: object = None) -> "StoreProof":  # noqa: ARG002  # of Store
        """Do nothing: each erase of a file is proved as a whole."""
        from slowwave.model.proof import StoreProof  # noqa: PLC0415 - as above

        return StoreProof()

    def pending_proofs(self) -> "list[PendingProof]":
        """No erase of a file waits for a proof."""
        return []

    def find_traces(self, texts: Sequence[str], _ids: Sequence[str] = ()) -> list[str]:
        """Files that still contain erased texts, as sentences. Texts that a stored memory contains are ignored."""
        with self._guard:
            self._refuse_newer()
            needles = self._needles(texts)
            return [
                f"{name} still holds the bytes of what was erased"
                for name, data in files(self._db.filename)
                if contains(data, needles)
            ]

    def _emptied(self) -> None:
        """Merge the log into the file and truncate it."""
        busy = next(self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)"))[0]
        if busy:
            raise BusyError(
                f"{self.name} is in use by another process: memories were erased, but their bytes are still in the file; try again"
            )
