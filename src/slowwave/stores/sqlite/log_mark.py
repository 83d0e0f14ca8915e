"""Marks in a file that its log may hold writes, so that a log which is missing later is noticed.

SQLite keeps the last writes in `-wal` until a checkpoint. If that file is deleted after a process was killed, SQLite opens
the store without a word, and without these writes. So the file itself says `used` = 1 while the log says 0: the value is 1
to a reader of the file without its log, and 0 to one who reads both, or a file that SQLite closed and merged.
"""

import time
from contextlib import suppress
from typing import Final

import apsw

from slowwave.log import Log
from slowwave.stores.sqlite.bytes import has_log

PAGES: Final = 4000
"""Pages of the log from which on a checkpoint is due. Checkpoints cost syncs, so they wait for many pages."""
_PATIENCE: Final = 0.5
"""Seconds after which a mark is not one that another process is about to take back."""
_STEP: Final = 0.01
_SET: Final = "UPDATE log SET used = 1"
_TAKE_BACK: Final = "UPDATE log SET used = 0 WHERE used = 1 RETURNING 1"
COMPLETE: Final = "UPDATE log SET used = 0, missed_at = NULL"
"""Of a copy of a whole store, which lacks nothing that the store has."""
_MISSED: Final = "UPDATE log SET used = 0, missed_at = unixepoch() WHERE used = 1"


class LogMark:
    """The mark of one open file.

    Args:
        path: the file; None: there is none, as in RAM, and no log.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._had_log = path is not None and has_log(path)
        self._is_set = self._is_setting = self._owes = False
        self._pages = self._tries = self._next_try = 0

    def watch(self, db: apsw.Connection) -> None:
        """Count the pages of the log of a new connection, in place of SQLite's own checkpoints."""
        if self._path is not None:
            db.set_wal_hook(self._committed)

    def _committed(self, _db: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def opened(self, db: apsw.Connection) -> None:
        """Look whether the log is missing, and note it in the file."""
        if self._path is not None and db.readonly("main"):
            self._path = None
        if self._path is None or not _is_used(db):
            return
        if self._had_log:  # the process that set the mark was ended before it took it back
            db.execute(_TAKE_BACK)
            return
        ends = time.monotonic() + _PATIENCE
        while _is_used(db):
            if not self._pages and has_log(self._path):
                return  # another process writes since: it takes back its mark, however long it waits for the lock
            if time.monotonic() > ends:
                db.execute(_MISSED)
                Log("store").warning("%s-wal was missing: the last writes may be gone", self._path)
                return
            time.sleep(_STEP)

    def forget(self) -> None:
        """A checkpoint has taken the mark out of the file: set it with the next commit."""
        self._is_set, self._tries, self._next_try = False, 0, 0

    def before_commit(self, db: apsw.Connection) -> None:
        """Set the mark with a transaction, if that is due."""
        self._is_setting = self._path is not None and self._next_try <= 0 and (not self._is_set or self._pages >= PAGES)
        if self._is_setting:
            db.execute(_SET)

    def after_commit(self, db: apsw.Connection) -> None:
        """Merge the log into the file with the mark, and take the mark back in the log."""
        self._next_try -= 1
        if not self._is_setting:
            return
        self._owes, self._is_set = True, False
        with suppress(apsw.Error):  # what was to be stored is
            _, size, merged = next(db.execute("PRAGMA wal_checkpoint(PASSIVE)"))
            self._is_set = db.execute(_TAKE_BACK).get is not None and size == merged
            self._owes = False
        # Readers of an older state keep pages in the log: it is tried again after 1, 2, 4 … commits.
        self._tries = 0 if self._is_set else min(self._tries + 1, 10)
        self._next_try = 0 if self._is_set else 1 << self._tries

    def closing(self, db: apsw.Connection) -> None:
        """Before the connection is closed: take back a mark that could not be taken back."""
        if self._owes:
            with suppress(apsw.Error):
                db.execute(_TAKE_BACK)


def missing(db: apsw.Connection, path: str) -> list[str]:
    """What `doctor` says of a log that was missing when the file was opened, or is missing beside a read-only file."""
    used, at = next(db.execute("SELECT used, datetime(missed_at, 'unixepoch') FROM log"))
    if at is None and not (used and db.readonly("main")):
        return []
    when = "now" if at is None else f"when the store was opened on {at} UTC"
    return [
        f"{path} was not closed, and its log {path}-wal was missing {when}: the last writes before that may be gone; "
        "compare the newest memories with a backup, and run `slowwave doctor --repair` when you have"
    ]


def _is_used(db: apsw.Connection) -> bool:
    return bool(db.execute("SELECT used FROM log").get)
