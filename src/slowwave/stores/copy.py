"""Copying a whole store into another, of whatever kind: scope by scope, proven by hashes, resumable."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_hex
from typing import Any, Final

from slowwave.errors import CorruptError, InputError
from slowwave.stores.apply import Applying
from slowwave.stores.connection import Values
from slowwave.stores.rows import ENTRY_COLUMNS, MEMORY_COLUMNS, RUN_COLUMNS
from slowwave.stores.sql import SQL, UNNAMED, bounds

_BATCH: Final = 5000
_STEP: Final = 50_000
_HALF: Final = f"{UNNAMED}copying"
"""How the path begins under which a scope is copied. It gets its own once it is whole: nobody meets a part of it."""

_COPYING: Final = "slowwave copy"

_ENTRY: Final = ("key", "scope", "embedder", *ENTRY_COLUMNS, "checksum")
TABLES: Final = {
    "memories": ("key", "scope", *MEMORY_COLUMNS, "born"),
    "entries": _ENTRY,
    "gists": _ENTRY,
    "runs": RUN_COLUMNS,
    "journal": ("key", "scope", "run", "part", "op", "memory", "other", "because", "payload", "checksum"),
    "conversations": ("scope", "name", "erased_seq"),
    "cursors": ("scope", "conversation", "cursor", "seq"),
    "links": ("scope", "source", "target", "kind", "weight", "at"),
    "held": ("scope", "content"),
}
"""What is copied; a lease belongs to whoever sleeps there, and a snapshot of an index is made anew."""

_ORDER: Final = {
    "conversations": "name",
    "cursors": "conversation, cursor",
    "links": "source, target, kind",
    "held": "content",
}
_KEYS: Final = frozenset({"key", "born", "run", "first", "last"})
"""Columns that hold a key: the scope's token and a number inside the scope."""

_BLOBS: Final = frozenset({"terms", "vectors"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What copying did: scopes copied now, scopes that were there already, rows written, and the hash of each scope."""

    scopes: int
    known: int
    rows: int
    hashes: dict[str, str]

    def __str__(self) -> str:
        there = f", {self.known} were there already" if self.known else ""
        return (
            f"{self.scopes} scopes copied with {self.rows:,} rows{there}; every scope has the same hash on both sides"
        )


def copy(source: Applying, target: Applying, *, told: Callable[[str], None] | None = None) -> Copied:
    """Copy every scope, 50,000 rows a transaction; run it again after an interruption, and it goes on with what is left.

    Nothing may be written to a scope of the source while it is copied, and one copy at a time may write to a target.
    In the target a scope is there once it is whole: until then nobody finds it, sleeps it or writes to it. Scopes that
    the source does not have stay as they are.

    Args:
        source: it is only read.
        target: another store. One that was empty also takes over the key of the marks around contexts.
        told: called with each scope that is done.

    Raises:
        InputError: a scope of the target holds something else; what was copied before it stays.
        CorruptError: the copy of a scope does not have its hash. It is thrown away.
    """
    paths = _paths(source)
    if paths and not _paths(target):
        _share_secret(source.secret, target, _begun(target, paths[0]) or _half(paths[0]))
    rows = known = 0
    hashes: dict[str, str] = {}
    for path in paths:
        half, there = _begun(target, path), state_hash(target, path)
        if there != state_hash(target, ""):
            if half:
                _throw_away(target, half)
            hashes[path] = state_hash(source, path)
            if there != hashes[path]:
                raise _taken(target, path)
            known += 1
        else:
            half, total = half or _half(path), blake2b(digest_size=16)
            rows += _copied(source, target, (path, half), total)
            hashes[path] = total.hexdigest()
            if state_hash(target, half) != hashes[path]:
                _throw_away(target, half)
                raise CorruptError(
                    f"the copy of {path} in {target.name} was not what {source.name} holds, and is thrown away: "
                    "something was written there meanwhile; copy again when nobody writes"
                )
            _whole(target, half, path)
        if told:
            told(path)
    return Copied(scopes=len(paths) - known, known=known, rows=rows, hashes=hashes)


def discard_partial_copy(target: Applying) -> int:
    """Throw away what interrupted copies left in a store. Returns of how many scopes."""
    halves = [path for path in _all_paths(target) if path.startswith(_HALF)]
    for half in halves:
        _throw_away(target, half)
    return len(halves)


def state_hash(store: Applying, scope: str) -> str:
    """A hash of every row of a scope, whichever store holds it; of nothing, if it holds nothing."""
    total = blake2b(digest_size=16)
    with store._guard, store._one_state():  # noqa: SLF001  # stores are one family
        token = store._tokens.scope(scope) if scope else None  # noqa: SLF001
        for table in TABLES if token is not None else ():
            for batch in _read(store, table, int(token or 0)):
                _add_up(total, table, batch)
    return total.hexdigest()


def _add_up(total: "blake2b", table: str, batch: Iterable[Sequence[Any]]) -> None:
    """Take rows into a hash, however they are cut into batches."""
    blobs = [place for place, column in enumerate(TABLES[table]) if column in _BLOBS]
    name = table.encode()
    for row in batch:
        total.update(name)
        if blobs:
            plain = list(row)
            for place in blobs:
                plain[place] = len(row[place] or b"")
                total.update(row[place] or b"")
            total.update(repr(plain).encode())
        else:
            total.update(repr(row).encode("utf-8", "surrogatepass"))


def _all_paths(store: Applying) -> list[str]:
    with store._guard:  # noqa: SLF001
        store._see_all()  # noqa: SLF001
        return sorted(path for _, path in store._all(SQL["scopes"], ()))  # noqa: SLF001


def _paths(store: Applying) -> list[str]:
    """The scopes that are whole."""
    return [path for path in _all_paths(store) if not path.startswith(UNNAMED)]


def _half(path: str) -> str:
    """A path for a new copy: another one each time, because stores remember which token a path had."""
    return f"{_HALF} {token_hex(4)} {path}"


def _begun(target: Applying, path: str) -> str | None:
    """Under which path a copy of a scope was begun and interrupted."""
    found = (half for half in _all_paths(target) if half.startswith(_HALF) and half.split(" ", 3)[3] == path)
    return next(found, None)


def _taken(target: Applying, path: str) -> InputError:
    return InputError(f"the scope {path} of {target.name} holds other memories: copy into an empty store")


def _share_secret(secret: bytes, target: Applying, half: str) -> None:
    with target._guard, target._transaction(half):  # noqa: SLF001
        target._db.execute(SQL["put_secret"], (secret,))  # noqa: SLF001


def _claimed(target: Applying, half: str) -> int:
    """The token of a scope that is being copied, kept from other copies until the transaction ends."""
    token = target._tokens.new_scope(half)  # noqa: SLF001
    mine = "UPDATE scopes SET path = path WHERE token = ? AND path = ? RETURNING token"
    if target._db.execute(mine, (token, half)).get is None:  # noqa: SLF001
        raise InputError(f"somebody else copied into {target.name} meanwhile: copy again, one at a time")
    return token


def _whole(target: Applying, half: str, path: str) -> None:
    """Nothing is missing from a scope any more: it gets its path."""
    with target._guard:  # noqa: SLF001
        there = target._tokens.scope(path)  # noqa: SLF001
        with target._transaction(half if there is None else path):  # noqa: SLF001
            own = _claimed(target, half)
            if there is None:
                target._db.execute("UPDATE scopes SET path = ? WHERE token = ?", (path, own))  # noqa: SLF001
            elif any(target._one(f"SELECT 1 {_rows(table, there)} LIMIT 1", ()) for table in TABLES):  # noqa: SLF001
                raise _taken(target, path)
            else:  # others remember the token of this path, though nothing is stored there
                _move(target, own, there)
                _empty(target, own)


def _throw_away(target: Applying, half: str) -> None:
    with target._guard, target._transaction(half):  # noqa: SLF001
        _empty(target, _claimed(target, half))


def _move(target: Applying, token: int, there: int) -> None:
    """Write the rows of a scope once more, under the token of another one, which is empty."""
    further = bounds(there)[0] - bounds(token)[0]
    for table, columns in TABLES.items():
        values = (
            str(there) if column == "scope" else f"{column} + {further}" if column in _KEYS else column
            for column in columns
        )
        target._db.execute(  # noqa: SLF001
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} {_rows(table, token)}"  # constants and numbers
        )


def _empty(target: Applying, token: int) -> None:
    """Delete a scope that was copied in part. Its lease is touched last, for whoever looks then whether it is due."""
    for table in TABLES:
        target._db.execute(f"DELETE {_rows(table, token)}")  # noqa: SLF001
    target._db.execute(SQL["put_lease"], (token, 0, _COPYING, 0, bounds(token)[0]))  # noqa: SLF001
    target._db.execute("DELETE FROM leases WHERE scope = ?", (token,))  # noqa: SLF001
    target._db.execute("DELETE FROM scopes WHERE token = ?", (token,))  # noqa: SLF001


def _rows(table: str, token: int) -> str:
    """Where the rows of a scope are."""
    low, high = bounds(token)
    keyed = TABLES[table][0] == "key"
    return f"FROM {table} WHERE key > {low} AND key <= {high}" if keyed else f"FROM {table} WHERE scope = {token}"


def _copied(source: Applying, target: Applying, paths: tuple[str, str], total: "blake2b") -> int:
    """Copy what is left of a scope, so many rows a transaction, and hash all of it. Returns how many rows were written.

    The two paths are the scope's, and that under which it is copied.
    """
    written, going, (path, half) = 0, True, paths
    with source._guard, source._one_state():  # noqa: SLF001
        token = source._tokens.scope(path)  # noqa: SLF001
        batches = ((table, rows) for table in TABLES for rows in _read(source, table, int(token or 0)))
        while going:
            with target._guard, target._transaction(half):  # noqa: SLF001
                own, step, going = _claimed(target, half), 0, False
                for table, rows in batches:
                    _add_up(total, table, rows)
                    step += _written(target, table, own, rows)
                    if going := step >= _STEP:
                        break
                written += step
    return written


def _written(target: Applying, table: str, token: int, rows: Sequence[Sequence[Any]]) -> int:
    """Write those that are not there yet: of a table with keys, those after the last one. Returns how many."""
    if not rows:
        return 0
    columns, low = TABLES[table], bounds(token)[0]
    if columns[0] == "key":
        last = target._one(f"SELECT max(key) FROM {table} WHERE key > ? AND key <= ?", bounds(token))[0]  # noqa: S608, SLF001  # a constant
        rows = [row for row in rows if row[0] > last - low] if last is not None else rows
    elif target._one(f"SELECT 1 FROM {table} WHERE scope = ? LIMIT 1", (token,)):  # noqa: S608, SLF001  # a constant
        rows = []
    into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608  # constants
    target._db.executemany(into, _placed(target, columns, token, rows))  # noqa: SLF001
    return len(rows)


def _read(store: Applying, table: str, token: int) -> Iterator[list[Sequence[Any]]]:
    """The rows of a scope in batches: keys without the token, embedders by name, the scope left out (None)."""
    columns = TABLES[table]
    names = {0: None, **dict(store._all(SQL["embedders"], ()))}  # noqa: SLF001
    low, high = bounds(token)
    if columns[0] != "key":
        everything = f"SELECT {', '.join(columns)} FROM {table} WHERE scope = ? ORDER BY {_ORDER[table]}"  # noqa: S608  # constants
        yield _bare(columns, names, low, store._all(everything, (token,)))  # noqa: SLF001
        return
    statement = f"SELECT {', '.join(columns)} FROM {table} WHERE key > ? AND key <= ? ORDER BY key LIMIT {_BATCH}"  # noqa: S608  # constants
    last = low
    while rows := store._all(statement, (last, high)):  # noqa: SLF001
        last = rows[-1][0]
        yield _bare(columns, names, low, rows)


def _bare(
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
            values[embedder] = (names[values[embedder]],)  # in a tuple, to tell "no vectors" from "nothing derived yet"
        found.append(values)
    return found


def _placed(store: Applying, columns: Sequence[str], token: int, rows: Iterable[Sequence[Any]]) -> Iterator[Values]:
    keys, scope, embedder = _places(columns)
    low = bounds(token)[0]
    for row in rows:
        values = list(row)
        values[scope] = token
        for place in keys:
            values[place] += low
        if embedder is not None and values[embedder] is not None:
            values[embedder] = store._tokens.new_embedder(values[embedder][0])  # noqa: SLF001
        yield values


def _places(columns: Sequence[str]) -> tuple[list[int], int, int | None]:
    """Where keys stand, the scope, and the embedder, if there is one."""
    keys = [place for place, column in enumerate(columns) if column in _KEYS]
    return keys, columns.index("scope"), columns.index("embedder") if "embedder" in columns else None
