"""One thread's use of a pooled connection: transactions that name the scopes they see, in few round trips."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from slowwave.model.codec import dumps
from slowwave.model.memory import HOT
from slowwave.stores.connection import ConstraintError, Values, WriteHints
from slowwave.stores.postgres.opening import READING, WRITING, TransactionSettings
from slowwave.stores.postgres.pool import Pool, RawConnection
from slowwave.stores.postgres.rows import NOTHING, FetchedRows, Rows
from slowwave.stores.postgres.statements import DIALECT, STATEMENTS, Query, Statement, update_of_memory
from slowwave.stores.postgres.wire import Reply, Stream, exchanged
from slowwave.stores.sql import bounds
from slowwave.telemetry import child

_COMMIT: Final = Query(b"COMMIT")
_NO_OPERATION: Final = Query(b"SELECT 1")
_JOURNAL_GREW: Final = b"SELECT EXISTS (SELECT 1 FROM journal WHERE scope = $1 AND key > $2 AND key <= $3)"
"""Whether another session has written to a scope since the write that left the hints."""

_GREW_OR_HELD: Final = (
    b"SELECT EXISTS (SELECT 1 FROM journal WHERE scope = $1 AND key > $2 AND key <= $3) "
    b"OR EXISTS (SELECT 1 FROM held WHERE scope = $1 "
    b"AND content IN (SELECT jsonb_array_elements_text(CAST($4 AS jsonb))))"
)
"""The same, or whether one of the keys is suppressed."""

_CHECKS: Final = frozenset({_JOURNAL_GREW, _GREW_OR_HELD})

_TRUE: Final = b"t"  # in libpq's text format

_UNIQUE: Final = frozenset({"content", "conversation", "ref"})
"""Columns of a memory in a unique index that a change can violate. It may also become hot, and hot facts are unique."""

Key: TypeAlias = tuple[bytes, tuple[object, ...]]

_numbers = count()

_DEFERRED_MAX: Final = 16
"""Rows of one statement that may wait to be sent with the next statement; more are sent at once."""

_SETTLED: Final = frozenset({TransactionStatus.IDLE, TransactionStatus.INTRANS})
_OUTDATED: Final = (errors.UniqueViolation, errors.InvalidSqlStatementName)
"""Errors of a write that relied on outdated hints: a row exists, or the server lost its prepared statements."""

_UNCONTENDED: Final = 0.05
"""Seconds that count as no wait, so that most writes begin with settings that are prepared."""
_CONNECTION_FAILURE: Final = "08006"
_ENDED: Final = frozenset({"08", "57"})
"""Classes of SQLSTATE: connection exceptions, and the operator's interventions."""


class RetryTransaction(Exception):  # noqa: N818  # no error: the caller repeats the transaction
    """The transaction was not committed: its hints were outdated, or the connection was lost before COMMIT was sent."""


class Session:
    """The connection of one thread, as the shared code uses it.

    A transaction begins with the first statement that returns rows. BEGIN and the settings that name the visible scopes
    travel in the same round trip; the settings end with the transaction, so that a pooled connection, or a pooler
    between client and server, carries nothing over. Without `write` each read is a transaction; after `hold` all reads
    are one. Statements that return no rows wait, and are sent in a pipeline with the next one that does, or at the end.
    A stream sends them as they come, so that the server works while the client prepares the next.

    Args:
        pool: where connections come from.
        opening: how transactions begin, and how long other writers are waited for.

    Attributes:
        clash: the error of a row that is refused.
        dialect: how Postgres words composed statements.
        uses_hints: whether a write may rely on the hints of the last one.
        hints: the hints that this write relies on.
    """

    clash: type[Exception] = ConstraintError
    dialect = DIALECT

    def __init__(self, pool: Pool, opening: TransactionSettings) -> None:
        self._pool = pool
        self._opening = opening
        self._raw: RawConnection | None = None
        self.uses_hints = True
        self._reset()

    def _reset(self) -> None:
        self._begun = self._every_scope = False
        self.hints: WriteHints | None = None
        self._unless_held: tuple[str, ...] = ()
        self._visible: list[int] = []
        self._path: str | None = None
        self._holds = False
        self._writes = False
        self._lock: int | None = None
        self._waiting: list[Query] = []
        self._stream: Stream | None = None
        self._may_stream = False
        self._ahead: list[Query] = []
        self._answers: dict[Key, FetchedRows] = {}
        self._last_trip = False
        self._plans_anew = False
        self._waited = 0.0

    @property
    def _patience(self) -> float:
        """Seconds to wait for a connection and for locks, without those that the write has waited already."""
        return max(0.0, self._opening.patience - self._waited)

    # ---- reading ahead

    def read_ahead(self, name: str, values: Values) -> None:
        """Send the statement of this name with the next one, and keep its rows until it is run."""
        statement = STATEMENTS[name]
        if not (statement.skipped_with_hints and self.hints is not None):
            self.ask_ahead(statement.with_values(values))

    def ask_ahead(self, query: Query) -> None:
        """The same for a composed statement. It does nothing unless later reads see the same rows.

        They do in a read of one committed state (`hold`), and in a write until it sends its first statement: the lock of
        the scope keeps other writers away.
        """
        is_settled = not (self._begun or self._may_stream) if self._writes else self._holds
        if is_settled and _key(query) not in self._answers:
            self._ahead.append(query)

    def end_with_next(self) -> None:
        """Send COMMIT with the next statement that returns rows, and give the connection back after it.

        The rows that were read ahead stay; what is read later is read in further transactions.
        """
        self._last_trip = True

    def together(self, queries: Sequence[Query]) -> list[Rows]:
        """Run statements that return rows from one committed state, in one round trip.

        Outside a transaction they are one of their own, which ends in the same round trip.
        """
        if self._holds or self._answers or self._last_trip:
            for query in queries:
                self.ask_ahead(query)
            return [self._answer(query) for query in queries]
        if self._writes or len(queries) <= 1:
            return [Rows(reply) for reply in (self._send(list(queries)) if queries else ())]
        self._holds = True
        try:
            replies = self._send([*queries, _COMMIT])
            self._begun = False
        finally:
            self._holds = False
        return [Rows(reply) for reply in replies[:-1]]

    def _answer(self, query: Query) -> Rows:
        """Run a statement that returns rows, together with those that were read ahead, unless its rows are here already."""
        if not (self._holds or self._ahead or self._answers or self._last_trip):
            return Rows(self._send([query])[0])
        key = _key(query)
        if (found := self._answers.pop(key, None)) is not None:
            return Rows(found)
        ahead = [one for one in self._ahead if _key(one) != key]
        self._ahead = []
        last = [_COMMIT] if self._last_trip else []
        replies = self._send([*ahead, query, *last])
        self._answers |= {_key(one): FetchedRows(reply.fetchall()) for one, reply in zip(ahead, replies, strict=False)}
        if last:
            answers = self._answers
            self._return_connection()
            self._reset()
            self._answers = answers
        return Rows(replies[len(ahead)])

    # ---- visible scopes

    def see(self, token: int) -> None:
        """Make the rows of this scope visible until the transaction ends."""
        if token not in self._visible:
            self._visible.append(token)
            if self._begun:
                self._defer([Query(b"SELECT set_config('slowwave.scopes', $1, true)", [self._visible_setting])])

    def see_path(self, path: str) -> None:
        """Make the row of `scopes` with this path visible until the transaction ends."""
        self._path = path
        if self._begun:
            self._defer([Query(b"SELECT set_config('slowwave.path', $1, true)", [path])])

    def see_every_scope(self) -> None:
        """Make all rows of the store visible until the transaction ends: for checks and upkeep of the whole store."""
        self._every_scope = True
        if self._begun:
            self._defer([Query(b"SELECT set_config('slowwave.every_scope', 'on', true)")])

    @property
    def _visible_setting(self) -> str:
        return ",".join(map(str, self._visible))

    # ---- transactions

    def write(
        self,
        token: int | None,
        hints: WriteHints | None = None,
        *,
        stream: bool = False,
        unless_held: tuple[str, ...] = (),
        waited: float = 0.0,
    ) -> None:
        """Begin a write to a scope under its lock, perhaps relying on the hints of the last write to it.

        Another session may have written since. The server checks in the first round trip that the journal did not grow;
        a row that exists already is left out and noticed before COMMIT is sent. With `stream`, and if there are hints,
        each statement is sent as it comes, unless one that returns rows came first. The hints also count as outdated if
        one of the keys `unless_held` is suppressed. `waited` are the seconds that the write has waited for its turn in this
        process: the server waits only for the rest of `lock_seconds`.
        """
        if self._raw is not None:
            self.end()
        self._writes, self._lock, self.hints = True, token, hints if self.uses_hints else None
        self._visible = [] if token is None else [token]
        self._may_stream = stream and self.hints is not None
        self._unless_held = unless_held
        self._waited = waited if waited > _UNCONTENDED else 0.0

    def hold(self) -> None:
        """Read one committed state from here on."""
        self._holds = True

    def plan_anew(self) -> None:
        """Let the server plan the statements of this read for their values, as in a search of a large scope."""
        self._plans_anew = True

    def lost(self, error: psycopg.OperationalError) -> bool:
        """Whether this error means that the connection has ended, and its transaction with it."""
        if self._raw is None:
            return False
        state = error.sqlstate or _CONNECTION_FAILURE
        if state[:2] in _ENDED and not isinstance(error, errors.QueryCanceled):
            self._raw.close()  # the server reports it before the socket does
        return bool(self._raw.closed)

    def commit(self) -> None:
        """Commit.

        Raises:
            RetryTransaction: the hints were outdated.
        """
        streamed = self._stream is not None
        self._join()
        if self.hints is not None or any(query.strict for query in self._waiting):
            self._send_waiting()  # COMMIT must not be sent before the counts are known
        if streamed:
            self._stream = Stream(self._same_connection())
            self._stream.put([_COMMIT])
            self._join()
        elif self._begun or self._waiting:
            self._send([_COMMIT])
            if self._raw is None or self._raw.pgconn.transaction_status != TransactionStatus.IDLE:
                raise psycopg.OperationalError("the server did not confirm the commit")
        self._reset()

    def end(self) -> None:
        """Roll back what was not committed."""
        self._end_transaction()
        self._reset()

    def _end_transaction(self) -> None:
        raw = self._raw
        if self._stream is not None:
            with suppress(psycopg.Error, RetryTransaction):
                self._join()
        if raw is not None and (status := raw.pgconn.transaction_status) != TransactionStatus.IDLE and not raw.closed:
            try:
                if status == TransactionStatus.INERROR or self._writes:
                    _roll_back(raw, b"ROLLBACK")
                else:
                    raw.execute(_COMMIT.text, prepare=False)
            except psycopg.OperationalError:
                raw.close()

    def leave(self) -> None:
        """End the use of the session: give the connection back to the pool."""
        self.give_back()
        self.uses_hints = True

    def give_back(self) -> None:
        """Roll back what was not committed, and give the connection back; the next statement takes another one."""
        self._end_transaction()
        self._return_connection()
        self._reset()

    def abandon(self) -> None:
        """Close the connection, whatever it does now. The server rolls back what was not committed."""
        self._pool.drop(self)
        self._raw = None
        self._reset()
        self.uses_hints = True

    def _return_connection(self) -> None:
        if self._raw is not None:
            self._pool.give(self)
            self._raw = None

    def _settings(self) -> Query:
        """The settings of the transaction."""
        if self._lock is not None and [self._lock] == self._visible and self._path is None and not self._every_scope:
            return self._opening.alone(self._lock, self._patience)
        visible = {"slowwave.scopes": self._visible_setting}
        if self._every_scope:
            visible["slowwave.every_scope"] = "on"
        if self._path is not None:
            visible["slowwave.path"] = self._path
        if self._writes:
            return self._opening.writing(visible, self._lock, self._patience)
        if self._raw is not None and self._raw.keeps_plans and not self._plans_anew:
            visible["plan_cache_mode"] = "force_generic_plan"
        return self._opening.reading(visible)

    def _beginning(self) -> Iterator[Query]:
        """What begins the transaction, and the check of the hints as its last query."""
        if self._begun:
            return
        # Queries that are sent in one pipeline are one transaction without BEGIN.
        if self._writes or self._holds:
            yield Query(WRITING if self._writes else READING)
        yield self._settings()
        if self._writes:
            yield self._opening.refusal
        if self.hints is not None:
            token = self.hints.token
            values = (token, self.hints.journal, bounds(token)[1])
            if self._unless_held:
                yield Query(_GREW_OR_HELD, (*values, dumps(self._unless_held)))
            else:
                yield Query(_JOURNAL_GREW, values)

    def _connection(self) -> RawConnection:
        if self._raw is not None and self._raw.closed:
            self._return_connection()
        if self._raw is None:
            self._raw = self._pool.take(self, self._patience)
        return self._raw

    def _same_connection(self) -> RawConnection:
        """The connection of a transaction that has begun."""
        if self._raw is None or self._raw.closed:
            raise psycopg.OperationalError("the connection was lost, and the transaction with it")
        return self._raw

    def _send_waiting(self) -> None:
        """Send the statements that wait, and check what they inserted."""
        if self._waiting:
            self._send([self._waiting.pop()])

    @child("slowwave.store.round_trip")
    def _send(self, asked: list[Query]) -> list[Reply]:
        """Send the statements that wait and then these, in one round trip. Returns the replies to these."""
        self._join()
        ends = time.monotonic() + self._patience
        if self._begun:
            self._same_connection()
        while True:
            raw = self._connection()
            if self.hints is not None and not raw.used:
                raise RetryTransaction  # it may lead to a standby that took over and lacks the write that left them
            beginning = list(self._beginning())
            queries = [*beginning, *self._waiting, *asked]
            try:
                replies = _pipelined(raw, queries)
            except psycopg.OperationalError as error:
                # A connection may have died while it was idle. Its transaction is gone, so another connection will do,
                # unless the transaction may have been committed.
                if self._begun or asked == [_COMMIT] or not self.lost(error) or time.monotonic() > ends:
                    raise
            except _OUTDATED as error:
                self._sent(begun=True)
                if self.hints is not None:
                    raise RetryTransaction from error
                raise
            else:
                self._sent(begun=self._begun or self._writes or self._holds)
                if beginning and self.hints is not None and _value(replies[len(beginning) - 1]):
                    raise RetryTransaction
                self._check_inserted(queries, replies)
                return replies[-len(asked) :]

    def _defer(self, queries: Sequence[Query]) -> None:
        """Send statements with the next one that returns rows, or now in a stream."""
        if self._may_stream and not self._begun and (raw := self._connection()).used:
            self._stream = Stream(raw)
            self._stream.put(self._beginning())
            self._stream.flush()
            self._begun = True
        if self._stream is None:
            self._waiting += queries
        else:
            self._stream.put(queries)

    def _join(self) -> None:
        """End the stream: wait for its replies, and check them.

        Raises:
            RetryTransaction: the hints were outdated.
        """
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            replies = stream.end()
        except _OUTDATED as error:
            raise RetryTransaction from error
        if any(
            reply.get_value(0, 0) == _TRUE if query.text in _CHECKS else query.strict and reply.command_tuples != 1
            for query, reply in replies
        ):
            raise RetryTransaction

    def _sent(self, *, begun: bool) -> None:
        if self._raw is not None:
            self._raw.trips += 1
        self._begun = begun
        self._waiting.clear()

    def _check_inserted(self, queries: Sequence[Query], replies: Sequence[Reply]) -> None:
        for query, reply in zip(queries, replies, strict=True):
            if query.strict and reply.rowcount != 1:
                self._refuse(query)

    def _refuse(self, query: Query) -> None:
        """Raise what a row that clashes with a stored one means."""
        if self.hints is not None:
            raise RetryTransaction
        raise (errors.UniqueViolation if query.deferred else ConstraintError)("a row clashes with one that is stored")

    # ---- statements

    def run(self, name: str, values: Values = (), /) -> Rows:
        """Run the statement of this name: values in order, or by the names of its parameters."""
        statement = STATEMENTS[name]
        if statement.returns_rows:
            if statement.skipped_with_hints and self.hints is not None:
                return NOTHING
            return self._answer(statement.with_values(values))
        self._write(statement, [statement.with_values(values)])
        return NOTHING

    def run_many(self, name: str, rows: Iterable[Values], /) -> None:
        """Run the statement of this name for each row of values. Raises ConstraintError if a row is refused."""
        statement = STATEMENTS[name]
        queries = [statement.with_values(values) for values in rows]
        if queries:
            self._write(statement, queries)

    def update_memory(self, columns: tuple[str, ...], values: Sequence[Any], key: int, /) -> None:
        """Write these columns of a memory. Raises ConstraintError if its new values are refused; the transaction goes on."""
        update = Query(update_of_memory(columns), (*values, key))
        if not _may_clash(dict(zip(columns, values, strict=True))):
            self._defer([update])
            return
        self._defer([Query(b"SAVEPOINT before"), update])
        try:
            self._send([Query(b"RELEASE SAVEPOINT before")])
        except errors.UniqueViolation as error:
            _roll_back(self._connection(), b"ROLLBACK TO SAVEPOINT before")
            raise ConstraintError(str(error)) from error

    def execute(self, text: str, values: Sequence[Any] = (), /) -> Rows:
        """Run a composed statement; $1, $2 … are its values."""
        return self._answer(Query(text.encode(), values))

    def executemany(self, text: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Run a composed statement for each row of values."""
        gathered = list(rows)
        if gathered:
            self._execute_many(text.encode(), gathered)

    def _write(self, statement: Statement, queries: list[Query]) -> None:
        if len(queries) > _DEFERRED_MAX:
            inserted = self._execute_many(statement.text, [query.values for query in queries])
            if statement.strict and inserted != len(queries):
                self._refuse(queries[0])
            return
        self._defer(queries)
        if self._stream is not None and not statement.deferred:
            self._stream.flush()  # the server inserts the memories while the client makes their journal rows
        elif not (statement.deferred or self.hints is not None):
            self._send_waiting()

    def _execute_many(self, text: bytes, rows: Sequence[Sequence[Any]]) -> int:
        """Run a statement for each row of values at once. Returns how many rows were written."""
        self._join()
        self._send_waiting()
        if not self._begun:
            self._send([_NO_OPERATION])
        cursor = self._connection().cursor(binary=True)
        try:
            cursor.executemany(text, rows)
        except _OUTDATED as error:
            if self.hints is not None:
                raise RetryTransaction from error
            raise
        return cursor.rowcount


def _pipelined(raw: RawConnection, queries: Sequence[Query]) -> list[Reply]:
    """Send all of it without waiting for the replies in between. The first error is raised."""
    replies = exchanged(raw, queries)
    if raw.pgconn.transaction_status not in _SETTLED:
        raise psycopg.OperationalError("the server did not answer all statements")
    return replies


def _may_clash(changed: Mapping[str, object]) -> bool:
    """Whether a unique index may refuse the new values of a memory. One that is archived leaves the indexes."""
    return not _UNIQUE.isdisjoint(changed) or changed.get("phase") in HOT


def _key(query: Query) -> Key:
    """What makes two statements the same: text and values."""
    return query.text, tuple(tuple(value) if isinstance(value, list) else value for value in query.values)


def _value(reply: Reply) -> Any:  # noqa: ANN401  # a scalar of any type
    row = reply.fetchone()
    return row and row[0]


def _roll_back(raw: RawConnection, text: bytes) -> None:
    """Roll back after an error that may have kept the server from preparing what psycopg believes to be prepared.

    psycopg makes the server forget all prepared statements after a ROLLBACK whose text it has not seen before: the
    number makes it one.
    """
    raw.prepared.clear()
    raw.execute(b"%s -- %d" % (text, next(_numbers)), prepare=False)
