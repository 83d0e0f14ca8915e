"""Finds erased content that a Postgres server still holds: in rows of tables, and in pages of their files."""

import time
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import psycopg
from psycopg import errors, sql

from slowwave.stores.byte_scan import PIECE, BytePatterns, contains
from slowwave.stores.sql import bounds

if TYPE_CHECKING:
    from psycopg.sql import Composable

REWRITTEN_MAX: Final = 64 * 1024 * 1024
"""Bytes of tables up to which they are rewritten at once, and their files read."""

PAGES: Final = "the pages of the tables' files, which this login may not read: their rows were looked through"
"""What stays unread without a superuser's rights; a table that could not be rewritten is a problem of its own."""

_SEGMENT: Final = 1 << 30
"""Bytes of one file of a relation; the next has a number."""
_EVERY_SCOPE: Final = sql.SQL("SELECT set_config('slowwave.every_scope', 'on', true)")  # row security would hide rows
_MARKS: Final = "SELECT memory, other FROM {} WHERE op <> 'erase'"
"""The ids that the journal names, without those of rows that record an erase. A change of a successor may name one."""

_WORDED: Final = """
SELECT format('%I.%I', n.nspname, c.relname), pg_total_relation_size(c.oid), pg_has_role(c.relowner, 'USAGE')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'slowwave' AND c.relkind = 'r' AND pg_relation_size(c.oid) > 0
    AND c.relname NOT IN ('store', 'migrations', 'due', 'leases', 'embedders', 'workers', 'pending_proofs')
ORDER BY 1
"""
TOUCHED: Final = """SELECT format('%I.%I', schemaname, relname) FROM pg_stat_xact_all_tables
WHERE schemaname = 'slowwave' AND (n_tup_del + n_tup_upd > 0 OR relname LIKE 'gists%' AND pg_relation_size(relid) > 0)
"""
"""The tables whose rows the transaction has deleted or changed, perhaps with those of the transaction before it.

What is in none of their rows now was in none before, but for gists, which come and go while their memory stays."""
_TABLES: Final = """
SELECT n.nspname, c.relname, has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'),
    n.nspname = 'slowwave' AND (c.relname = 'journal' OR EXISTS (
        SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid AND i.inhparent = to_regclass('slowwave.journal')
    ))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('slowwave', 'slowwave_queue') AND c.relkind = 'r' AND pg_relation_size(c.oid) > 0 ORDER BY 1, 2
"""
_SCOPED: Final = """
SELECT c.relname, EXISTS (
    SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'key' AND a.attnum > 0
), has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute s ON s.attrelid = c.oid AND s.attname = 'scope' AND s.attnum > 0
WHERE n.nspname = 'slowwave' AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1
"""
"""The tables with rows of scopes, and whether their keys begin with the token of the scope."""
_FILES: Final = """
SELECT r.relname, pg_relation_filepath(r.oid), pg_relation_size(r.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class r ON r.oid IN (c.oid, c.reltoastrelid) OR r.oid IN (
    SELECT indexrelid FROM pg_index WHERE indrelid IN (c.oid, c.reltoastrelid)
)
WHERE format('%%I.%%I', n.nspname, c.relname) = ANY(%s) AND pg_relation_size(r.oid) > 0
"""
_NOW: Final = "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS xid) AS text)"
_OLDER: Final = """
WITH now AS (SELECT age(CAST(%s AS xid)) AS age)
SELECT 'session ' || pid || coalesce(' (' || nullif(application_name, '') || ')', '') FROM pg_stat_activity, now
WHERE pid <> pg_backend_pid() AND (
    age(backend_xid) > now.age OR age(backend_xmin) > now.age AND coalesce(datname, current_database()) = current_database()
)
UNION ALL SELECT 'prepared transaction ' || gid FROM pg_prepared_xacts, now WHERE age(transaction) > now.age
UNION ALL SELECT 'replication slot ' || slot_name FROM pg_replication_slots, now WHERE age(xmin) > now.age
"""
"""The sessions whose snapshots predate a transaction: a rewritten table keeps the dead rows that they may see.

A snapshot is as old as the oldest writer of any database, our own included. A slot's `catalog_xmin` keeps no row of ours."""
WAITED: Final = 2
"""Seconds to wait for the lock of a table: later readers and writers wait as well."""
_PATIENCE: Final = 2.0
"""Seconds to wait for the transactions that are open when an erase ends."""
_PAUSE: Final = 0.02


class Table(NamedTuple):
    """A table that holds words: its bytes with all that belongs to it, and whether this login may rewrite it."""

    name: str
    size: int
    ours: bool


def tables(db: "psycopg.Connection[Any]") -> list[Table]:
    """The tables that may hold words."""
    return [Table(*row) for row in db.execute(_WORDED.encode()).fetchall()]


def rewritten(db: "psycopg.Connection[Any]", chosen: Iterable[Table]) -> tuple[list[str], list[str]]:
    """Rewrite tables one by one. Returns those rewritten, with how long each was locked, and those in use by others."""
    done, busy = [], []
    db.execute(f"SET lock_timeout = '{WAITED}s'".encode())
    for table in chosen:
        begun = time.perf_counter()
        try:
            db.execute(f"VACUUM FULL {table.name}".encode())
        except errors.LockNotAvailable:
            busy.append(table.name)
        else:
            done.append(f"{table.name} (locked for {time.perf_counter() - begun:.2f} s)")
    db.execute("RESET lock_timeout")
    return done, busy


def reads_pages(db: "psycopg.Connection[Any]") -> bool:
    """Whether this login may read the files of the tables."""
    return db.info.parameter_status("is_superuser") == "on"


def older(db: "psycopg.Connection[Any]") -> list[str]:
    """The sessions whose snapshots predate now, after a short wait for them to end; a sentence if they cannot be listed."""
    try:
        now: Any = db.execute(_NOW.encode()).fetchone()
        ends = time.monotonic() + _PATIENCE
        while (there := db.execute(_OLDER.encode(), now).fetchall()) and time.monotonic() < ends:
            time.sleep(_PAUSE)
    except errors.InsufficientPrivilege as error:
        return [f"somebody whom this login may not look for ({error.diag.message_primary})"]
    return [str(name) for (name,) in there]


class SearchedTable(NamedTuple):
    """A table or a partition whose rows a proof searches, and whether this login may read it."""

    schema: str
    name: str
    readable: bool
    journal: bool

    @property
    def path(self) -> str:
        """Its name with the schema."""
        return f"{self.schema}.{self.name}"


def searched_tables(db: "psycopg.Connection[Any]") -> list[SearchedTable]:
    """The tables and partitions of the store and of the workers' queue that have pages.

    Those of the queue only as far as they are readable.
    """
    rows = [SearchedTable(*row) for row in db.execute(_TABLES.encode()).fetchall()]
    return [table for table in rows if table.readable or table.schema == "slowwave"]


def found_in_table(
    db: "psycopg.Connection[Any]", table: SearchedTable, needles: BytePatterns, ids: BytePatterns
) -> str | None:
    """A sentence if a row of this table, of any scope, holds one of the words or ids."""
    if not table.readable:
        return f"this login may not look into the table {table.path}"
    whole = sql.SQL("SELECT * FROM {}").format(sql.Identifier(table.schema, table.name))
    marks = sql.SQL(_MARKS).format(sql.Identifier(table.schema, table.name)) if table.journal else whole
    if _holds(db, _EVERY_SCOPE, whole, needles) or _holds(db, _EVERY_SCOPE, marks, ids):
        return f"the table {table.path} still holds what was erased"
    return None


def _holds(
    db: "psycopg.Connection[Any]", visible: "sql.SQL | sql.Composed", query: "Composable", needles: BytePatterns
) -> bool:
    """Whether a row holds one of the patterns. A transaction of its own: to stop at the first one cancels the query."""
    if not needles.words:
        return False
    with db.transaction(force_rollback=True):
        db.execute(visible)
        with closing(_rows(db, query)) as rows:
            return contains(rows, needles)


def found(
    db: "psycopg.Connection[Any]", needles: BytePatterns, ids: BytePatterns, pages: Collection[str]
) -> Iterator[str]:
    """Each place that still holds one of the words or ids, in a sentence; `pages` of these tables are read too."""
    for table in searched_tables(db):
        problem = found_in_table(db, table, needles, ids)
        if problem:
            yield problem
    if reads_pages(db):
        there = tables(db)
        small = sum(one.size for one in there) <= REWRITTEN_MAX
        yield from _in_files(db, needles, [one.name for one in there if small or one.name in pages])


def found_in_scope(
    db: "psycopg.Connection[Any]", token: int, needles: BytePatterns, ids: BytePatterns
) -> Iterator[str]:
    """Each table of which a row of this scope holds one of the words or ids, in a sentence. No other row is read."""
    low, high = bounds(token)
    both = BytePatterns([*needles.words, *ids.words])
    visible = sql.SQL("SELECT set_config('slowwave.scopes', {}, true)").format(str(token))
    for table, keyed, readable in db.execute(_SCOPED.encode()).fetchall():
        name = f"slowwave.{table}"
        if not readable:
            yield f"this login may not look into the table {name}"
            continue
        where = sql.SQL("scope = {}").format(token)
        if keyed:
            where += sql.SQL(" AND key BETWEEN {} AND {}").format(low, high)
        identifier = sql.Identifier("slowwave", table)
        whole = sql.SQL("SELECT * FROM {} WHERE {}").format(identifier, where)
        marks = sql.SQL(_MARKS + " AND {}").format(identifier, where)
        journal = table == "journal"
        if _holds(db, visible, whole, needles if journal else both) or (journal and _holds(db, visible, marks, ids)):
            yield f"the table {name} still holds what was erased"


def _rows(db: "psycopg.Connection[Any]", query: "Composable") -> Generator[bytes]:
    """All columns of all rows, as they are."""
    with db.cursor() as cursor, cursor.copy(sql.SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(query)) as copy:
        yield from map(bytes, copy)


def _in_files(db: "psycopg.Connection[Any]", needles: BytePatterns, names: list[str]) -> Iterator[str]:
    if not needles.words:
        return
    db.execute("CHECKPOINT")
    for relation, path, size in db.execute(_FILES.encode(), (names,)).fetchall():
        if contains(_pages(db, path, int(size)), needles):
            yield f"pages of {relation} still hold the bytes of what was erased: another session may need them; erase again"


def _pages(db: "psycopg.Connection[Any]", path: str, size: int) -> Iterator[bytes]:
    read = b"SELECT pg_read_binary_file(%s, %s, %s, true)"
    with db.cursor(binary=True) as cursor:
        for start in range(0, size, PIECE):
            number, offset = divmod(start, _SEGMENT)
            row: Any = cursor.execute(read, (f"{path}.{number}" if number else path, offset, PIECE)).fetchone()
            yield bytes(row[0] or b"")
