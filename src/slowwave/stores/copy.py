"""Copies a whole store into another of either kind: scope by scope, verified by hashes, resumable."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_hex
from typing import Any, Final

from slowwave.errors import CorruptError, InputError
from slowwave.stores.apply import PlanApplier
from slowwave.stores.rows import ENTRY_COLUMNS, MEMORY_COLUMNS, RUN_COLUMNS
from slowwave.stores.sql import UNNAMED, bounds

_BATCH: Final = 5000
_STEP: Final = 50_000
_HALF: Final = f"{UNNAMED}copying"
"""The prefix of the temporary path of a partial copy. A complete scope gets its own path, so that no reader sees a part."""

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
"""The tables that are copied. Leases belong to processes of the source, and stored indexes are rebuilt."""

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
class CopyReport:
    """The result of a copy: scopes copied, scopes that were complete before, rows written, and the hash of each scope."""

    scopes: int
    known: int
    rows: int
    hashes: dict[str, str]

    def __str__(self) -> str:
        there = f", {self.known} were there already" if self.known else ""
        return (
            f"{self.scopes} scopes copied with {self.rows:,} rows{there}; every scope has the same hash on both sides"
        )


def copy(source: PlanApplier, target: PlanApplier, *, told: Callable[[str], None] | None = None) -> CopyReport:
    """Copy every scope, 50,000 rows in each transaction. After an interruption, call it again to continue.

    Nothing may be written to a scope of the source while it is copied, and only one copy at a time may write to a
    target. A scope becomes visible in the target when it is complete: before, no search, sleep pass or write reaches
    it. Scopes of the target that the source does not have are not changed.

    Args:
        source: the store to read.
        target: the store to write. An empty one also gets the secret of the source.
        told: called with each scope that is complete.

    Raises:
        InputError: a scope of the target has other content; scopes copied before stay.
        CorruptError: the copy of a scope has another hash. It is discarded.
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
                    f"the copy of {path} in {target.name} differs from {source.name} and was discarded, because the scope "
                    "was written to during the copy: copy again while no program writes"
                )
            _whole(target, half, path)
        if told:
            told(path)
    return CopyReport(scopes=len(paths) - known, known=known, rows=rows, hashes=hashes)


def discard_partial_copy(target: PlanApplier) -> int:
    """Delete the rows of interrupted copies. Returns the number of their scopes."""
    halves = [path for path in _all_paths(target) if path.startswith(_HALF)]
    for half in halves:
        _throw_away(target, half)
    return len(halves)


def state_hash(store: PlanApplier, scope: str) -> str:
    """A hash of all rows of a scope, equal in both kinds of stores. An empty scope has the hash of no rows."""
    total = blake2b(digest_size=16)
    with store._guard, store._one_state():  # noqa: SLF001  # stores are one family
        token = store._tokens.scope(scope) if scope else None  # noqa: SLF001
        for table in TABLES if token is not None else ():
            for batch in _read(store, table, int(token or 0)):
                _hash_rows(total, table, batch)
    return total.hexdigest()


def _hash_rows(total: "blake2b", table: str, batch: Iterable[Sequence[Any]]) -> None:
    """Update a hash with rows; the batches do not matter."""
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


def _all_paths(store: PlanApplier) -> list[str]:
    with store._guard:  # noqa: SLF001
        store._see_every_scope()  # noqa: SLF001
        return sorted(path for _, path in store._all("scopes", ()))  # noqa: SLF001


def _paths(store: PlanApplier) -> list[str]:
    """The paths of the complete scopes."""
    return [path for path in _all_paths(store) if not path.startswith(UNNAMED)]


def _half(path: str) -> str:
    """A new temporary path for a copy. Each is different, because stores cache the token of a path."""
    return f"{_HALF} {token_hex(4)} {path}"


def _begun(target: PlanApplier, path: str) -> str | None:
    """The temporary path of an interrupted copy of a scope, or None."""
    found = (half for half in _all_paths(target) if half.startswith(_HALF) and half.split(" ", 3)[3] == path)
    return next(found, None)


def _taken(target: PlanApplier, path: str) -> InputError:
    return InputError(f"the scope {path} of {target.name} has other memories: copy into an empty store")


def _share_secret(secret: bytes, target: PlanApplier, half: str) -> None:
    with target._guard, target._transaction(half):  # noqa: SLF001
        target._db.run("put_secret", (secret,))  # noqa: SLF001


def _claimed(target: PlanApplier, half: str) -> int:
    """The token of a partial copy, locked against other copies until the transaction ends."""
    token = target._tokens.new_scope(half)  # noqa: SLF001
    mark = target._db.dialect.mark  # noqa: SLF001
    mine = f"UPDATE scopes SET path = path WHERE token = {mark}1 AND path = {mark}2 RETURNING token"  # noqa: S608  # placeholders
    if target._db.execute(mine, (token, half)).get is None:  # noqa: SLF001
        raise InputError(f"another copy wrote into {target.name} at the same time: copy again, one at a time")
    return token


def _whole(target: PlanApplier, half: str, path: str) -> None:
    """Give a complete scope its path."""
    with target._guard:  # noqa: SLF001
        there = target._tokens.scope(path)  # noqa: SLF001
        with target._transaction(half if there is None else path):  # noqa: SLF001
            own = _claimed(target, half)
            if there is None:
                mark = target._db.dialect.mark  # noqa: SLF001
                named = f"UPDATE scopes SET path = {mark}1 WHERE token = {mark}2"  # noqa: S608  # placeholders
                target._db.execute(named, (path, own))  # noqa: SLF001
            elif any(_has_rows(target, table, there) for table in TABLES):
                raise _taken(target, path)
            else:  # other processes cache the token of this empty path
                _move(target, own, there)
                _empty(target, own)


def _throw_away(target: PlanApplier, half: str) -> None:
    with target._guard, target._transaction(half):  # noqa: SLF001
        _empty(target, _claimed(target, half))


def _move(target: PlanApplier, token: int, there: int) -> None:
    """Copy the rows of a scope to the token of another scope, which is empty."""
    further = bounds(there)[0] - bounds(token)[0]
    for table, columns in TABLES.items():
        values = (
            str(there) if column == "scope" else f"{column} + {further}" if column in _KEYS else column
            for column in columns
        )
        target._db.execute(  # noqa: SLF001
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} {_rows(target, table, token)}"  # constants and numbers
        )


def _empty(target: PlanApplier, token: int) -> None:
    """Delete a partial copy. The lease is changed last, so that its trigger updates the table of due scopes at the end."""
    for table in TABLES:
        target._db.execute(f"DELETE {_rows(target, table, token)}")  # noqa: SLF001
    target._db.run("put_lease", (token, 0, _COPYING, 0, bounds(token)[0]))  # noqa: SLF001
    target._db.execute(f"DELETE FROM leases WHERE scope = {token:d}")  # noqa: S608, SLF001  # a number
    target._db.execute(f"DELETE FROM scopes WHERE token = {token:d}")  # noqa: S608, SLF001  # a number


def _rows(store: PlanApplier, table: str, token: int, after: int | None = None) -> str:
    """The rows of a scope in a table, of those with keys only the ones after this key."""
    if TABLES[table][0] != "key":
        return f"FROM {table} WHERE scope = {token:d}"
    low, high = bounds(token)
    condition = store._db.dialect.key_in_scope  # noqa: SLF001
    return f"FROM {table} WHERE {condition.format(scope=token, low=(after or low) + 1, high=high)}"


def _copied(source: PlanApplier, target: PlanApplier, paths: tuple[str, str], total: "blake2b") -> int:
    """Copy the remaining rows of a scope in several transactions, and hash all of its rows.

    Args:
        source: the store to read.
        target: the store to write.
        paths: the path of the scope, and its temporary path in the target.
        total: the hash to update.

    Returns:
        The number of rows written.
    """
    written, going, (path, half) = 0, True, paths
    with source._guard, source._one_state():  # noqa: SLF001
        token = source._tokens.scope(path)  # noqa: SLF001
        batches = ((table, rows) for table in TABLES for rows in _read(source, table, int(token or 0)))
        while going:
            with target._guard, target._transaction(half):  # noqa: SLF001
                own, step, going = _claimed(target, half), 0, False
                for table, rows in batches:
                    _hash_rows(total, table, rows)
                    step += _written(target, table, own, rows)
                    if going := step >= _STEP:
                        break
                written += step
    return written


def _written(target: PlanApplier, table: str, token: int, rows: Sequence[Sequence[Any]]) -> int:
    """Write the rows that are missing: in a table with keys, those after the last key. Returns their number."""
    if not rows:
        return 0
    columns, low = TABLES[table], bounds(token)[0]
    if columns[0] == "key":
        last = target._db.execute(f"SELECT max(key) {_rows(target, table, token)}").get  # noqa: SLF001
        rows = [row for row in rows if row[0] > last - low] if last is not None else rows
    elif _has_rows(target, table, token):
        rows = []
    places = ", ".join(f"{target._db.dialect.mark}{place}" for place in range(1, len(columns) + 1))  # noqa: SLF001
    into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608  # constants
    target._db.executemany(into, _placed(target, columns, token, rows))  # noqa: SLF001
    return len(rows)


def _read(store: PlanApplier, table: str, token: int) -> Iterator[list[Sequence[Any]]]:
    """The rows of a scope in batches: keys without the token, embedders by name, None for the scope."""
    columns = TABLES[table]
    names = {0: None, **dict(store._all("embedders", ()))}  # noqa: SLF001
    low = bounds(token)[0]
    if columns[0] != "key":
        everything = f"SELECT {', '.join(columns)} {_rows(store, table, token)} ORDER BY {_ORDER[table]}"
        yield _bare(columns, names, low, store._db.execute(everything).fetchall())  # noqa: SLF001
        return
    last = low
    while rows := _batch(store, table, token, last):
        last = rows[-1][0]
        yield _bare(columns, names, low, rows)


def _has_rows(store: PlanApplier, table: str, token: int) -> bool:
    return bool(store._db.execute(f"SELECT 1 {_rows(store, table, token)} LIMIT 1").fetchone())  # noqa: SLF001


def _batch(store: PlanApplier, table: str, token: int, after: int) -> list[Any]:
    statement = f"SELECT {', '.join(TABLES[table])} {_rows(store, table, token, after)} ORDER BY key LIMIT {_BATCH}"
    return store._db.execute(statement).fetchall()  # noqa: SLF001


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
            values[embedder] = (
                names[values[embedder]],
            )  # a tuple distinguishes "no vectors" from "nothing derived yet"
        found.append(values)
    return found


def _placed(
    store: PlanApplier, columns: Sequence[str], token: int, rows: Iterable[Sequence[Any]]
) -> Iterator[Sequence[Any]]:
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
    """The positions of the keys, of the scope, and of the embedder or None."""
    keys = [place for place, column in enumerate(columns) if column in _KEYS]
    return keys, columns.index("scope"), columns.index("embedder") if "embedder" in columns else None
