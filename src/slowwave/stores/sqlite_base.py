"""The open file of the SQLite store: its connection, its lock, and the tokens."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import apsw

from slowwave.errors import ClosedError, CorruptError, InputError
from slowwave.stores.base import StoreBase
from slowwave.stores.migrate import Migration, migrate, migrations
from slowwave.stores.sqlite_file import APPLICATION_ID, MEMORY, Connection, opened, refuse_foreign_log, translated
from slowwave.stores.sqlite_identity import OpenedFiles, inode
from slowwave.stores.statements import SQL
from slowwave.stores.tokens import Tokens

if TYPE_CHECKING:
    from slowwave.stores.base import Given


class SqliteBase(StoreBase):
    """An open file. The arguments are those of `SqliteStore`."""

    def __init__(
        self,
        path: str,
        *,
        busy_seconds: float = 30.0,
        reached: Callable[[str], None] | None = None,
        vfs: str | None = None,
        steps: Sequence[Migration] | None = None,
    ) -> None:
        super().__init__(path)
        self._reached = reached
        wanted = list(steps or migrations("sqlite"))
        place = None if path == MEMORY or vfs is not None else os.path.abspath(path)  # noqa: PTH100 - keeps symlinks
        before = None if place is None else inode(place)
        self._files = OpenedFiles(path)
        try:
            self._opened = opened(path, busy_seconds=busy_seconds, vfs=vfs, steps=wanted)
        except apsw.Error as error:
            raise translated(error, path) from error
        self._guard: Guard = Guard(self._opened, path)
        try:
            with self._guard:
                if place is not None:
                    refuse_foreign_log(self._opened, path)
                migrate(self._opened, path, APPLICATION_ID, wanted, reached)
                self._opened.create_scalar_function("folded", _folded, 1, deterministic=True)
            if place is not None:
                log = self._opened.filename_wal
                self._files = OpenedFiles(path, (place, before or inode(place)), (log, inode(log)))
        except BaseException:
            self.close()
            raise
        if self._opened.readonly("main"):
            self.name = f"{path} (read only)"
        self._named = Tokens(self._opened, {}, {})
        self._commits = 0
        self._left: tuple[int, Given | None] = (0, None)
        self._secret: bytes | None = None

    @property
    def secret(self) -> bytes:
        """32 random bytes made with the file: the key of the marks around contexts."""
        if self._secret is None:
            with self._guard:
                self._secret = bytes(self._one(SQL["secret"], ())[0])
        return self._secret

    def close(self) -> None:
        """Let go of the file. Idempotent."""
        self._guard.close()

    @property
    def _db(self) -> Connection:
        return self._opened

    @property
    def _tokens(self) -> Tokens:
        return self._named

    def _state(self) -> object:
        """SQLite's own count says whether another connection has committed, ours whether we have."""
        return int(self._one("PRAGMA data_version", ())[0]), self._commits

    @contextmanager
    def _one_state(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")


class Transaction:
    """From BEGIN to COMMIT, or back. A class, because a generator in its place costs a twentieth of an add.

    Args:
        db: the connection.
        reached: called with the name of each point that is passed, if anybody wants to know.
        verify: called before COMMIT; what it raises rolls back.
        done: called once it is committed.
        undone: called when it is not.
    """

    def __init__(
        self,
        db: apsw.Connection,
        reached: Callable[[str], None] | None,
        *,
        verify: Callable[[], None],
        done: Callable[[], None],
        undone: Callable[[], None],
    ) -> None:
        self._db = db
        self._reached = reached
        self._verify = verify
        self._done = done
        self._undone = undone

    def __enter__(self) -> None:
        if self._reached:
            self._reached("apply.before_begin")
        self._db.execute("BEGIN IMMEDIATE")
        if self._reached:
            try:
                self._reached("apply.begun")
            except BaseException:
                self._back()
                raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._back()
            return
        try:
            if self._reached:
                self._reached("apply.before_commit")
            self._verify()
            self._db.execute("COMMIT")
        except BaseException:
            self._back()
            raise
        self._done()
        if self._reached:
            self._reached("apply.committed")

    def _back(self) -> None:
        self._undone()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")


class Guard:
    """One thread at a time; SQLite's errors in Slowwave's words."""

    def __init__(self, db: apsw.Connection, path: str) -> None:
        self._db: apsw.Connection | None = db
        self._path = path
        self._lock = threading.RLock()

    def __enter__(self) -> None:  # a lock
        self._lock.acquire()
        if self._db is None:
            self._lock.release()
            raise ClosedError(f"the store {self._path} was closed: open it again")

    def __exit__(  # a lock
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # a lock
        self._lock.release()
        if error is None:
            return
        if isinstance(error, apsw.Error):
            raise translated(error, self._path) from error
        if isinstance(error, UnicodeEncodeError | OverflowError):
            raise InputError(f"{self._path} cannot hold this value ({error})") from error
        if isinstance(error, UnicodeDecodeError):
            raise CorruptError(f"{self._path} is damaged ({error}): restore a backup") from error

    def close(self) -> None:
        """Close the connection, once."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None


def _folded(*values: Any) -> Any:  # noqa: ANN401  # SQLite hands in any value
    return str(values[0]).casefold()
