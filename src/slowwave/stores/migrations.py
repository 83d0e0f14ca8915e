"""Numbered migrations: each runs in one transaction together with the number that records it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from slowwave.errors import NewerSchemaError
from slowwave.log import Log
from slowwave.stores.backfill import fill_reasons

Migration = tuple[int, str]
_STORES: Final = Path(__file__).parent
_REASONS: Final = 3
"""The migration of SQLite that adds the columns of `backfill.fill_reasons`."""
_log: Final = Log("store")
_NAME = re.compile(r"(\d{4})_\w+\.sql")


def migrations(backend: str) -> list[Migration]:
    """The scripts that ship with this version, by number."""
    named = ((_NAME.fullmatch(file.name), file) for file in (_STORES / backend / "sql").iterdir())
    return sorted((int(match[1]), file.read_text("utf-8")) for match, file in named if match)


def refuse_newer(version: int, latest: int, path: str) -> None:
    """Raise NewerSchemaError if the store is ahead of this program."""
    if version > latest:
        raise newer_schema(version, latest, path)


def newer_schema(version: int, latest: int, path: str) -> NewerSchemaError:
    """The error of a program that knows the schema `latest` for a store with the schema `version`."""
    return NewerSchemaError(
        f"{path} was written by a newer Slowwave (schema {version}, this one knows {latest}); "
        "it was not touched: upgrade with `pip install -U slowwave`"
    )


def migrate(
    db: apsw.Connection, path: str, application_id: int, steps: list[Migration], reached: Callable[[str], None] | None
) -> None:
    """Bring the file up to the last step, one transaction a step. Safe among processes that do the same at once."""
    latest = steps[-1][0]
    while (version := db.pragma("user_version")) != latest:
        refuse_newer(version, latest, path)
        db.execute("BEGIN IMMEDIATE")
        try:
            # Read again under the lock: another process may have been quicker.
            version = db.pragma("user_version")
            refuse_newer(version, latest, path)
            for number, script in steps:
                if number == version + 1:
                    if reached:
                        reached("migrate.begun")
                    db.execute(script)
                    if number == _REASONS:
                        fill_reasons(db.execute)
                    db.execute(f"PRAGMA application_id = {application_id:d}")
                    db.execute(f"PRAGMA user_version = {number:d}")
            if reached:
                reached("migrate.before_commit")
            db.execute("COMMIT")
            _log.info("%s: schema %d, migrated from %d", path, db.pragma("user_version"), version)
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        if reached:
            reached("migrate.committed")
