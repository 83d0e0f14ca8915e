"""Opens SQLite files, refuses foreign ones, and translates errors of SQLite."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import apsw

from slowwave.errors import BusyError, CorruptError, DiskFullError, ForeignFileError, ReadOnlyError, StoreError
from slowwave.files import has_other_names
from slowwave.log import Log
from slowwave.stores.connection import Values
from slowwave.stores.migrations import Migration, refuse_newer
from slowwave.stores.sql import named_statements
from slowwave.stores.sqlite.bytes import MAGIC, header, rolls_back_to_nothing
from slowwave.stores.sqlite.log_mark import PAGES
from slowwave.stores.where_clause import Dialect

APPLICATION_ID = 0x736C7777
""""slww" in the file's header."""

MEMORY = ":memory:"
PRIVATE = 0o600
"""The permissions of a new file: only its owner may read conversations."""
_CACHE_KIB = 32 * 1024
_WAL_BYTES = 64 * 1024 * 1024
STEP_SECONDS = 0.001
"""Seconds between two attempts of a writer to take the lock."""


EMPTY_SECONDS = 0.5
"""Seconds after which an empty file is not being created by another process."""

SQL: Final = {name: statement.text for name, statement in named_statements("sqlite").items()}
"""The statements by name."""

DIALECT: Final = Dialect(
    mark="?",
    nulls_first="",
    contains="instr({}, {})",
    key_in_scope="key BETWEEN {low} AND {high}",
    key_parameters=("low", "high"),
)


class Connection(apsw.Connection):
    """A connection that runs statements by their names. See `stores.connection.Connection`."""

    clash: type[Exception] = apsw.ConstraintError
    dialect = DIALECT

    def run(self, name: str, values: Values = (), /) -> apsw.Cursor:
        """Run the statement of this name."""
        return self.execute(SQL[name], values)

    def run_many(self, name: str, rows: Iterable[Values], /) -> apsw.Cursor:
        """Run the statement of this name for each row of values."""
        return self.executemany(SQL[name], rows)

    def update_memory(self, columns: tuple[str, ...], values: Sequence[Any], key: int, /) -> None:
        """Write these columns of a memory. Raises `clash` if its new values are refused."""
        self.execute(_update(columns), (*values, key))


@lru_cache(maxsize=256)
def _update(columns: tuple[str, ...]) -> str:
    return f"UPDATE memories SET {', '.join(f'{name} = ?' for name in columns)} WHERE key = ?"  # noqa: S608  # constants only


def opened(
    path: str, *, busy_seconds: float, vfs: str | None, steps: list[Migration], create: bool = True
) -> Connection:
    """Open a connection to a file of Slowwave or an empty one. Other files are refused before they are changed.

    Without `create` the file must exist.
    """
    if path != MEMORY and vfs is None:
        _refuse_foreign(path, steps[-1][0])
        if _is_read_only(path):
            return _open_read_only(path)
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    new = path != MEMORY and vfs is None and not Path(path).exists()
    db = Connection(path, flags=flags, vfs=vfs)
    try:
        if new:  # SQLite gives the log and the shared memory, which it creates later, the permissions of the file
            Path(path).chmod(PRIVATE)
        db.set_busy_handler(busy_handler(busy_seconds))
        # Without QPSG SQLite recompiles, at every run, statements that compare and order by the same column.
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _set_wal_mode(db, busy_seconds)
        db.pragma("synchronous", "FULL")
        db.pragma("secure_delete", "ON")  # otherwise erased texts remain in free pages
        db.pragma("temp_store", "MEMORY")
        db.pragma("cache_size", -_CACHE_KIB)
        # Overwriting a log syncs faster than growing it, so the log keeps its size and is truncated only after a very
        # large batch. `LogMark` runs the checkpoints of a file.
        db.pragma("wal_autocheckpoint", PAGES)
        db.pragma("journal_size_limit", _WAL_BYTES)
    except BaseException:
        db.close()
        raise
    return db


def busy_handler(seconds: float) -> Callable[[int], bool]:
    """A busy handler with even steps. SQLite's own sleeps up to 0.1 s, in which eight other writers overtake."""

    def wait(times: int) -> bool:
        time.sleep(STEP_SECONDS)
        return times * STEP_SECONDS < seconds

    return wait


def _is_read_only(path: str) -> bool:
    """Whether the file exists and can only be read: it, or its folder where SQLite needs a log, cannot be written.

    SQLite would create a log and shared memory beside a read-only file, with its permissions. They would stay, and the
    owner of the file could not write until they are deleted. Where another process has the file open, they exist, and
    SQLite needs them to read what that process has written.
    """
    file, effective = Path(path), os.access in os.supports_effective_ids
    if not file.is_file():
        return False
    if any(os.path.exists(f"{path}{end}") for end in ("-wal", "-shm")):  # noqa: PTH110 - as the path is written
        return not any(os.access(place, os.W_OK, effective_ids=effective) for place in (file, file.parent))
    return not all(os.access(place, os.W_OK, effective_ids=effective) for place in (file, file.parent))


def _open_read_only(path: str) -> Connection:
    """A read-only connection that creates no side files. Writes raise ReadOnlyError."""
    for beside in (Path(f"{path}-wal"), Path(f"{path}-journal")):
        if beside.is_file() and beside.stat().st_size:
            raise ReadOnlyError(
                f"{path} cannot be written, and {beside.name} holds writes that were not merged into it yet: "
                "copy both files to a folder that can be written, and open the store there"
            )
    Log("store").warning("%s cannot be written: it is opened read-only", path)
    db = Connection(
        f"{Path(path).resolve().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    db.pragma("temp_store", "MEMORY")
    db.pragma("cache_size", -_CACHE_KIB)
    return db


def _set_wal_mode(db: apsw.Connection, busy_seconds: float) -> None:
    # SQLite does not wait for this lock when several processes open a new file at once.
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
    """Raise ForeignFileError for a file of another program, before SQLite could change it or its side files."""
    file = Path(path)
    if not file.parent.is_dir():
        raise StoreError(f"the folder {str(file.parent)!r} does not exist: create it, or choose another path")
    try:
        if file.is_dir():
            raise StoreError(f"{path!r} is a folder: name a file in it, such as {str(file / 'memory.db')!r}")
        if not file.exists():
            return
        _refuse_second_name(file)
        begins = header(path)
        if not begins:
            _refuse_emptied(path)
            begins = _refuse_empty(path)
        if not begins or (not begins.startswith(MAGIC) and rolls_back_to_nothing(path)):
            return  # empty, or emptied by SQLite because its first transaction was interrupted
    except (OSError, apsw.Error) as error:
        reason = getattr(error, "strerror", error)
        raise StoreError(f"{path!r} cannot be read ({reason}): check the path and who owns it") from error
    if not begins.startswith(MAGIC):
        raise ForeignFileError(
            f"{path!r} is not a database of Slowwave, or its first page is damaged; it was not touched: "
            "choose another path, or restore a backup"
        )
    _refuse_foreign_tables(file, begins, latest)


def _refuse_foreign_tables(file: Path, begins: bytes, latest: int) -> None:
    """Raise ForeignFileError for a database with this header (bytes) that is not of Slowwave and has tables.

    Another process may create the store at the same time: its header says so only once the log is merged. A header that
    changed while the tables were read is read again, so that a half-merged file is neither foreign nor damaged.
    """
    while True:
        application, version = int.from_bytes(begins[68:72], "big"), int.from_bytes(begins[60:64], "big")
        if application == APPLICATION_ID:
            return refuse_newer(version, latest, str(file))
        if application != 0:
            raise foreign(str(file))
        problem: StoreError | None = None
        try:
            if not _has_tables(file):
                return None
        except CorruptError as error:
            problem = error
        before, begins = begins, header(str(file))
        if begins == before:
            raise problem or foreign(str(file))


def _refuse_second_name(file: Path) -> None:
    """Raise StoreError for a file with hard links: SQLite finds the log by the name, and each name has its own.

    Writes in the log of one name are lost to those who open the other, and both logs together damage the database.
    """
    if has_other_names(file):
        raise StoreError(
            f"{str(file)!r} has {file.stat().st_nlink} names (hard links), and writes by one are lost to the others; it was not touched: "
            "copy it to a file of its own, or delete the other names"
        )


def _refuse_emptied(path: str) -> None:
    """Raise CorruptError for an empty file beside a log with writes, which SQLite would delete."""
    log = Path(f"{path}-wal")
    if log.is_file() and log.stat().st_size:
        raise CorruptError(
            f"{path!r} is empty, and {log.name} beside it holds writes; nothing was touched: restore a backup, or move "
            "both files away to begin a new store"
        )


def _refuse_empty(path: str) -> bytes:
    """The header of a file of 0 bytes, which another process may be creating now; empty if its first write was interrupted.

    Raises:
        StoreError: it stays empty, so a store that was there would be replaced by a new one without a word.
    """
    ends = time.monotonic() + EMPTY_SECONDS
    while not (begins := header(path)):
        if Path(f"{path}-journal").exists():
            return begins
        if time.monotonic() > ends:
            raise StoreError(
                f"{path!r} is empty (0 bytes) and no store; nothing was touched: restore a backup if there was one, or "
                "delete the file to begin a new store"
            )
        time.sleep(STEP_SECONDS)
    return begins


def foreign(path: str) -> ForeignFileError:
    """The error for a database of another program."""
    return ForeignFileError(f"{path!r} belongs to another program; it was not touched: choose another path")


def _has_tables(file: Path) -> bool:
    # `immutable` reads without locks, log or side files; `refuse_foreign_log` checks the log. SQLite opens and closes
    # this as a main database, which keeps the locks of the process.
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
    """Raise for a database of another program whose tables are only in its log, and do not change that log.

    Only a connection can read the log; the file itself is that of an empty database. One statement reads the
    application id and the schema, so that a schema created at the same time is seen completely or not at all.
    """
    ours = db.execute(
        "SELECT application_id = ? OR (application_id = 0 AND NOT EXISTS (SELECT 1 FROM sqlite_schema))"
        " FROM pragma_application_id",
        (APPLICATION_ID,),
    ).get
    if not ours:
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        raise foreign(path)


_ERRORS: tuple[tuple[tuple[type[apsw.Error], ...], type[StoreError], str], ...] = (
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
        "{path} cannot be written, only read: check the permissions of the file, of its folder, and of the files "
        "{path}-wal and {path}-shm, which can be deleted while no process has the store open",
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
    (
        (apsw.IOError,),
        StoreError,
        "{path} cannot be read or written ({error}); nothing acknowledged is lost: check the disk, and the limit of the "
        "size of files (`ulimit -f`)",
    ),
    ((apsw.Error,), StoreError, "{path}: {error}"),
)


def translated(error: apsw.Error, path: str) -> StoreError:
    """The matching StoreError, with advice. Raise it `from` the original."""
    for kinds, error_type, template in _ERRORS:
        if isinstance(error, kinds):
            return error_type(template.format(path=path, error=error))
    return StoreError(str(error))
