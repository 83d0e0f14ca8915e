"""Runs the numbered migrations of a Postgres database, each in one transaction, with the role of the login."""

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from psycopg.errors import InsufficientPrivilege

from slowwave.errors import ForeignFileError, NotFoundError, ReadOnlyError
from slowwave.log import Log
from slowwave.stores.backfill import fill_reasons
from slowwave.stores.migrations import Migration, refuse_newer
from slowwave.stores.postgres.opening import LOCK_CLASS

if TYPE_CHECKING:
    import psycopg

_log: Final = Log("store")

ROLE: Final = "slowwave_app"
"""The role that reads and writes, so that row-level security applies to every login."""

_REASONS: Final = 6
"""The migration that adds the columns of `backfill.fill_reasons`."""

_READY = """
CREATE SCHEMA slowwave;
CREATE TABLE slowwave.migrations (number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
"""

_THERE: Final = """
SELECT EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'migrations')
FROM pg_namespace n WHERE n.nspname = 'slowwave'
"""


def migrate(db: "psycopg.Connection[Any]", name: str, steps: Sequence[Migration], *, create: bool = True) -> None:
    """Migrate the schema to the last step. If several processes do so at once, one migrates and the others wait.

    Raises:
        ForeignFileError: the schema "slowwave" belongs to another program.
        NotFoundError: there is none yet, and `create` is False.
        NewerSchemaError: the schema was written by a newer Slowwave.
        ReadOnlyError: there is no schema, and this login may not create one.
    """
    latest = steps[-1][0]
    version = _version(db, name)
    refuse_newer(version, latest, name)
    if not version and not create:
        raise NotFoundError(f"no store at {name}: check the address; the first memory that is added creates a store")
    while version != latest:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s, 0)", (LOCK_CLASS,))
            version = _version(db, name)  # read again under the lock: another process may have migrated
            refuse_newer(version, latest, name)
            for number, script in steps:
                if number == version + 1:
                    if not version:
                        _begin(db, name)
                    db.execute("SET LOCAL search_path = slowwave, pg_catalog")
                    db.execute(script.encode())
                    if number == _REASONS:
                        db.execute("SELECT set_config('slowwave.every_scope', 'on', true)")
                        fill_reasons(
                            lambda statement, values: db.execute(statement.replace("?", "%s").encode(), values)
                        )
                        db.execute("SELECT set_config('slowwave.every_scope', 'off', true)")
                    db.execute((files("slowwave.stores") / "postgres/sql/grants.sql").read_bytes())
                    db.execute("INSERT INTO migrations (number) VALUES (%s)", (number,))
                    _log.info("%s: schema %d, migrated from %d", name, number, version)


def _begin(db: "psycopg.Connection[Any]", name: str) -> None:
    try:
        db.execute(_READY)
    except InsufficientPrivilege as error:
        raise ReadOnlyError(
            f"{name} is empty, and this login may not make the schema: open it once as its owner, or let the owner run "
            f'`GRANT CREATE ON DATABASE "{db.info.dbname}" TO "{db.info.user}"`'
        ) from error


def _version(db: "psycopg.Connection[Any]", name: str) -> int:
    # `to_regclass` may answer from a cache that taking the lock does not refresh.
    found: Any = db.execute(_THERE).fetchone()
    if found is None:
        return 0
    if not found[0]:
        raise ForeignFileError(
            f"{name} has a schema 'slowwave' that belongs to another program; it was not touched: use another database"
        )
    last: Any = db.execute("SELECT max(number) FROM slowwave.migrations").fetchone()
    return int(last[0] or 0)
