"""The store in one SQLite file, or in RAM."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from slowwave.stores.apply import PlanApplier, RunRow
from slowwave.stores.connection import WriteHints
from slowwave.stores.model_use import ModelUseRows
from slowwave.stores.row_transfer import RowTransfer
from slowwave.stores.scope_state import ScopeStateReader
from slowwave.stores.search.service import Searcher
from slowwave.stores.sqlite.check import SqliteCheck
from slowwave.stores.sqlite.connection import Transaction
from slowwave.stores.sqlite.file import MEMORY, STEP_SECONDS, busy_handler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slowwave.stores.search.cache import CachedIndex


class SqliteStore(PlanApplier, ScopeStateReader, Searcher, RowTransfer, ModelUseRows, SqliteCheck):
    """A store in one file that several threads and processes can use at the same time.

    One connection, guarded by a lock; each read sees one committed state. A write is acknowledged once it is synced
    to the disk.

    Args:
        path: a file, created if it does not exist, or ":memory:".
        busy_seconds: seconds that a write waits for other processes.
        reached: failpoint hook, called with the name of each point that is passed; tests fail there.
        vfs: the name of a registered SQLite VFS; tests record writes with it.
        steps: the migrations; tests of migrations replace them.

    Raises:
        StoreError: a subclass that says what to do; files of other programs are never changed.
    """

    def _store_in_turn(self, token: int, held: "CachedIndex", *, keep: bool) -> None:
        if self.name != MEMORY:  # indexes of a database in RAM are not stored
            super()._store_in_turn(token, held, keep=keep)

    def _store_evicted(self) -> None:
        with self._never_waiting():  # a search never waits for a writer: the index is dropped instead
            super()._store_evicted()

    def _store(self, token: int, held: "CachedIndex", *, wait: bool = False, keep: bool = False) -> bool:
        if not keep:
            return super()._store(token, held, wait=wait)
        with self._never_waiting():
            return super()._store(token, held, keep=True)

    @contextmanager
    def _never_waiting(self) -> Iterator[None]:
        """Inside the guard, fail at once where another process writes."""
        with self._guard:
            self._db.set_busy_timeout(0)
            try:
                yield
            finally:
                self._db.set_busy_handler(busy_handler(self._busy_seconds))

    def _stop_waiting(self) -> None:
        self._busy_seconds = 0.0  # a search of another thread may be about to restore the handler
        with self._guard:
            self._db.set_busy_timeout(0)

    def _release_to_writers(self) -> None:
        time.sleep(2 * STEP_SECONDS)  # waiting writers try at this interval

    def _stored_arrays(self, token: int, size: int) -> "NDArray[np.uint8]":
        arrays = np.empty(size, dtype=np.uint8)
        with self._db.blob_open("main", "snapshots", "arrays", token, False) as blob:
            blob.read_into(arrays.data)  # three times as fast as a query
        return arrays

    def _transaction(self, _scope: str, _run: RunRow | None = None) -> Transaction:
        return Transaction(
            self._db,
            self._reached,
            begun=self._refuse_newer,
            verify=self._verify,
            done=self._count,
            undone=self._tokens.forget,
        )

    def _key_transaction(self) -> Transaction:
        return self._transaction("")

    def _write_hints(self) -> WriteHints | None:
        version, given = self._left
        self._left = (0, None)  # a KeyboardInterrupt can come between COMMIT and `_keep_hints`
        return given if self._db.data_version("main") == version else None

    def _keep_hints(self, given: WriteHints | None) -> None:
        self._left = self._version, given

    def _verify(self) -> None:
        self._files.verify()
        self._log.before_commit(self._db)

    def _count(self) -> None:
        self._commits += 1
        # Read before the mark is taken back, which would read what other processes have committed meanwhile: the next row keys
        # would count as unused, and a row of theirs would be overwritten.
        self._version = self._db.data_version("main")
        self._log.after_commit(self._db)
