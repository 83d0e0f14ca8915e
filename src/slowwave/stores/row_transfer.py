"""Reads and writes the rows of a scope as they are stored, in the same form for SQLite and Postgres."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from slowwave.errors import InputError
from slowwave.stores.connection import StoreBase
from slowwave.stores.rows import ENTRY_COLUMNS, MEMORY_COLUMNS, RUN_COLUMNS, last_key
from slowwave.stores.sql import bounds

Rows: TypeAlias = Sequence[Sequence[Any]]
"""Rows without what differs between stores: keys without the token of the scope, embedders by name, None as scope."""

_BATCH: Final = 5000
_COPYING: Final = "slowwave copy"

_ENTRY: Final = ("key", "scope", "embedder", *ENTRY_COLUMNS, "checksum")
TABLES: Final = {
    "memories": ("key", "scope", *MEMORY_COLUMNS, "born"),
    "entries": _ENTRY,
    "gists": _ENTRY,
    "runs": RUN_COLUMNS,
    "journal": ("key", "scope", "run", "part", "op", "memory", "other", "because", "payload", "checksum"),
    "conversations": ("scope", "name", "erased_seq", "title"),
    "cursors": ("scope", "conversation", "cursor", "seq"),
    "links": ("scope", "source", "target", "kind", "weight", "at"),
    "held": ("scope", "content"),
}
"""The columns of the tables that are copied. Leases belong to processes, and stored indexes are rebuilt."""

_ORDER: Final = {
    "conversations": "name",
    "cursors": "conversation, cursor",
    "links": "source, target, kind",
    "held": "content",
}
KEYS: Final = frozenset({"key", "born", "run", "first", "last"})
"""Columns that hold a key: the scope's token and a number inside the scope."""


class RowTransfer(StoreBase):
    """The rows of whole scopes, for copies between stores.

    A scope is written under a temporary path, so that no reader sees a part of it; `name_scope` gives it its own.
    """

    def all_paths(self) -> list[str]:
        """The paths of all scopes in order, temporary ones included."""
        with self._guard:
            self._see_every_scope()
            return sorted(path for _, path in self._all("scopes", ()))

    @contextmanager
    def scope_rows(self, path: str) -> Iterator[Iterator[tuple[str, Rows]]]:
        """All rows of a scope in one committed state: (table, up to 5,000 rows), in the order of TABLES and of their keys."""
        with self._guard, self._one_state():
            token = self._tokens.scope(path)
            yield ((table, rows) for table in TABLES if token is not None for rows in self._rows_of_table(table, token))

    def replace_secret(self, temporary: str, secret: bytes) -> None:
        """Replace the secret of the store, in a transaction on this temporary path."""
        with self._guard, self._transaction(temporary):
            self._db.run("put_secret", (secret,))

    @contextmanager
    def writing_scope(self, temporary: str) -> Iterator[int]:
        """A transaction on the scope of a temporary path, locked against other copies. Gives its token to `write_rows`.

        Raises:
            InputError: another copy renamed the scope meanwhile.
        """
        with self._guard, self._transaction(temporary):
            yield self._locked_token(temporary)

    def write_rows(self, table: str, token: int, rows: Rows) -> int:
        """Write the rows that are missing: in a table with keys, those after the last key. Returns their number."""
        if not rows:
            return 0
        columns, low = TABLES[table], bounds(token)[0]
        if columns[0] == "key":
            last = self._db.execute(f"SELECT max(key) {self._from(table, token)}").get
            rows = [row for row in rows if row[0] > last - low] if last is not None else rows
        elif self._has_rows(table, token):
            rows = []
        places = ", ".join(f"{self._db.dialect.mark}{place}" for place in range(1, len(columns) + 1))
        into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608  # constants
        self._db.executemany(into, self._as_stored(columns, token, rows))
        return len(rows)

    def name_scope(self, temporary: str, path: str) -> None:
        """Give a complete scope its path.

        Raises:
            InputError: the path has memories.
        """
        with self._guard:
            there = self._tokens.scope(path)
            with self._transaction(temporary if there is None else path):
                own = self._locked_token(temporary)
                if there is None:
                    mark = self._db.dialect.mark
                    named = f"UPDATE scopes SET path = {mark}1 WHERE token = {mark}2"  # noqa: S608  # placeholders
                    self._db.execute(named, (path, own))
                elif any(self._has_rows(table, there) for table in TABLES):
                    raise occupied(self.name, path)
                else:  # other processes cache the token of this empty path
                    self._move_rows(own, there)
                    self._delete_rows(own)
                    self._db.run("name_scope", {"scope": there, "path": path})

    def delete_partial_scope(self, temporary: str) -> None:
        """Delete a scope with a temporary path, and its rows."""
        with self._guard, self._transaction(temporary):
            self._delete_rows(self._locked_token(temporary))

    # ---- of one table

    def _rows_of_table(self, table: str, token: int) -> Iterator[Rows]:
        columns, names = TABLES[table], {0: None, **dict(self._all("embedders", ()))}
        low, listed = bounds(token)[0], ", ".join(TABLES[table])
        if columns[0] != "key":
            every = f"SELECT {listed} {self._from(table, token)} ORDER BY {_ORDER[table]}"
            yield _as_read(columns, names, low, self._db.execute(every).fetchall())
            return
        last = low
        while rows := self._db.execute(
            f"SELECT {listed} {self._from(table, token, last)} ORDER BY key LIMIT {_BATCH}"
        ).fetchall():
            last = last_key(rows, last)
            yield _as_read(columns, names, low, rows)

    def _from(self, table: str, token: int, after: int | None = None) -> str:
        """The rows of a scope in a table; of a table with keys only those after this key."""
        if TABLES[table][0] != "key":
            return f"FROM {table} WHERE scope = {token:d}"
        low, high = bounds(token)
        condition = self._db.dialect.key_in_scope
        return f"FROM {table} WHERE {condition.format(scope=token, low=(after or low) + 1, high=high)}"

    def _has_rows(self, table: str, token: int) -> bool:
        return bool(self._db.execute(f"SELECT 1 {self._from(table, token)} LIMIT 1").fetchone())

    def _as_stored(self, columns: Sequence[str], token: int, rows: Rows) -> Iterator[Sequence[Any]]:
        keys, scope, embedder = _places(columns)
        low = bounds(token)[0]
        for row in rows:
            values = list(row)
            values[scope] = token
            for place in keys:
                values[place] += low
            if embedder is not None and values[embedder] is not None:
                values[embedder] = self._tokens.new_embedder(values[embedder][0])
            yield values

    # ---- of a scope

    def _locked_token(self, temporary: str) -> int:
        token = self._tokens.new_scope(temporary)
        mark = self._db.dialect.mark
        mine = f"UPDATE scopes SET path = path WHERE token = {mark}1 AND path = {mark}2 RETURNING token"  # noqa: S608  # placeholders
        if self._db.execute(mine, (token, temporary)).get is None:
            raise InputError(f"another copy wrote into {self.name} at the same time: copy again, one at a time")
        return token

    def _move_rows(self, token: int, there: int) -> None:
        """Copy the rows of a scope to the token of another scope, which is empty."""
        further = bounds(there)[0] - bounds(token)[0]
        for table, columns in TABLES.items():
            values = (
                str(there) if column == "scope" else f"{column} + {further}" if column in KEYS else column
                for column in columns
            )
            self._db.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} {self._from(table, token)}"
            )

    def _delete_rows(self, token: int) -> None:
        """The lease is changed last, so that its trigger updates the table of due scopes at the end."""
        for table in TABLES:
            self._db.execute(f"DELETE {self._from(table, token)}")
        self._db.run("put_lease", (token, 0, _COPYING, 0, bounds(token)[0]))
        self._db.execute(f"DELETE FROM leases WHERE scope = {token:d}")  # noqa: S608  # a number
        self._db.execute(f"DELETE FROM scopes WHERE token = {token:d}")  # noqa: S608  # a number


def occupied(name: str, path: str) -> InputError:
    """The error of a scope that has memories of another origin."""
    return InputError(f"the scope {path} of {name} has other memories: copy into an empty store")


def _as_read(
    columns: Sequence[str], names: dict[int, str | None], low: int, rows: Iterable[Sequence[Any]]
) -> list[Sequence[Any]]:
    keys, scope, embedder = _places(columns)
    found: list[Sequence[Any]] = []
    for row in rows:
        values = list(row)
        values[scope] = None
        for place in keys:
            values[place] -= low
        if embedder is not None and values[embedder] is not None:
            # A tuple distinguishes "no vectors" from "nothing derived yet".
            values[embedder] = (names[values[embedder]],)
        found.append(values)
    return found


def _places(columns: Sequence[str]) -> tuple[list[int], int, int | None]:
    """The positions of the keys, of the scope, and of the embedder or None."""
    keys = [place for place, column in enumerate(columns) if column in KEYS]
    return keys, columns.index("scope"), columns.index("embedder") if "embedder" in columns else None
