"""The connection of a SQLite store, its lock, its caches and its transactions."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

import apsw

from slowwave import forks
from slowwave.stores.connection import StoreBase
from slowwave.stores.migrations import Migration, migrate, migrations
from slowwave.stores.sqlite.file import APPLICATION_ID, MEMORY, Connection, opened, refuse_foreign_log, translated
from slowwave.stores.sqlite.guard import Guard
from slowwave.stores.sqlite.identity import OpenedFiles, inode
from slowwave.stores.sqlite.log_mark import LogMark

if TYPE_CHECKING:
    from slowwave.stores.connection import WriteHints
    from slowwave.stores.tokens import Tokens


_LOG = 11
"""The migration that adds the table of `LogMark`."""


class SqliteBase(StoreBase):
    """An open SQLite file. The arguments are those of `SqliteStore`."""

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
        self._busy_seconds = busy_seconds
        wanted = list(steps or migrations("sqlite"))
        place = None if path == MEMORY or vfs is not None else os.path.abspath(path)  # noqa: PTH100 - keeps symlinks
        before = None if place is None else inode(place)
        self._files = OpenedFiles(path)
        try:
            self._log = LogMark(place)
        except apsw.Error as error:
            raise translated(error, path) from error
        opening = partial(_opened, self._log, busy_seconds=busy_seconds, vfs=vfs, steps=wanted)
        self._gate = Guard(path, opening, wanted[-1][0], self._log.closing)
        try:
            with self._guard:
                if place is not None:
                    refuse_foreign_log(self._db, path)
                migrate(self._db, path, APPLICATION_ID, wanted, reached)
                if self._db.readonly("main"):
                    self.name = f"{path} (read only)"
                if wanted[-1][0] >= _LOG:
                    self._log.opened(self._db)
                if place is not None:
                    log = self._db.filename_wal
                    self._files = OpenedFiles(path, (place, before or inode(place)), (log, inode(log)))
        except BaseException:
            self.close()
            raise
        self._commits = 0
        self._left: tuple[int, WriteHints | None] = (0, None)
        self._version = 0
        self._secret: bytes | None = None
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: drop what was read over the parent's connection."""
        super().after_fork()
        self._left = (0, None)
        self._files.after_fork()

    @property
    def secret(self) -> bytes:
        """32 random bytes created with the file: the key of fence tags in contexts and of the HMAC in exports."""
        if self._secret is None:
            with self._guard:
                self._secret = bytes(self._one("secret", ())[0])
        return self._secret

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._gate.close()

    @property
    def _guard(self) -> AbstractContextManager[None]:
        return self._gate.entered()

    @property
    def _db(self) -> Connection:
        return self._gate.db

    @property
    def _tokens(self) -> "Tokens":
        return self._gate.tokens

    def _refuse_newer(self) -> None:
        self._gate.refuse_newer()

    def _state(self) -> object:
        """`data_version` changes when another connection commits, `_commits` when this one does."""
        return int(self._db.execute("PRAGMA data_version").get), self._commits

    @contextmanager
    def _one_state(self) -> Iterator[None]:
        self._gate.end_transaction()
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")


def _opened(
    log: LogMark, path: str, *, busy_seconds: float, vfs: str | None, steps: list[Migration], create: bool
) -> Connection:
    db = opened(path, busy_seconds=busy_seconds, vfs=vfs, steps=steps, create=create)
    log.watch(db)
    return db


class Transaction:
    """BEGIN IMMEDIATE, then COMMIT or ROLLBACK. A class, because `@contextmanager` costs 5 % of an add.

    Args:
        db: the connection.
        reached: failpoint hook, called with the name of each point that is passed.
        begun: called after BEGIN; an exception rolls back.
        verify: called before COMMIT; an exception rolls back.
        done: called after COMMIT.
        undone: called before ROLLBACK.
    """

    def __init__(
        self,
        db: apsw.Connection,
        reached: Callable[[str], None] | None,
        *,
        begun: Callable[[], None],
        verify: Callable[[], None],
        done: Callable[[], None],
        undone: Callable[[], None],
    ) -> None:
        self._db = db
        self._reached = reached
        self._begun = begun
        self._verify = verify
        self._done = done
        self._undone = undone

    def __enter__(self) -> None:
        if self._reached:
            self._reached("apply.before_begin")
        if self._db.in_transaction:  # see `Guard.end_transaction`
            self._roll_back()
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._begun()
            if self._reached:
                self._reached("apply.begun")
        except BaseException:
            self._roll_back()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._roll_back()
            return
        try:
            if self._reached:
                self._reached("apply.before_commit")
            self._verify()
            self._db.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        self._done()
        if self._reached:
            self._reached("apply.committed")

    def _roll_back(self) -> None:
        self._undone()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
