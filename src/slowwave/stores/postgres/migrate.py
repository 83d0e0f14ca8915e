"""Runs the numbered migrations of a Postgres database, with the role of the login.

A migration is one transaction. One whose first line is `-- concurrently` consists of `CREATE INDEX CONCURRENTLY`
statements, which run one by one outside a transaction. A line `-- readable from N` says that programs that know schema N
and none after it can use the migrated schema too.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from psycopg import errors, sql

from slowwave.errors import BusyError, ForeignFileError, NotFoundError, OlderSchemaError, ReadOnlyError
from slowwave.log import Log
from slowwave.model.schema import SchemaState
from slowwave.stores.backfill import fill_reasons
from slowwave.stores.migrations import Migration, refuse_newer
from slowwave.stores.postgres.opening import LOCK_CLASS

if TYPE_CHECKING:
    import psycopg

_log: Final = Log("store")

ROLE: Final = "slowwave_app"
"""The role that reads and writes, so that row-level security applies to every login."""

OLDEST_SCHEMA: Final = 17
"""The oldest schema that this program can use. Its own is that of the last migration."""
_SAYS_READERS: Final = 15
"""The migration from which on the store notes `readable_from` of each schema."""
SMALL: Final = 64 * 1024 * 1024
"""Bytes of tables up to which the owner migrates a store by opening it. A larger one needs `slowwave migrate`."""
LOCK_SECONDS: Final = 2
"""Seconds that a migration waits for the lock of a table: later readers and writers wait behind it."""
PATIENCE: Final = 600.0
"""Seconds after which a migration gives up that never got its locks."""
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
"""Seconds between two attempts; each pause is twice as long as the one before."""

_REASONS: Final = 6
"""The migration that adds the columns of `backfill.fill_reasons`."""
_CONCURRENTLY: Final = "-- concurrently"
_READABLE: Final = re.compile(r"^-- readable from (\d+)$", re.MULTILINE)
_INDEX: Final = re.compile(r"CREATE (UNIQUE )?INDEX CONCURRENTLY (\w+) ON (\w+)\b(.*)", re.DOTALL)

_READY = """
CREATE SCHEMA slowwave;
CREATE TABLE slowwave.migrations (number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
"""

_THERE: Final = """
SELECT EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'migrations')
FROM pg_namespace n WHERE n.nspname = 'slowwave'
"""
_OWNED: Final = "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'slowwave'"
_SIZE: Final = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'slowwave' AND c.relkind = 'r'
"""
_NEWER: Final = """
SELECT coalesce(bool_and(readable_from <= %s), false) FROM slowwave.migrations WHERE number > %s
"""
_HOLDERS: Final = """
SELECT format('session %%s%%s, for %%s s', a.pid, coalesce(' (' || nullif(a.application_name, '') || ')', ''),
    CAST(extract(epoch FROM now() - min(a.xact_start)) AS integer))
FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE n.nspname = 'slowwave' AND l.pid <> pg_backend_pid() AND a.xact_start < now() - interval '1 second'
GROUP BY a.pid, a.application_name ORDER BY min(a.xact_start) LIMIT %s
"""
_NAMED: Final = 3
"""Sessions that a message names."""
_PARTS: Final = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = to_regclass(%s) ORDER BY c.relname
"""
_SOUND: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"

Say = Callable[[str], None]


def schema_of(db: "psycopg.Connection[Any]", name: str, steps: Sequence[Migration], *, create: bool = True) -> int:
    """The schema that an opened store uses. A new store gets all migrations, a small one of the login's own as well.

    Raises:
        ForeignFileError: the schema "slowwave" belongs to another program.
        NotFoundError: there is none yet, and `create` is False.
        NewerSchemaError: only a newer Slowwave can use the schema.
        OlderSchemaError: the schema is older than this program can use, and opening may not migrate it.
        ReadOnlyError: there is no schema, and this login may not create one.
    """
    latest = steps[-1][0]
    version = usable(db, name, latest)
    if version >= latest:
        return version
    if not version and not create:
        raise NotFoundError(f"no store at {name}: check the address; the first memory that is added creates a store")
    if not version or (_one(db, _OWNED) and _one(db, _SIZE) <= SMALL):
        return migrate(db, name, steps)
    if version < min(OLDEST_SCHEMA, latest):
        raise OlderSchemaError(
            f"{name} has schema {version}, and this Slowwave uses {OLDEST_SCHEMA} to {latest}: run `slowwave migrate` once, as "
            "the owner of the schema; programs of the former version can go on until then"
        )
    _log.warning("%s: schema %d of %d: run `slowwave migrate` as its owner", name, version, latest)
    return version


def state(db: "psycopg.Connection[Any]", name: str, steps: Sequence[Migration]) -> SchemaState:
    """What `migrate` would do. Nothing is changed. The errors are those of `schema_of`."""
    latest = steps[-1][0]
    version = usable(db, name, latest)
    return SchemaState(
        store=name,
        version=version,
        wanted=latest,
        steps=tuple(number for number, _ in steps if number > version),
        owned=bool(_one(db, _OWNED)) if version else True,
        size=int(_one(db, _SIZE)),
        holders=tuple(_holders(db)),
    )


def migrate(
    db: "psycopg.Connection[Any]",
    name: str,
    steps: Sequence[Migration],
    *,
    patience: float = PATIENCE,
    say: Say | None = None,
) -> int:
    """Run the missing migrations in order. If several processes do so at once, one migrates and the others wait.

    A migration waits two seconds for the lock of a table, so that no reader or writer waits longer behind it. It is
    then rolled back and tried again, after a pause that doubles each time.

    Args:
        db: a connection in autocommit mode.
        name: the store in messages.
        steps: the migrations.
        patience: seconds after which a migration that never got its locks is given up.
        say: called with a sentence before each migration, and while it waits.

    Returns:
        The schema that the store has now.

    Raises:
        BusyError: other transactions kept their locks; the migrations before are kept.
        ReadOnlyError: there is no schema, and this login may not create one.
    """
    say = say or _silent
    latest = steps[-1][0]
    ends, pause = time.monotonic() + patience, FIRST_PAUSE
    while (version := usable(db, name, latest)) < latest:
        number, script = next(step for step in steps if step[0] > version)
        say(f"migration {number} of {latest}")
        try:
            if script.startswith(_CONCURRENTLY) and version:
                _build_indexes(db, script)
                script = ""
            if _stepped(db, name, version, (number, script)):
                pause = FIRST_PAUSE
        except (errors.LockNotAvailable, errors.DeadlockDetected) as error:
            holders = ", ".join(_holders(db)) or "other transactions"
            if time.monotonic() + pause > ends:
                raise BusyError(
                    f"{name} stays at schema {version}: {holders} held locks for longer than {patience:.0f} s. Nothing was "
                    "changed by the interrupted migration; run it again when they have ended"
                ) from error
            say(f"waiting for {holders}; next attempt in {pause:g} s")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
    return version


def partition(db: "psycopg.Connection[Any]", parts: int) -> None:
    """Cut the tables into so many partitions by the hash of the scope, with the script that ships."""
    with db.transaction():
        db.execute("SELECT set_config('slowwave.partitions', %s, true)", (str(parts),))
        db.execute((files("slowwave.stores") / "postgres/sql/partitions.sql").read_bytes())


def _stepped(db: "psycopg.Connection[Any]", name: str, version: int, step: Migration) -> bool:
    """Run one migration in a transaction and record it. False: another process has migrated."""
    number, script = step
    with db.transaction():
        db.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'".encode())
        # Writers hold it too (`refuse_newer`): those of a former version have ended before, or are refused afterwards.
        db.execute(f"SELECT pg_advisory_xact_lock({LOCK_CLASS}, 0)".encode())
        if _version(db, name) != version:
            return False
        if not version:
            _begin(db, name)
        db.execute("SET LOCAL search_path = slowwave, pg_catalog")
        if script:
            db.execute(script.replace("INDEX CONCURRENTLY", "INDEX").encode())
        if number == _REASONS:
            db.execute("SELECT set_config('slowwave.every_scope', 'on', true)")
            fill_reasons(lambda statement, values: db.execute(statement.replace("?", "%s").encode(), values))
            db.execute("SELECT set_config('slowwave.every_scope', 'off', true)")
        db.execute((files("slowwave.stores") / "postgres/sql/grants.sql").read_bytes())
        db.execute("INSERT INTO migrations (number) VALUES (%s)", (number,))
        if number >= _SAYS_READERS and (readable := _READABLE.search(step[1])):
            db.execute("UPDATE migrations SET readable_from = %s WHERE number = %s", (int(readable[1]), number))
    _log.info("%s: schema %d, migrated from %d", name, number, version)
    return True


def _build_indexes(db: "psycopg.Connection[Any]", script: str) -> None:
    """Build the indexes of a script without locking out writers. What an interrupted attempt left is dropped first."""
    for unique, index, table, rest in _INDEX.findall(script):
        kind = "UNIQUE INDEX" if unique else "INDEX"
        definition = rest.split(";")[0]
        parts = [str(part) for (part,) in db.execute(_PARTS.encode(), (f"slowwave.{table}",)).fetchall()]
        if not parts:
            _build(db, f"{kind} CONCURRENTLY", index, table, definition)
            continue
        if _one(db, _SOUND, f"slowwave.{index}"):
            continue
        _build(db, kind, index, f"ONLY {table}", definition)  # without rows of its own: immediate
        for part in parts:
            _build(db, f"{kind} CONCURRENTLY", f"{part}_{index}", part, definition)
            db.execute(f"ALTER INDEX slowwave.{index} ATTACH PARTITION slowwave.{part}_{index}".encode())


def _build(db: "psycopg.Connection[Any]", kind: str, index: str, table: str, definition: str) -> None:
    """Create one index unless it exists; one that an interrupted attempt left invalid is built again."""
    sound = _one(db, _SOUND, f"slowwave.{index}")
    on_parent = table.startswith("ONLY ")  # an index of a partitioned table is invalid until all parts are attached
    if sound or (on_parent and sound is not None):
        return
    if sound is not None:
        db.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier("slowwave", index)))
    where = f"ONLY slowwave.{table.removeprefix('ONLY ')}" if on_parent else f"slowwave.{table}"
    db.execute(f"CREATE {kind} {index} ON {where}{definition}".encode())


def _holders(db: "psycopg.Connection[Any]") -> Iterator[str]:
    yield from (str(text) for (text,) in db.execute(_HOLDERS.encode(), (_NAMED,)).fetchall())


def _begin(db: "psycopg.Connection[Any]", name: str) -> None:
    try:
        db.execute(_READY)
    except errors.InsufficientPrivilege as error:
        raise ReadOnlyError(
            f"{name} is empty, and this login may not make the schema: open it once as its owner, or let the owner run "
            f'`GRANT CREATE ON DATABASE "{db.info.dbname}" TO "{db.info.user}"`'
        ) from error


def usable(db: "psycopg.Connection[Any]", name: str, latest: int) -> int:
    """The schema of the store, 0 for none. A newer one is an error unless it says that this program can use it.

    Raises:
        NewerSchemaError: it does not say so.
    """
    version = _version(db, name)
    if version > latest and (version < _SAYS_READERS or not _one(db, _NEWER, latest, latest)):
        refuse_newer(version, latest, name)
    return version


def _version(db: "psycopg.Connection[Any]", name: str) -> int:
    # `to_regclass` may answer from a cache that taking the lock does not refresh.
    found: Any = db.execute(_THERE).fetchone()
    if found is None:
        return 0
    if not found[0]:
        raise ForeignFileError(
            f"{name} has a schema 'slowwave' that belongs to another program; it was not touched: use another database"
        )
    return int(_one(db, "SELECT max(number) FROM slowwave.migrations") or 0)


def _one(db: "psycopg.Connection[Any]", statement: str, *values: object) -> Any:  # noqa: ANN401 - a value of a row
    row: Any = db.execute(statement.encode(), values or None).fetchone()
    return None if row is None else row[0]


def _silent(_: str) -> None:
    """Discard the sentences (the default)."""
