"""Opening a SQLite file safely, and what its errors mean in Slowwave's words."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from slowwave.errors import BusyError, CorruptError, DiskFullError, ForeignFileError, ReadOnlyError, StoreError
from slowwave.stores.migrations import Migration, refuse_newer
from slowwave.stores.sqlite.bytes import MAGIC, header, rolls_back_to_nothing

APPLICATION_ID = 0x736C7777
""""slww" in the file's header."""

MEMORY = ":memory:"
_CACHE_KIB = 32 * 1024
_WAL_PAGES = 4000
_WAL_BYTES = 64 * 1024 * 1024
STEP_SECONDS = 0.001
"""How long a writer sleeps before it asks for the lock again."""


class Connection(apsw.Connection):
    """A connection that says what it raises for a row that is not accepted."""

    clash: type[Exception] = apsw.ConstraintError


def opened(
    path: str, *, busy_seconds: float, vfs: str | None, steps: list[Migration], create: bool = True
) -> Connection:
    """A connection to a file that is ours or empty; others are refused before anything could touch them.

    Without `create` the file must exist.
    """
    if path != MEMORY and vfs is None:
        _refuse_foreign(path, steps[-1][0])
        if _only_readable(path):
            return _readable(path)
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    db = Connection(path, flags=flags, vfs=vfs)
    try:
        db.set_busy_handler(_patience(busy_seconds))
        # Else every statement that orders by what it also compares with a value is compiled anew whenever it is run.
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _to_wal(db, busy_seconds)
        db.pragma("synchronous", "FULL")
        db.pragma("secure_delete", "ON")  # so that what is erased is not left lying in free pages
        db.pragma("temp_store", "MEMORY")
        db.pragma("cache_size", -_CACHE_KIB)
        # A checkpoint costs syncs, so it waits for many pages; a log that is overwritten is quicker to sync than one
        # that grows, so it is kept, and cut only after a very large batch.
        db.pragma("wal_autocheckpoint", _WAL_PAGES)
        db.pragma("journal_size_limit", _WAL_BYTES)
    except BaseException:
        db.close()
        raise
    return db


def _patience(seconds: float) -> Callable[[int], bool]:
    """Waiting for a lock in even steps. SQLite's own go up to a tenth of a second, in which eight others overtake."""

    def waits(times: int) -> bool:
        time.sleep(STEP_SECONDS)
        return times * STEP_SECONDS < seconds

    return waits


def _only_readable(path: str) -> bool:
    """Whether neither the file nor its folder can be written, as on a read-only disk."""
    file, effective = Path(path), os.access in os.supports_effective_ids
    return file.is_file() and not any(
        os.access(place, os.W_OK, effective_ids=effective) for place in (file, file.parent)
    )


def _readable(path: str) -> Connection:
    """A connection that only reads, without the side files that SQLite would make; writes raise ReadOnlyError."""
    for beside in (Path(f"{path}-wal"), Path(f"{path}-journal")):
        if beside.is_file() and beside.stat().st_size:
            raise ReadOnlyError(
                f"{path} cannot be written, and {beside.name} holds writes that were not merged into it yet: "
                "copy both files to a folder that can be written, and open the store there"
            )
    import logging  # noqa: PLC0415 - few files are such, and it takes long to load

    logging.getLogger("slowwave").warning("%s cannot be written: it is opened to read only", path)
    db = Connection(
        f"{Path(path).resolve().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    db.pragma("temp_store", "MEMORY")
    db.pragma("cache_size", -_CACHE_KIB)
    return db


def _to_wal(db: apsw.Connection, busy_seconds: float) -> None:
    # SQLite does not wait for this lock by itself when several processes open a fresh file at once.
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            db.pragma("journal_mode", "WAL")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _refuse_foreign(path: str, latest: int) -> None:
    """Raise for a file of another program, before SQLite could change a byte of it or of the files beside it."""
    file = Path(path)
    if not file.parent.is_dir():
        raise StoreError(f"the folder {str(file.parent)!r} does not exist: create it, or choose another path")
    try:
        if file.is_dir():
            raise StoreError(f"{path!r} is a folder: name a file in it, such as {str(file / 'memory.db')!r}")
        if not file.exists():
            return
        begins = header(path)
        if not begins or (not begins.startswith(MAGIC) and rolls_back_to_nothing(path)):
            return  # empty, or SQLite makes it empty: the process that created it died in its first transaction
    except (OSError, apsw.Error) as error:
        reason = getattr(error, "strerror", error)
        raise StoreError(f"{path!r} cannot be read ({reason}): check the path and who owns it") from error
    if not begins.startswith(MAGIC):
        raise ForeignFileError(
            f"{path!r} is not a database of Slowwave, or its first page is damaged; it was not touched: "
            "choose another path, or restore a backup"
        )
    application, version = int.from_bytes(begins[68:72], "big"), int.from_bytes(begins[60:64], "big")
    if application == APPLICATION_ID:
        refuse_newer(version, latest, path)
    elif application != 0 or _has_tables(file):
        raise foreign(path)


def foreign(path: str) -> ForeignFileError:
    """The error for a database of another program."""
    return ForeignFileError(f"{path!r} belongs to another program; it was not touched: choose another path")


def _has_tables(file: Path) -> bool:
    # `immutable` reads without locks, log or side files. What is in the log only, `refuse_foreign_log` looks at. SQLite
    # opens and closes this as a main database, so that the locks of the process are kept.
    db = apsw.Connection(
        f"{file.resolve().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    try:
        return bool(db.execute("SELECT count(*) FROM sqlite_schema").get)
    except apsw.Error as error:
        raise translated(error, str(file)) from error
    finally:
        db.close()


def refuse_foreign_log(db: apsw.Connection, path: str) -> None:
    """Raise for a database of another program whose tables lie in its log alone, and leave that log as it is.

    Only a connection can tell: the file itself is that of an empty database. One statement reads both, so that
    a process that makes the schema meanwhile is seen whole or not at all.
    """
    ours = db.execute(
        "SELECT application_id = ? OR (application_id = 0 AND NOT EXISTS (SELECT 1 FROM sqlite_schema))"
        " FROM pragma_application_id",
        (APPLICATION_ID,),
    ).get
    if not ours:
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        raise foreign(path)


_MEANING: tuple[tuple[tuple[type[apsw.Error], ...], type[StoreError], str], ...] = (
    (
        (apsw.BusyError, apsw.LockedError),
        BusyError,
        "{path} stayed locked by another process: try again, or open it with a longer time-out",
    ),
    (
        (apsw.FullError,),
        DiskFullError,
        "no space left for {path}; nothing acknowledged is lost: free some space and try again",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        ReadOnlyError,
        "{path} cannot be written, only read: check the permissions of the file and its folder",
    ),
    (
        (apsw.CantOpenError,),
        StoreError,
        "{path} cannot be opened ({error}): check the path and the permissions of its folder",
    ),
    (
        (apsw.NotADBError,),
        ForeignFileError,
        "{path} is not a database, or its first page is damaged; it was not touched: "
        "choose another path, or restore a backup",
    ),
    ((apsw.CorruptError, apsw.FormatError), CorruptError, "{path} is damaged ({error}): restore a backup"),
    ((apsw.Error,), StoreError, "{path}: {error}"),
)


def translated(error: apsw.Error, path: str) -> StoreError:
    """The error in Slowwave's words, with what to do next. Raise it `from` the original."""
    for kinds, meant, words in _MEANING:
        if isinstance(error, kinds):
            return meant(words.format(path=path, error=error))
    return StoreError(str(error))
