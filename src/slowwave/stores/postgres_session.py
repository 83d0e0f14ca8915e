"""One thread's use of a pooled connection: transactions that say whose rows they see, in as few round trips as can be."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from slowwave.stores.base import Clash, Values
from slowwave.stores.postgres_left import ASKED_FIRST, Left
from slowwave.stores.postgres_pool import Pool, Raw
from slowwave.stores.postgres_words import APART, STRICT, plain, together, words
from slowwave.stores.statements import bounds

LOCK_CLASS: Final = 0x736C7777
""""slww": the class of our advisory locks; the number beside it is a scope's token, 0 for migrations."""

_READING: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITING: Final = b"BEGIN ISOLATION LEVEL READ COMMITTED"
_COMMIT: Final = b"COMMIT"
_ONE: Final = b"SELECT 1"
_UNCHANGED: Final = b"""
SELECT CAST(CASE
    WHEN (SELECT max(key) FROM journal WHERE key BETWEEN $1 AND $2) IS NOT DISTINCT FROM CAST($3 AS bigint) THEN '1'
    ELSE 'harmless: another wrote to this scope of Slowwave meanwhile, it is read and written again' END AS integer)
"""
"""Ends the transaction unless the journal of a scope still ends with this key, by text that is no number: servers log it."""

_numbers = count()

_FEW: Final = 16
"""Rows that may wait to be sent with what comes after them; more are sent at once."""

_SETTLED: Final = frozenset({TransactionStatus.IDLE, TransactionStatus.INTRANS})
_WRONG: Final = (errors.UniqueViolation, errors.InvalidTextRepresentation)
_GONE: Final = "08006"
_ENDED: Final = frozenset({"08", "57"})
"""Classes of SQLSTATE: connection exceptions, and the operator's interventions."""

Reply: TypeAlias = "psycopg.Cursor[tuple[Any, ...]]"
Statement: TypeAlias = tuple[bytes, Sequence[Any]]
Settings: TypeAlias = Mapping[str, str]


class Again(Exception):  # noqa: N818  # not an error: whoever wrote does the same once more
    """It did not happen: another has written first, or the connection was lost before the server heard of it."""


class Rows:
    """What a statement gave."""

    def __init__(self, reply: "Reply | _Known") -> None:
        self._reply = reply

    @property
    def get(self) -> Any:  # noqa: ANN401  # a scalar of any type
        """The first value of the first row, or None."""
        row = self._reply.fetchone()
        return None if row is None else row[0]

    def fetchone(self) -> Any:  # noqa: ANN401  # a row of scalars, or None
        """The next row, or None."""
        return self._reply.fetchone()

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        return self._reply.fetchall()

    def __iter__(self) -> Iterator[Any]:
        """The rows, one after the other."""
        return iter(self._reply)


class _Known:
    """Rows that no server was asked for, or that were looked at already."""

    def __init__(self, rows: Iterable[Any]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def fetchone(self) -> Any:  # noqa: ANN401  # a row of scalars, or None
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        return list(self._rows)


class Session:
    """A connection as the shared code uses it.

    A transaction begins with the first statement that needs an answer, in the same round trip as the settings that say
    whose rows it may see: they end with it, so that a pooled connection carries nothing over, a pooler between us and
    the server included. Without `write` each read is a transaction, or after `hold` all reads are one. Writes that give
    no answer wait, and travel with the next statement that does, or with COMMIT.

    Args:
        pool: where connections come from.
        always: settings of every transaction, by name.
        durable: settings of every writing transaction.
        implicit: whether statements that are sent together are a transaction of the isolation that writes want.
        patience: how long to wait for a connection, for a server that restarts and for other writers, seconds.

    Attributes:
        clash: what it raises for a row that is not accepted.
        guesses: whether a write may guess from what the last one left.
        guessed: whether this one did.
    """

    clash: type[Exception] = Clash

    def __init__(self, pool: Pool, *, always: Settings, durable: Settings, implicit: bool, patience: float) -> None:
        self._pool = pool
        self._implicit = implicit
        self._always = always
        self._durable = durable
        self._patience = patience
        self._raw: Raw | None = None
        self.guesses = True
        self._forget()

    def _forget(self) -> None:
        self._begun = self._every = self.guessed = False
        self._journal: int | None = None
        self._visible: list[int] = []
        self._path: str | None = None
        self._steady = False
        self._writes = False
        self._lock: int | None = None
        self._waiting: list[Statement] = []
        self._apart = True
        self._left = Left()

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

    def write(self, token: int | None, left: Left | None = None) -> None:
        """Begin to write to a scope, alone, perhaps guessing from what the last write to it left."""
        self.end()
        self._writes, self._lock, self._left = True, token, (left if self.guesses else None) or Left()
        self._visible = [] if token is None else [token]

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

    def commit(self) -> Left:
        """Make it last. Returns what the next write to the scope may guess from.

        Raises:
            Again: a guess was wrong.
        """
        if self._begun or self._waiting:
            self._send(_COMMIT)
            if self._raw is None or self._raw.pgconn.transaction_status != TransactionStatus.IDLE:
                raise psycopg.OperationalError("the server did not say that it has committed")
        left = self._left
        self._forget()
        return left

    def end(self) -> None:
        """Let go of what was not committed."""
        raw = self._raw
        if raw is not None and not raw.closed and (status := raw.pgconn.transaction_status) != TransactionStatus.IDLE:
            try:
                if status == TransactionStatus.INERROR:
                    _unprepared(raw)
                else:
                    raw.execute(b"ROLLBACK" if self._writes else _COMMIT, prepare=False)
            except psycopg.OperationalError:
                raw.close()
        self._forget()

    def leave(self) -> None:
        """Give the connection back."""
        self.end()
        self._given_back()

    def _given_back(self) -> None:
        if self._raw is not None:
            self._pool.give(self._raw)
            self._raw = None

    def _opening(self) -> Iterator[Statement]:
        """What a transaction begins with."""
        settings = {"search_path": "slowwave, pg_catalog", **self._always, "slowwave.scopes": self._seen}
        if self._every:
            settings["slowwave.every_scope"] = "on"
        if self._path is not None:
            settings["slowwave.path"] = self._path
        if self._writes:
            settings |= {**self._durable, "lock_timeout": str(int(self._patience * 1000))}
        calls = [f"set_config('{name}', ${place}, true)" for place, name in enumerate(settings, 1)]
        values = [*settings.values()]
        if self._lock is not None:
            calls.append(f"pg_advisory_xact_lock({LOCK_CLASS}, CAST(${len(calls) + 1} AS integer))")
            values.append(str(self._lock))
        yield _WRITING if self._writes else _READING, ()
        yield f"SELECT {', '.join(calls)}".encode(), values

    def _before(self) -> Iterator[Statement]:
        """What the server is to be told before it is asked."""
        proof: Statement = _ONE, ()
        if not self._begun:
            yield from self._opening()
            if self.guessed:
                proof = _UNCHANGED, (*bounds(self._lock or 0), self._journal)
        if len(self._waiting) > 1 and self._apart:
            texts, values = zip(*self._waiting, strict=True)
            yield together(texts, proof[0]), [value for some in (*values, proof[1]) for value in some]
            return
        if proof[1]:
            yield proof
        yield from self._waiting

    def _taken(self) -> Raw:
        if self._raw is not None and self._raw.closed:
            self._given_back()
        if self._raw is None:
            self._raw = self._pool.take(self._patience)
        return self._raw

    def _send(self, text: bytes, values: Sequence[Any] = ()) -> Reply:
        """What waits and then this, in one round trip."""
        ends = time.monotonic() + self._patience
        if self._begun and (self._raw is None or self._raw.closed):
            raise psycopg.OperationalError("the connection was lost, and the transaction with it")
        while True:
            raw = self._taken()
            statements = [*self._before(), (text, values)]
            # What is sent at once is one transaction without being told.
            whole = text == _COMMIT and not self._begun and self._implicit
            alone = not (self._begun or self._writes or self._steady)
            if whole or alone:
                statements = statements[1:-1] if whole else statements[1:]
            try:
                reply = _sent(raw, statements)
            except psycopg.OperationalError as error:
                # A connection may have died while it was idle. What was begun on it is gone, and another one will do,
                # unless it may have committed.
                if self._begun or text == _COMMIT or not self.lost(error) or time.monotonic() > ends:
                    raise
            except _WRONG as error:
                self._heard(begun=True)
                if whole:
                    _unprepared(raw)
                if self.guessed:
                    raise Again from error
                raise
            else:
                self._heard(begun=not alone)
                return reply

    def _wait(self, text: bytes, rows: Sequence[Sequence[Any]], *, apart: bool = False) -> None:
        self._apart = self._apart and apart
        self._waiting += [(text, values) for values in rows]

    def _heard(self, *, begun: bool) -> None:
        self._begun, self._apart = begun, True
        self._waiting.clear()

    # ---- statements

    def execute(self, statement: str, values: Values = (), /) -> Rows:
        """Run one statement; `?` and `:name` stand for values."""
        known = self._left.guess(statement, values) if self._writes and (self.guessed or not self._begun) else None
        if known is not None:
            if not self.guessed:
                self.guessed, self._journal = True, self._left.journal
            return Rows(_Known(known))
        said = words(statement)
        if not said.answers:
            self._write(statement, [values])
            return Rows(_Known(()))
        reply = self._send(said.text, said.values(values))
        if not (self._writes and statement in ASKED_FIRST):
            return Rows(reply)
        row = reply.fetchone()
        self._left.read(statement, values, row)
        return Rows(_Known(() if row is None else (row,)))

    def executemany(self, statement: str, rows: Iterable[Values], /) -> None:
        """Run one statement for every row of values. Raises Clash if one is not accepted."""
        gathered = list(rows)
        if gathered:
            self._write(statement, gathered)

    def _write(self, statement: str, rows: Sequence[Values]) -> None:
        self._left.wrote(statement, rows)
        strict = statement in STRICT
        said = plain(statement) if strict and self.guessed else words(statement)
        wanted = [said.values(values) for values in rows]
        if statement.startswith("UPDATE memories") and ("phase =" in statement or "content =" in statement):
            self._carefully(said.text, wanted[0])
        elif strict and not self.guessed:
            if self._counted(said.text, wanted) != len(rows):
                raise Clash("a row clashes with one that is stored")
        elif len(rows) > _FEW:
            self._counted(said.text, wanted)
        else:
            self._wait(said.text, wanted, apart=statement in APART)

    def _counted(self, text: bytes, rows: Sequence[Sequence[Any]]) -> int:
        """Write at once. Returns how many rows were."""
        if len(rows) == 1:
            return self._send(text, rows[0]).rowcount
        if self._waiting or not self._begun:
            self._send(_ONE)
        cursor = self._taken().cursor(binary=True)
        try:
            cursor.executemany(text, rows)
        except _WRONG as error:
            if self.guessed:
                raise Again from error
            raise
        return cursor.rowcount

    def _carefully(self, text: bytes, values: Sequence[Any]) -> None:
        """A row's new values may clash, and the transaction is to go on."""
        self._wait(b"SAVEPOINT before", [[]])
        self._wait(text, [values])
        try:
            self._send(b"RELEASE SAVEPOINT before")
        except errors.UniqueViolation as error:
            self._send(b"ROLLBACK TO SAVEPOINT before")
            raise Clash(str(error)) from error


def _sent(raw: Raw, statements: Sequence[Statement]) -> Reply:
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


def _unprepared(raw: Raw) -> None:
    """Roll back after an error: what was prepared behind it never reached the server.

    psycopg forgets what it has prepared after a statement that it has not seen before and that rolls back: a number
    makes it one.
    """
    begun = raw.pgconn.transaction_status == TransactionStatus.INERROR
    raw.execute(b"%sROLLBACK -- %d" % (b"" if begun else b"BEGIN; ", next(_numbers)), prepare=False)


def _run(cursor: Reply, text: bytes, values: Sequence[Any]) -> Reply:
    return cursor.execute(text, values or None, prepare=None if values else False)
