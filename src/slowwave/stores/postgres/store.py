"""The store in a Postgres database, which many machines may use at once."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import psycopg
from psycopg import errors

from slowwave.errors import BusyError, ConflictError, DisconnectedError
from slowwave.model.codec import loads
from slowwave.model.operations import Add, Operation
from slowwave.model.plan import Group, Plan
from slowwave.stores.apply import PlanApplier, RunRow
from slowwave.stores.connection import WriteHints
from slowwave.stores.eraser import StalePlanError
from slowwave.stores.model_use import ModelUseRows
from slowwave.stores.postgres.check import PostgresCheck
from slowwave.stores.postgres.reading import SnapshotReader
from slowwave.stores.postgres.session import RetryTransaction
from slowwave.stores.row_transfer import RowTransfer
from slowwave.stores.rows import RUN_COLUMNS
from slowwave.stores.sql import bounds

_ROLLED_BACK: Final = (errors.SerializationFailure, errors.DeadlockDetected)
_TRIES: Final = 4
_SCOPES: Final = 10_000
"""Scopes of which the hints of the last write are kept."""
_FEW: Final = 16
"""The greatest number of memories in a plan whose statements are sent as they come."""
_BECAUSE: Final = RUN_COLUMNS.index("because")


class PostgresStore(PlanApplier, SnapshotReader, RowTransfer, ModelUseRows, PostgresCheck):
    """A store in the schema "slowwave" of one database.

    Each thread has a connection of its own while it reads or writes. Writes to one scope take an advisory lock that
    ends with the transaction, so they wait for each other; writes to different scopes do not. A write is acknowledged
    after the server has flushed it (`synchronous_commit` is turned on if it was off).

    Args:
        url: "postgresql://user:password@host:port/name", with any option of libpq.
        busy_seconds: how long to wait for a connection, for a server that restarts and for other writers, seconds.
        connections: how many connections this process may hold.
        connect_seconds: the time-out of one attempt to connect.
        statement_seconds: after how long the server cancels a statement; None: its own setting.
        idle_transaction_seconds: after how long the server ends a write that sends nothing; None: its own setting.
        application_name: what the server shows of this process, unless the address says it.
        prepared_statements: whether the server prepares statements that are sent again; None: unless it is behind a pooler.
        in_ram: memories of a scope up to which it is searched in RAM; the server searches larger ones. None: all in RAM.
        reached: called with the name of each point that a write passes, so that tests can fail there.
        steps: the migrations; for tests of migrations.

    Raises:
        StoreError: one of its kinds; the message says what to do. A schema of another program is never changed.
        SettingsError: the address is invalid, or the database is not encoded in UTF-8.
    """

    def _apply_group(self, group: Group, plan: Plan, run: RunRow) -> list[Operation]:
        """Apply a group, and apply it again if the server rolled it back or its hints were outdated."""
        for _ in range(_TRIES):
            try:
                return super()._apply_group(group, plan, run)
            except RetryTransaction:
                self._db.uses_hints = False
            except _ROLLED_BACK:
                continue
            except psycopg.OperationalError as error:
                if not self._db.lost(error):
                    raise
                self._db.end()
        try:
            return super()._apply_group(group, plan, run)
        except RetryTransaction as error:
            raise DisconnectedError(f"the connection to {self.name} was lost again and again: try once more") from error

    def _write_hints(self) -> WriteHints | None:
        return self._db.hints

    def _has_written(self, token: int, journal: int) -> bool:
        left = self._left.get(token)
        return left is not None and left.journal > journal

    def _keep_hints(self, given: WriteHints | None) -> None:
        if given is not None:
            self._left[given.token] = given
            while len(self._left) > _SCOPES:
                self._left.pop(next(iter(self._left)), None)  # the scope whose last write is the oldest

    @contextmanager
    def _transaction(self, scope: str, run: RunRow | None = None) -> Iterator[None]:
        """Writers of one scope take turns before they take a connection: a scope that another process locks holds one."""
        session, (token, is_new) = self._db, self._tokens.found_or_created(scope)
        if is_new:
            low = bounds(token)[0]
            self._keep_hints(WriteHints(token=token, memory=low, journal=low, run=low, seqs={}))
        # Hints are used once: of several threads the first takes them, and the others query the last keys.
        hints = None if run is None else self._left.pop(token, None)
        self._pass("apply.before_begin")
        session.give_back()  # a search of the same thread, or an earlier try, may have left it a connection
        asked = time.monotonic()
        with self._writers.hold((scope,), self._opening.patience) as is_free:
            if not is_free:
                raise BusyError(
                    f"other threads of this process kept the scope {scope} in {self.name} locked longer than "
                    "`lock_seconds`: try again; a writer of another process may hold it"
                )
            session.write(
                token,
                hints,
                stream=run is not None and _adds_few(run),
                unless_held=() if run is None else run.plan.unless_held,
                waited=time.monotonic() - asked,
            )
            with self._written(partial(self._commit, scope, token, run)):
                yield

    @contextmanager
    def _key_transaction(self) -> Iterator[None]:
        self._pass("apply.before_begin")
        self._db.write(None)
        with self._written(self._db.commit):
            yield

    @contextmanager
    def _written(self, commit: Callable[[], None]) -> Iterator[None]:
        """Commit what the block writes, or roll it back after an error. After a KeyboardInterrupt the guard does it."""
        try:
            self._pass("apply.begun")
            yield
            self._pass("apply.before_commit")
            commit()
        except Exception as error:
            self._back(error)
            raise
        self._pass("apply.committed")

    def _pass(self, point: str) -> None:
        if self._reached is not None:
            self._reached(point)

    def _back(self, error: BaseException) -> None:
        session = self._db
        had_hints = session.hints is not None
        self._tokens.forget()
        session.end()
        if had_hints and isinstance(error, ConflictError | StalePlanError):
            raise RetryTransaction from error  # the message must rest on stored rows, not on hints

    def _commit(self, scope: str, token: int, run: RunRow | None) -> None:
        """Commit. If the connection is lost meanwhile, the row of the run says whether the commit happened."""
        session = self._db
        try:
            session.commit()
        except psycopg.OperationalError as error:
            if not session.lost(error) or run is None:
                raise
            try:
                session.write(token)  # waits until the lost transaction has ended
                row = self._one("run", (token, run.plan.id))
                session.end()
            except psycopg.OperationalError:
                raise DisconnectedError(
                    f"the connection to {self.name} was lost at the very end of a write to {scope}: whether it was "
                    "stored is not known; look, or write it again with the same ids: it will be stored once"
                ) from error
            if row is None or len(loads(row[_BECAUSE])) <= run.groups:
                raise RetryTransaction from error


def _adds_few(run: RunRow) -> bool:
    """Whether a plan only adds a few memories, so that with hints no statement needs a reply before the end."""
    if len(run.plan.groups) > 1 or run.plan.lease is not None:
        return False
    operations = run.plan.groups[0].operations
    return len(operations) <= _FEW and all(isinstance(operation, Add) for operation in operations)
