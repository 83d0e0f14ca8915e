"""One thread's use of a pooled connection: transactions that begin when they are needed and say whose rows they see."""

import time
from collections.abc import Iterable, Iterator
from typing import Any, Final

import psycopg
from psycopg import errors

from slowwave.stores.base import Clash, Values
from slowwave.stores.postgres_pool import Pool, Raw
from slowwave.stores.postgres_words import STRICT, words

LOCK_CLASS: Final = 0x736C7777
""""slww": the class of our advisory locks; the number beside it is a scope's token, 0 for migrations."""

_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITING: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_GONE: Final = "08006"
_ENDED: Final = frozenset({"08", "57"})
"""Classes of SQLSTATE: connection exceptions, and the operator's interventions."""


class Rows:
    """What a statement gave."""

    def __init__(self, cursor: "psycopg.Cursor[tuple[Any, ...]]") -> None:
        self._cursor = cursor

    @property
    def get(self) -> Any:  # noqa: ANN401  # a scalar of any type
        """The first value of the first row, or None."""
        row = self._cursor.fetchone()
        return None if row is None else row[0]

    def fetchone(self) -> Any:  # noqa: ANN401  # a row of scalars, or None
        """The next row, or None."""
        return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        return self._cursor.fetchall()

    def __iter__(self) -> Iterator[Any]:
        """The rows, one after the other."""
        return iter(self._cursor)


class Session:
    """A connection as the shared code uses it.

    A transaction begins with its first statement, in the same round trip as the settings that say whose rows it may
    see: they end with it, so that a pooled connection carries nothing over, a pooler between us and the server
    included. Without `write` it reads one committed state.

    Args:
        pool: where connections come from.
        always: settings that every transaction begins with, SQL.
        durable: settings that every writing transaction begins with, SQL.
        patience: how long to wait for a connection, for a server that restarts and for other writers, seconds.
    """

    def __init__(self, pool: Pool, *, always: str, durable: str, patience: float) -> None:
        self._pool = pool
        self._always = always
        self._durable = durable
        self._patience = patience
        self._raw: Raw | None = None
        self._begun = False
        self._visible: list[int] = []
        self._every = False

    # ---- whose rows

    def see(self, token: int) -> None:
        """The rows of this scope too, until the transaction ends."""
        if token not in self._visible:
            self._visible.append(token)
            if self._begun:
                self._told("SELECT set_config('slowwave.scopes', %s, true)", self._seen)

    def see_path(self, path: str) -> None:
        """The row of `scopes` of this path too."""
        self.execute("SELECT set_config('slowwave.path', ?, true)", (path,))

    def see_every_scope(self) -> None:
        """All rows of the store, until the transaction ends: for checks and upkeep of the whole."""
        self._every = True
        if self._begun:
            self._told("SELECT set_config('slowwave.every_scope', %s, true)", "on")

    @property
    def _seen(self) -> str:
        return ",".join(map(str, self._visible))

    # ---- transactions

    def write(self, token: int | None) -> None:
        """Begin to write to a scope, alone."""
        self.end()
        self._visible = [] if token is None else [token]
        lock = "" if token is None else f"SELECT pg_advisory_xact_lock({LOCK_CLASS}, {token:d})"
        self._begin(f"{_WRITING};{self._durable}SET LOCAL lock_timeout = {int(self._patience * 1000)};{lock}")

    def lost(self, error: psycopg.OperationalError) -> bool:
        """Whether this error means that the connection has ended, and with it the transaction."""
        if self._raw is None:
            return False
        state = error.sqlstate or _GONE
        if state[:2] in _ENDED and not isinstance(error, errors.QueryCanceled):
            self._raw.close()  # the server says so before the socket does
        return bool(self._raw.closed)

    def commit(self) -> None:
        """Make it last."""
        if self._begun:
            self._begun = False
            self._told("COMMIT")
        self._forget()

    def end(self) -> None:
        """Let go of what was not committed."""
        if self._begun and self._raw is not None and not self._raw.closed:
            try:
                self._told("ROLLBACK")
            except psycopg.OperationalError:
                self._raw.close()
        self._forget()

    def leave(self) -> None:
        """Give the connection back."""
        self.end()
        self._given_back()

    def _given_back(self) -> None:
        if self._raw is not None:
            self._pool.give(self._raw)
            self._raw = None

    def _forget(self) -> None:
        self._begun = self._every = False
        self._visible.clear()

    def _begin(self, how: str) -> None:
        settings = f"SET LOCAL search_path = slowwave, pg_catalog;{self._always}"
        settings += f"SELECT set_config('slowwave.scopes', '{self._seen}', true);"
        settings += "SET LOCAL slowwave.every_scope = 'on';" if self._every else ""
        begin, _, rest = how.partition(";")
        ends = time.monotonic() + self._patience
        if self._raw is not None and self._raw.closed:
            self._given_back()
        while True:
            raw = self._taken()
            try:
                raw.execute(f"{begin};{settings}{rest}".encode())
            except psycopg.OperationalError as error:
                # A connection may have died while it was idle; nothing was asked yet, so another one will do.
                if not self.lost(error) or time.monotonic() > ends:
                    raise
                self._given_back()
            else:
                self._begun = True
                return

    def _taken(self) -> Raw:
        if self._raw is None:
            self._raw = self._pool.take(self._patience)
        return self._raw

    def _told(self, statement: str, *values: object) -> None:
        self._taken().execute(statement.encode(), values or None)

    # ---- statements

    def execute(self, statement: str, values: Values = (), /) -> Rows:
        """Run one statement; `?` and `:name` stand for values."""
        cursor = self._cursor()
        if statement.startswith("UPDATE memories") and ("phase =" in statement or "content =" in statement):
            self._carefully(cursor, statement, values)
        else:
            cursor.execute(words(statement).encode(), values)
        if statement in STRICT and cursor.rowcount == 0:
            raise Clash("a row clashes with one that is stored")
        return Rows(cursor)

    def executemany(self, statement: str, rows: Iterable[Values], /) -> None:
        """Run one statement for every row of values. Raises Clash if one is not accepted."""
        gathered = list(rows)
        if not gathered:
            return
        cursor = self._cursor()
        if len(gathered) == 1:  # without the pipeline that many rows are worth
            cursor.execute(words(statement).encode(), gathered[0])
        else:
            cursor.executemany(words(statement).encode(), gathered)
        if statement in STRICT and cursor.rowcount != len(gathered):
            raise Clash("a row clashes with one that is stored")

    def _cursor(self) -> "psycopg.Cursor[tuple[Any, ...]]":
        if not self._begun:
            self._begin(_READING)
        return self._taken().cursor(binary=True)

    def _carefully(self, cursor: "psycopg.Cursor[tuple[Any, ...]]", statement: str, values: Values) -> None:
        """A row's new values may clash, and the transaction is to go on."""
        self._told("SAVEPOINT before")
        try:
            cursor.execute(words(statement).encode(), values)
        except errors.UniqueViolation as error:
            self._told("ROLLBACK TO SAVEPOINT before")
            raise Clash(str(error)) from error
        self._told("RELEASE SAVEPOINT before")
