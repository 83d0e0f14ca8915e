"""Copying a whole store into another, of whatever kind: scope by scope, proven by hashes, resumable."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from slowwave.errors import CorruptError, InputError
from slowwave.stores.applying import Applying
from slowwave.stores.base import Values
from slowwave.stores.rows import ENTRY_COLUMNS, MEMORY_COLUMNS
from slowwave.stores.statements import SQL, bounds

_BATCH: Final = 2000
_ENTRY: Final = ("key", "scope", "embedder", *ENTRY_COLUMNS, "checksum")
TABLES: Final = {
    "memories": ("key", "scope", *MEMORY_COLUMNS, "born"),
    "entries": _ENTRY,
    "gists": _ENTRY,
    "runs": ("key", "scope", "id", "cause", "at", "parent", "cost", "because", "first", "last"),
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
    """Copy every scope, each in one transaction; run it again after an interruption, and it goes on with what is left.

    Nothing may be written to a scope while it is copied. Scopes that the source does not have stay as they are.

    Args:
        source: it is only read.
        target: another store. One that was empty also takes over the key of the marks around contexts.
        told: called with each scope that is done.

    Raises:
        InputError: a scope of the target holds something else; what was copied before it stays.
        CorruptError: the copy of a scope does not have its hash.
    """
    paths = _paths(source)
    if paths and not _paths(target):
        _share_secret(source.secret, target, paths[0])
    rows = known = 0
    hashes: dict[str, str] = {}
    for path in paths:
        hashes[path] = wanted = state_hash(source, path)
        there = state_hash(target, path)
        if there == wanted:
            known += 1
        elif there != state_hash(target, ""):
            raise InputError(f"the scope {path} of {target.name} holds other memories: copy into an empty store")
        else:
            rows += _copied(source, target, path)
            if state_hash(target, path) != wanted:
                raise CorruptError(f"the copy of {path} in {target.name} is not what {source.name} holds; copy again")
        if told:
            told(path)
    return Copied(scopes=len(paths) - known, known=known, rows=rows, hashes=hashes)


def state_hash(store: Applying, scope: str) -> str:
    """A hash of every row of a scope, whichever store holds it; of nothing, if it holds nothing."""
    total = blake2b(digest_size=16)
    with store._guard, store._one_state():  # noqa: SLF001  # stores are one family
        token = store._tokens.scope(scope) if scope else None  # noqa: SLF001
        for table in TABLES if token is not None else ():
            for batch in _read(store, table, int(token or 0)):
                for row in batch:
                    plain = [len(value) if isinstance(value, bytes) else value for value in row]
                    total.update(repr((table, plain)).encode("utf-8", "surrogatepass"))
                    for value in row:
                        if isinstance(value, bytes):
                            total.update(value)
    return total.hexdigest()


def _paths(store: Applying) -> list[str]:
    with store._guard:  # noqa: SLF001
        store._see_all()  # noqa: SLF001
        return sorted(path for _, path in store._all(SQL["scopes"], ()))  # noqa: SLF001


def _share_secret(secret: bytes, target: Applying, path: str) -> None:
    with target._guard, target._transaction(path):  # noqa: SLF001
        target._db.execute(SQL["put_secret"], (secret,))  # noqa: SLF001


def _copied(source: Applying, target: Applying, path: str) -> int:
    written = 0
    with source._guard, source._one_state(), target._guard, target._transaction(path):  # noqa: SLF001
        token, own = source._tokens.scope(path), target._tokens.new_scope(path)  # noqa: SLF001
        for table, columns in TABLES.items():
            into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608  # constants
            for batch in _read(source, table, int(token or 0)):
                target._db.executemany(into, [_placed(target, columns, own, row) for row in batch])  # noqa: SLF001
                written += len(batch)
    return written


def _read(store: Applying, table: str, token: int) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a scope in batches: keys without the token, embedders by name, the scope left out (None)."""
    columns = TABLES[table]
    names = {0: None, **dict(store._all(SQL["embedders"], ()))}  # noqa: SLF001
    low, high = bounds(token)
    if columns[0] != "key":
        everything = f"SELECT {', '.join(columns)} FROM {table} WHERE scope = ? ORDER BY {_ORDER[table]}"  # noqa: S608  # constants
        yield [_bare(columns, names, low, row) for row in store._all(everything, (token,))]  # noqa: SLF001
        return
    statement = f"SELECT {', '.join(columns)} FROM {table} WHERE key > ? AND key <= ? ORDER BY key LIMIT {_BATCH}"  # noqa: S608  # constants
    last = low
    while rows := store._all(statement, (last, high)):  # noqa: SLF001
        last = rows[-1][0]
        yield [_bare(columns, names, low, row) for row in rows]


def _bare(columns: Sequence[str], names: dict[int, str | None], low: int, row: Sequence[Any]) -> tuple[Any, ...]:
    values = list(row)
    for place, column in enumerate(columns):
        if column in _KEYS and values[place] is not None:
            values[place] -= low
        elif column == "embedder" and values[place] is not None:
            values[place] = (names[values[place]],)  # in a tuple, to tell "no vectors" from "nothing derived yet"
        elif column == "scope":
            values[place] = None
    return tuple(values)


def _placed(store: Applying, columns: Sequence[str], token: int, row: Sequence[Any]) -> Values:
    low = bounds(token)[0]
    values = list(row)
    for place, column in enumerate(columns):
        if column in _KEYS and values[place] is not None:
            values[place] += low
        elif column == "embedder" and values[place] is not None:
            values[place] = store._tokens.new_embedder(values[place][0])  # noqa: SLF001
        elif column == "scope":
            values[place] = token
    return values
