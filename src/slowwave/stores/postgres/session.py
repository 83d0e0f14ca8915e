"""One thread's use of a pooled connection: transactions that say whose rows they see, in as few round trips as can be."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, count, repeat
from typing import Any, Final

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from slowwave.stores.connection import ConstraintError, Values, WriteHints
from slowwave.stores.postgres.opening import READING, WRITING, TransactionSettings
from slowwave.stores.postgres.pool import Pool, RawConnection
from slowwave.stores.postgres.rows import NOTHING, Reply, Rows
from slowwave.stores.postgres.wire import Statement, Stream
from slowwave.stores.postgres.words import APART, STRICT, plain, together, words
from slowwave.stores.sql import SQL, bounds

_COMMIT: Final = b"COMMIT"
_ONE: Final = b"SELECT 1"
_UNCHANGED: Final = b"""
SELECT CAST(CASE WHEN EXISTS (SELECT 1 FROM journal WHERE scope = $1 AND key > $2 AND key <= $3)
    THEN 'harmless: another wrote to this scope of Slowwave meanwhile, it is read and written again'
    ELSE '1' END AS integer)
"""
"""Ends the transaction if the journal of a scope goes on after this key, by text that is no number: servers log it."""

_numbers = count()

_FEW: Final = 16
"""Rows that may wait to be sent with what comes after them; more are sent at once."""

_SETTLED: Final = frozenset({TransactionStatus.IDLE, TransactionStatus.INTRANS})
_WRONG: Final = (errors.UniqueViolation, errors.InvalidTextRepresentation, errors.InvalidSqlStatementName)
"""What ends a guess: a row that was there, the proof, or a server that does not know what it had prepared."""

_GONE: Final = "08006"
_KNOWN: Final = SQL["known_message"]
_ENDED: Final = frozenset({"08", "57"})
"""Classes of SQLSTATE: connection exceptions, and the operator's interventions."""


class RetryTransaction(Exception):  # noqa: N818  # not an error: whoever wrote does the same once more
    """It did not happen: another has written first, or the connection was lost before the server heard of it."""


class Session:
    """A connection as the shared code uses it.

    A transaction begins with the first statement that needs an answer, in the same round trip as the settings that say
    whose rows it may see: they end with it, so that a pooled connection carries nothing over, a pooler between us and
    the server included. Without `write` each read is a transaction, or after `hold` all reads are one. Writes that give
    no answer wait, and travel with the next statement that does, or with COMMIT; in a stream they do not even wait.

    Args:
        pool: where connections come from.
        opening: how transactions begin, and how long others are waited for.

    Attributes:
        clash: what it raises for a row that is not accepted.
        guesses: whether a write may guess from what the last one left.
        guess: what this one takes for known, because the last one left it so.
    """

    clash: type[Exception] = ConstraintError

    def __init__(self, pool: Pool, opening: TransactionSettings) -> None:
        self._pool = pool
        self._opening = opening
        self._raw: RawConnection | None = None
        self.guesses = True
        self._forget()

    def _forget(self) -> None:
        self._begun = self._every = False
        self.guess: WriteHints | None = None
        self._visible: list[int] = []
        self._path: str | None = None
        self._steady = False
        self._writes = False
        self._lock: int | None = None
        self._waiting: list[Statement] = []
        self._apart = True
        self._stream: Stream | None = None

    # ---- whose rows

    def see(self, token: int) -> None:
        """The rows of this scope too, until the transaction ends."""
        if token not in self._visible:
            self._visible.append(token)
            if self._begun:
                self._wait(b"SELECT set_config('slowwave.scopes', $1, true)", [[self._seen]])

    def see_path(self, path: str) -> None:
        """The row of `scopes` of this path too."""
        self._path = path
        if self._begun:
            self._wait(b"SELECT set_config('slowwave.path', $1, true)", [[path]])

    def see_every_scope(self) -> None:
        """All rows of the store, until the transaction ends: for checks and upkeep of the whole."""
        self._every = True
        if self._begun:
            self._wait(b"SELECT set_config('slowwave.every_scope', 'on', true)", [[]])

    @property
    def _seen(self) -> str:
        return ",".join(map(str, self._visible))

    # ---- transactions

    def write(self, token: int | None, left: WriteHints | None = None, *, blind: bool = False) -> None:
        """Begin to write to a scope, alone, perhaps guessing from what the last write to it left.

        Others may have written since: the server proves that nothing was journaled, and that a message that is taken
        for new is new, its index does. Who guesses and asks nothing more (`blind`) sends each statement as it is made.
        """
        if self._raw is not None:
            self.end()
        self._writes, self._lock, self.guess = True, token, left if self.guesses else None
        self._visible = [] if token is None else [token]
        if blind and self.guess is not None:
            self._stream = Stream(self._taken())
            for text, values in ((WRITING, ()), *self._before()):
                self._stream.put(text, [values])
            self._begun = True
            self._stream.flush()

    def hold(self) -> None:
        """Read one committed state from here on."""
        self._steady = True

    def lost(self, error: psycopg.OperationalError) -> bool:
        """Whether this error means that the connection has ended, and with it the transaction."""
        if self._raw is None:
            return False
        state = error.sqlstate or _GONE
        if state[:2] in _ENDED and not isinstance(error, errors.QueryCanceled):
            self._raw.close()  # the server says so before the socket does
        return bool(self._raw.closed)

    def commit(self) -> None:
        """Make it last.

        Raises:
            Again: a guess was wrong.
        """
        if self._begun or self._waiting:
            if self._stream is None:
                self._send(_COMMIT)
            else:
                self._stream.put(_COMMIT, [()])
                self._join()
            if self._raw is None or self._raw.pgconn.transaction_status != TransactionStatus.IDLE:
                raise psycopg.OperationalError("the server did not say that it has committed")
        self._forget()

    def end(self) -> None:
        """Let go of what was not committed."""
        self._undone()
        self._forget()

    def _undone(self) -> None:
        raw = self._raw
        if self._stream is not None:
            with suppress(psycopg.Error, RetryTransaction):
                self._join()
        if raw is not None and (status := raw.pgconn.transaction_status) != TransactionStatus.IDLE and not raw.closed:
            try:
                if status == TransactionStatus.INERROR or self._writes:
                    _rolled_back(raw, b"ROLLBACK")
                else:
                    raw.execute(_COMMIT, prepare=False)
            except psycopg.OperationalError:
                raw.close()

    def leave(self) -> None:
        """Give the connection back."""
        self._undone()
        self._given_back()
        self._forget()
        self.guesses = True

    def _given_back(self) -> None:
        if self._raw is not None:
            self._pool.give(self._raw)
            self._raw = None

    def _settings(self) -> Statement:
        """What a transaction is told to begin with."""
        if self._lock is not None and [self._lock] == self._visible and self._path is None and not self._every:
            return self._opening.alone(self._lock)
        seen = {"slowwave.scopes": self._seen}
        if self._every:
            seen["slowwave.every_scope"] = "on"
        if self._path is not None:
            seen["slowwave.path"] = self._path
        if self._writes:
            return self._opening.writing(seen, self._lock)
        return self._opening.reading(seen)

    def _before(self) -> Iterator[Statement]:
        """What the server is to be told before it is asked."""
        proof: Statement = _ONE, ()
        if not self._begun:
            yield self._settings()
            if self.guess is not None:
                token = self.guess.token
                proof = _UNCHANGED, (token, self.guess.journal, bounds(token)[1])
        if len(self._waiting) > 1 and self._apart:
            texts, values = zip(*self._waiting, strict=True)
            yield together(texts, proof[0]), [*chain.from_iterable(values), *proof[1]]
            return
        if proof[1]:
            yield proof
        yield from self._waiting

    def _taken(self) -> RawConnection:
        if self._raw is not None and self._raw.closed:
            self._given_back()
        if self._raw is None:
            self._raw = self._pool.take(self._opening.patience)
        return self._raw

    def _send(self, text: bytes, values: Sequence[Any] = ()) -> Reply:
        """What waits and then this, in one round trip."""
        self._join()
        ends = time.monotonic() + self._opening.patience
        if self._begun and (self._raw is None or self._raw.closed):
            raise psycopg.OperationalError("the connection was lost, and the transaction with it")
        while True:
            raw = self._taken()
            # What is sent at once is one transaction without being told.
            alone = not (self._begun or self._writes or self._steady)
            begin = () if self._begun or alone else ((WRITING if self._writes else READING, ()),)
            try:
                reply = _sent(raw, [*begin, *self._before(), (text, values)])
            except psycopg.OperationalError as error:
                # A connection may have died while it was idle. What was begun on it is gone, and another one will do,
                # unless it may have committed.
                if self._begun or text == _COMMIT or not self.lost(error) or time.monotonic() > ends:
                    raise
            except _WRONG as error:
                self._heard(begun=True)
                if self.guess is not None:
                    raise RetryTransaction from error
                raise
            else:
                self._heard(begun=not alone)
                return reply

    def _join(self) -> None:
        """The end of a stream: from here on the transaction waits for answers."""
        stream, self._stream = self._stream, None
        if stream is not None:
            try:
                stream.end()
            except _WRONG as error:
                raise RetryTransaction from error

    def _wait(self, text: bytes, rows: Sequence[Sequence[Any]], *, apart: bool = False) -> None:
        if self._stream is not None:
            self._stream.put(text, rows)
            return
        self._apart = self._apart and apart
        self._waiting.extend(zip(repeat(text), rows))

    def _heard(self, *, begun: bool) -> None:
        self._begun, self._apart = begun, True
        self._waiting.clear()

    # ---- statements

    def execute(self, statement: str, values: Values = (), /) -> Rows:
        """Run one statement; `?` and `:name` stand for values."""
        if self.guess is not None and statement == _KNOWN:
            return NOTHING
        said = words(statement)
        if not said.answers:
            self._write(statement, [values])
            return NOTHING
        return Rows(self._send(said.text, said.values(values)))

    def executemany(self, statement: str, rows: Iterable[Values], /) -> None:
        """Run one statement for every row of values. Raises Clash if one is not accepted."""
        gathered = list(rows)
        if gathered:
            self._write(statement, gathered)
            if self._stream is not None and statement in STRICT:
                self._stream.flush()  # it keeps the server busy until the rest comes

    def _write(self, statement: str, rows: Sequence[Values]) -> None:
        strict = statement in STRICT
        said = plain(statement) if strict and self.guess is not None else words(statement)
        wanted: Any = rows if isinstance(rows[0], tuple) else [said.values(values) for values in rows]
        if statement.startswith("UPDATE memories") and ("phase =" in statement or "content =" in statement):
            self._carefully(said.text, wanted[0])
        elif strict and self.guess is None:
            if self._counted(said.text, wanted) != len(rows):
                raise ConstraintError("a row clashes with one that is stored")
        elif len(rows) > _FEW:
            self._counted(said.text, wanted)
        else:
            self._wait(said.text, wanted, apart=statement in APART)

    def _counted(self, text: bytes, rows: Sequence[Sequence[Any]]) -> int:
        """Write at once. Returns how many rows were."""
        self._join()
        if len(rows) == 1:
            return self._send(text, rows[0]).rowcount
        if self._waiting or not self._begun:
            self._send(_ONE)
        cursor = self._taken().cursor(binary=True)
        try:
            cursor.executemany(text, rows)
        except _WRONG as error:
            if self.guess is not None:
                raise RetryTransaction from error
            raise
        return cursor.rowcount

    def _carefully(self, text: bytes, values: Sequence[Any]) -> None:
        """A row's new values may clash, and the transaction is to go on."""
        self._wait(b"SAVEPOINT before", [[]])
        self._wait(text, [values])
        try:
            self._send(b"RELEASE SAVEPOINT before")
        except errors.UniqueViolation as error:
            _rolled_back(self._taken(), b"ROLLBACK TO SAVEPOINT before")
            raise ConstraintError(str(error)) from error


def _sent(raw: RawConnection, statements: Sequence[Statement]) -> Reply:
    """One after the other without waiting for answers between them; the answer of the last. The first error is raised."""
    cursor = raw.cursor(binary=True)
    if len(statements) == 1:
        return _run(cursor, *statements[0])
    failed: psycopg.Error | None = None
    try:
        with raw.pipeline():
            try:
                for text, values in statements:
                    _run(cursor, text, values)
            except psycopg.Error as error:  # leaving the pipeline would write that it was aborted into the log
                failed = error
    except psycopg.Error as error:
        failed = failed or error
    if failed is not None:
        raise failed
    if raw.pgconn.transaction_status not in _SETTLED:
        raise psycopg.OperationalError("the server has not answered to the end")
    return cursor


def _rolled_back(raw: RawConnection, text: bytes) -> None:
    """Roll back after an error, perhaps: what was prepared behind it never reached the server.

    psycopg has the server forget all that is prepared after a statement that it has not seen before and that rolls
    back: a number makes it one.
    """
    raw.prepared.clear()
    raw.execute(b"%s -- %d" % (text, next(_numbers)), prepare=False)


def _run(cursor: Reply, text: bytes, values: Sequence[Any]) -> Reply:
    return cursor.execute(text, values or None, prepare=None if values else False)
