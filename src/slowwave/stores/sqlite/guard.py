"""The lock around a SQLite connection: one thread at a time, and a new connection in every process."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import apsw

from slowwave import forks
from slowwave.errors import ClosedError, CorruptError, StoreError
from slowwave.stores.migrations import refuse_newer
from slowwave.stores.rows import unreadable
from slowwave.stores.sql import unnamed
from slowwave.stores.sqlite.file import MEMORY, Connection, translated
from slowwave.stores.tokens import Tokens


class Opening(Protocol):
    """A function that opens a file."""

    def __call__(self, path: str, *, create: bool) -> Connection:
        """Open a connection. Without `create` the file must exist."""
        ...


class Guard:
    """Admits one thread at a time to a connection (`entered`), and translates errors of SQLite.

    It opens the connection when a thread first enters, and opens another in a forked child. A fork waits until no
    thread is inside, for `forks.PAUSE_SECONDS` at most.

    Args:
        path: the file, or ":memory:".
        opening: opens the file.
        latest: the newest schema that this program knows.
        closing: called before the connection is closed.

    Attributes:
        db: the connection. Use it inside the guard.
        tokens: the tokens of this connection.
    """

    db: Connection
    tokens: Tokens

    def __init__(self, path: str, opening: Opening, latest: int, closing: Callable[[Connection], None]) -> None:
        self._path = path
        self._latest = latest
        self._closing = closing
        self._secret: bytes | None = None
        self._place: str | None = None
        self._opening = opening
        self._lock = threading.RLock()
        self._open = self._closed = False
        self._refuses = False
        self._held = False
        self._depth = 0
        forks.pause(self)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """The block in which this thread may use the connection."""
        with self._lock:
            if not self._open:
                self._connect()
            outer = self._depth
            self._depth = outer + 1
            try:
                yield
            except BaseException as error:
                if not outer:
                    self.end_transaction()
                meant = (
                    translated(error, self._path) if isinstance(error, apsw.Error) else unreadable(error, self._path)
                )
                if self._open and (isinstance(error, CorruptError) or meant is not None):
                    with suppress(apsw.Error):
                        self.refuse_newer()  # what a newer version wrote is no damage
                if meant is not None:
                    raise meant from error
                raise
            finally:
                self._depth = outer

    def end_transaction(self) -> None:
        """Roll back a transaction that is open because an exception came between two statements, as a KeyboardInterrupt can."""
        if self._open and self.db.in_transaction:
            self.tokens.forget()
            self.db.execute("ROLLBACK")

    def refuse_newer(self) -> None:
        """Raise NewerSchemaError if another process has migrated the file. In a write transaction none can do it any more."""
        refuse_newer(int(self.db.execute("PRAGMA user_version").get), self._latest, self._path)

    def close(self) -> None:
        """Close the connection, once."""
        with self._lock:
            self._closed = True
            if self._open:
                self._open = False
                self._closing(self.db)
                self.db.close()

    def _connect(self) -> None:
        if self._closed:
            raise ClosedError(f"the store {self._path} was closed: open it again")
        if self._refuses or not forks.quiet():
            raise StoreError(
                f"{self._path} cannot be used in this process: it was forked while another thread was using SQLite; "
                "fork before such threads begin, or start the process with the method 'spawn'"
            )
        try:
            if self._place is None:
                self.db = self._opening(self._path, create=True)
                self._place = str(Path(self._path).absolute())  # a forked child may work in another folder
            else:
                self.db = self._opening(self._place, create=False)
        except apsw.Error as error:
            raise translated(error, self._path) from error
        self.db.create_scalar_function("folded", _folded, 1, deterministic=True)
        self.db.create_scalar_function("unnamed", self._unnamed, 1, deterministic=True)
        self.tokens = Tokens(self.db, {}, {})
        self._open = True

    def _unnamed(self, *values: Any) -> str:  # noqa: ANN401  # as below
        if self._secret is None:
            self._secret = bytes(self.db.execute("SELECT secret FROM store").get)
        return unnamed(self._secret, str(values[0]))

    def before_fork(self, ends: float) -> bool:
        """Lock out other threads. Returns False if the child may not close the connection, as within a transaction."""
        self._held = self._lock.acquire(timeout=max(0.0, ends - time.monotonic()))
        return self._held and (not self._open or self.db.txn_state() == apsw.SQLITE_TXN_NONE)

    def after_fork_in_parent(self) -> None:
        """Unlock."""
        if self._held:
            self._held = False
            self._lock.release()

    def after_fork(self) -> None:
        """In the child: drop the parent's connection, so that the next use opens another.

        The parent's connection must be closed before another to the same file is opened: both would share SQLite's
        record of locks, in which the child holds those of its parent, the new connection would take none, and the
        parent would delete the log that the child writes to. SQLite allows a child to close an inherited connection
        without a transaction (test/fork-test.c in its sources); here without a checkpoint, and with the file's
        descriptor taken away first. With a transaction it is never closed: a rollback would change the parent's log.
        """
        self._lock, self._held, self._depth = threading.RLock(), False, 0
        if not self._open or (self._path == MEMORY and forks.quiet()):
            return  # the child has a private copy of a database in RAM
        self._open, self._refuses = False, True
        if not forks.quiet():
            forks.abandon(self.db)
            return
        self.db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self.db.file_control("main", apsw.SQLITE_FCNTL_NULL_IO, 0)
        self.db.close()
        self._refuses = False


def _folded(*values: Any) -> Any:  # noqa: ANN401  # SQLite passes any value
    return str(values[0]).casefold()
