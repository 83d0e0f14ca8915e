"""Copies a whole store into another of either kind: scope by scope, verified by hashes, resumable."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_hex
from typing import Final

from slowwave.errors import CorruptError, NotFoundError
from slowwave.model.counted import counted
from slowwave.stores.row_transfer import TABLES, Rows, RowTransfer, occupied
from slowwave.stores.sql import COPYING

_STEP: Final = 50_000
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
            f"{counted(self.scopes, 'scope')} copied with {counted(self.rows, 'row')}{there}; "
            "every scope has the same hash on both sides"
        )


def copy(
    source: RowTransfer,
    target: RowTransfer,
    *,
    scope: str | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> CopyReport:
    """Copy every scope, or one with those below it, 50,000 rows in each transaction. After an interruption, call it again to continue.

    Nothing may be written to a scope of the source while it is copied, and only one copy at a time may write to a
    target. A scope becomes visible in the target when it is complete: before, no search, sleep pass or write reaches
    it. Scopes of the target that the source does not have are not changed.

    Args:
        source: the store to read.
        target: the store to write. An empty one also gets the secret of the source, if all scopes are copied.
        scope: only this scope and those below it; None: all.
        on_progress: called with each scope that is complete.

    Raises:
        NotFoundError: the source has no such scope.
        InputError: a scope of the target has other content; scopes copied before stay.
        CorruptError: the copy of a scope has another hash. It is discarded.
    """
    paths = scope_paths(source, scope)
    if scope is not None and not paths:
        raise NotFoundError(f"{source.name} has no scope {scope!r} and none below it: `slowwave scopes` lists all")
    if paths and scope is None and not scope_paths(target):
        target.replace_secret(_begun(target, paths[0]) or _half(paths[0]), source.secret)
    rows = known = 0
    hashes: dict[str, str] = {}
    for path in paths:
        half, there = _begun(target, path), state_hash(target, path)
        if there != state_hash(target, ""):
            if half:
                target.delete_partial_scope(half)
            hashes[path] = state_hash(source, path)
            if there != hashes[path]:
                raise occupied(target.name, path)
            known += 1
        else:
            half, total = half or _half(path), blake2b(digest_size=16)
            rows += _copied(source, target, (path, half), total)
            hashes[path] = total.hexdigest()
            if state_hash(target, half) != hashes[path]:
                target.delete_partial_scope(half)
                raise CorruptError(
                    f"the copy of {path} in {target.name} differs from {source.name} and was discarded, because the scope "
                    "was written to during the copy: copy again while no program writes"
                )
            target.name_scope(half, path)
        if on_progress:
            on_progress(path)
    return CopyReport(scopes=len(paths) - known, known=known, rows=rows, hashes=hashes)


def discard_partial_copy(target: RowTransfer) -> int:
    """Delete the rows of interrupted copies. Returns the number of their scopes."""
    halves = [path for path in target.all_paths() if path.startswith(COPYING)]
    for half in halves:
        target.delete_partial_scope(half)
    return len(halves)


def state_hash(store: RowTransfer, scope: str) -> str:
    """A hash of all rows of a scope, equal in both kinds of stores. An empty scope has the hash of no rows."""
    total = blake2b(digest_size=16)
    if scope:
        with store.scope_rows(scope) as batches:
            for table, rows in batches:
                _hash_rows(total, table, rows)
    return total.hexdigest()


def _hash_rows(total: "blake2b", table: str, rows: Rows) -> None:
    """Update a hash with rows; the batches do not matter."""
    blobs = [place for place, column in enumerate(TABLES[table]) if column in _BLOBS]
    name = table.encode()
    for row in rows:
        total.update(name)
        if blobs:
            plain = list(row)
            for place in blobs:
                plain[place] = len(row[place] or b"")
                total.update(row[place] or b"")
            total.update(repr(plain).encode())
        else:
            total.update(repr(row).encode("utf-8", "surrogatepass"))


def scope_paths(store: RowTransfer, scope: str | None = None) -> list[str]:
    """The paths of the complete scopes: of all, erased ones included, or of one with those below it."""
    paths = [path for path in store.all_paths() if not path.startswith(COPYING)]
    return [path for path in paths if scope is None or path == scope or path.startswith(f"{scope}/")]


def _half(path: str) -> str:
    """A new temporary path for a copy. Each is different, because stores cache the token of a path."""
    return f"{COPYING} {token_hex(4)} {path}"


def _begun(target: RowTransfer, path: str) -> str | None:
    """The temporary path of an interrupted copy of a scope, or None."""
    found = (half for half in target.all_paths() if half.startswith(COPYING) and half.split(" ", 3)[3] == path)
    return next(found, None)


def _copied(source: RowTransfer, target: RowTransfer, paths: tuple[str, str], total: "blake2b") -> int:
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
    with source.scope_rows(path) as batches:
        while going:
            with target.writing_scope(half) as token:
                step, going = 0, False
                for table, rows in batches:
                    _hash_rows(total, table, rows)
                    step += target.write_rows(table, token, rows)
                    if going := step >= _STEP:
                        break
                written += step
    return written
