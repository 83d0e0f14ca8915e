"""Checks a Postgres server: roles, row security, functions, triggers and extensions."""

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from psycopg import errors

from slowwave.stores.migrations import migrations
from slowwave.stores.postgres.migrate import OLDEST_SCHEMA, ROLE

if TYPE_CHECKING:
    import psycopg

POLICY: Final = "own"
"""The policy of every table that holds rows of scopes."""

_SEEN: Final = "({} = ANY ((SELECT slowwave.seen())::bigint[]) OR (SELECT slowwave.seen_all()))"
_SCOPES: Final = (
    "(token = ANY ((SELECT slowwave.seen())::bigint[]) OR path = (SELECT current_setting('slowwave.path', true)) "
    "OR path = (SELECT slowwave.unnamed(current_setting('slowwave.path', true))) OR (SELECT slowwave.seen_all()))"
)
_SHOWN: Final = (
    "((scope = ANY (( SELECT seen() AS seen)::bigint[])) OR ( SELECT seen_all() AS seen_all))",
    "((token = ANY (( SELECT seen() AS seen)::bigint[])) OR "
    "(path = ( SELECT current_setting('path'::text, true) AS current_setting)) OR "
    "(path = ( SELECT unnamed(current_setting('path'::text, true)) AS unnamed)) OR ( SELECT seen_all() AS seen_all))",
)
"""The same as `pg_get_expr` shows them, without the name of the schema, which depends on the search path."""

_POLICIES: Final = """
SELECT c.relname, p.polname, p.polpermissive AND p.polcmd = '*' AND p.polroles = ARRAY[CAST(0 AS oid)]
    AND p.polwithcheck IS NULL, replace(pg_get_expr(p.polqual, p.polrelid), 'slowwave.', '')
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'slowwave' ORDER BY 1, 2
"""
_TRIGGERS: Final = """
SELECT c.relname, t.tgname, bool_and(t.tgenabled IN ('O', 'A'))
FROM pg_trigger t JOIN pg_class c ON c.oid = coalesce(pg_partition_root(t.tgrelid), t.tgrelid)
    JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'slowwave' AND NOT t.tgisinternal GROUP BY 1, 2
"""
"""The triggers of a table are also those of its partitions, and must be enabled in all of them."""
_TRIGGER_STATEMENT: Final = re.compile(
    r"^(CREATE|DROP)(?: OR REPLACE)? TRIGGER (?:IF EXISTS )?(\w+)[^;]*;", re.MULTILINE
)
_TABLE: Final = re.compile(r"\bON (?:slowwave\.)?(\w+)")
_FUNCTION: Final = re.compile(r"\bFUNCTION (?:slowwave\.)?(\w+)")
_FUNCTION_STATEMENT: Final = re.compile(
    r"^(?:DO \$\$(?:(?!^\$\$;).)*?CREATE FUNCTION.*?^\$\$;"
    r"|CREATE(?: OR REPLACE)? FUNCTION .*?(?:\$\$.*?\$\$;|\bBEGIN ATOMIC\b.*?^\s*END;|;$)|DROP FUNCTION .*?;$)",
    re.MULTILINE | re.DOTALL,
)
"""Statements of a migration that make or drop functions: they stand at the beginning of a line."""
_FUNCTION_DEFINITIONS: Final = """
SELECT format('%%I(%%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    regexp_replace(pg_get_functiondef(p.oid), '^(CREATE OR REPLACE FUNCTION )[^.(]+[.]', '\\1slowwave.')
FROM pg_proc p WHERE p.pronamespace = %s AND p.prokind = 'f'
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
"""
_ERASE_TRIGGER: Final = "search_erased"
"""The trigger by which an erase deletes rows of the search tables."""
EMPTY_SEARCH: Final = "SET slowwave.every_scope = 'on'; DELETE FROM slowwave.search_state"
"""Empties the search tables, which the next search derives again."""
_MARK_ALL_DUE: Final = "SET slowwave.every_scope = 'on'; SELECT slowwave.mark_due(token) FROM slowwave.scopes"


def check_functions(db: "psycopg.Connection[Any]") -> Iterator[tuple[str, str]]:
    """Which functions are not what the migrations made: their names, and statements that repair it.

    The same server shows them and those that the migrations would make now, of which nothing is left. One that they never
    made is wrong too: it may take the place of one of the server's own.

    Raises:
        psycopg.Error: this login may make no temporary functions, or the server is only readable.
    """
    with db.transaction(force_rollback=True):
        db.execute("SET LOCAL search_path = pg_temp, pg_catalog, slowwave")  # new functions go into the first schema
        for _, script in migrations("postgres"):
            for match in _FUNCTION_STATEMENT.finditer(script):
                # The server finds no temporary function by its bare name.
                db.execute(match[0].replace("DROP FUNCTION ", "DROP FUNCTION pg_temp.").encode())
        there, made = (
            dict(db.execute(_FUNCTION_DEFINITIONS.encode(), (db.execute(where).fetchone() or (0,))).fetchall())
            for where in (b"SELECT CAST(CAST('slowwave' AS regnamespace) AS oid)", b"SELECT pg_my_temp_schema()")
        )
    for name, wanted in made.items():
        line = " ".join(wanted.split())
        if " ".join(there.get(name, "").split()) != line:
            yield name, wanted.strip() if "--" in wanted else line
    for name in there:
        if name not in made:
            yield name, f"DROP FUNCTION slowwave.{name}"


def check_policies(db: "psycopg.Connection[Any]", bound: list[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the policies of these tables: the table's name, and statements that repair it."""
    there: dict[str, dict[str, bool]] = {name: {} for name in bound}
    for table, name, plain, shown in db.execute(_POLICIES.encode()).fetchall():
        sound = name == POLICY and plain and shown == _SHOWN[table == "scopes"]
        there.setdefault(table, {})[name] = sound
    for table, found in there.items():
        for name, sound in found.items():
            if not sound:
                yield table, f'DROP POLICY "{name.replace(chr(34), 2 * chr(34))}" ON slowwave.{table}'
        if table in bound and not found.get(POLICY):
            using = _SCOPES if table == "scopes" else _SEEN.format("scope")
            yield table, f"CREATE POLICY {POLICY} ON slowwave.{table} USING {using}"


def check_triggers(db: "psycopg.Connection[Any]") -> Iterator[tuple[str, str]]:
    """Which triggers are missing or disabled: their names, and statements that repair it."""
    there: dict[tuple[str, str], bool] = {
        (table, name): on for table, name, on in db.execute(_TRIGGERS.encode()).fetchall()
    }
    lost: set[str] = set()
    for (table, name), made in _expected_triggers().items():
        if (on := there.get((table, name))) is None:
            yield f"{table}.{name}", made
        elif not on:
            yield f"{table}.{name}", f"ALTER TABLE slowwave.{table} ENABLE TRIGGER {name}"
        if not on:
            lost.add(name)
    if _ERASE_TRIGGER in lost:
        yield "search", EMPTY_SEARCH
    if lost - {_ERASE_TRIGGER}:
        yield "due", _MARK_ALL_DUE


def _expected_triggers() -> dict[tuple[str, str], str]:
    """The statement that makes each trigger, by table and name, after all migrations."""
    found: dict[tuple[str, str], str] = {}
    for _, script in migrations("postgres"):
        for match in _TRIGGER_STATEMENT.finditer(script):
            statement = _TABLE.sub(r"ON slowwave.\1", " ".join(match[0].rstrip(";").split()))
            table = _TABLE.findall(statement)[0]
            if match[1] == "DROP":
                found.pop((table, match[2]), None)
            else:
                found[table, match[2]] = _FUNCTION.sub(r"FUNCTION slowwave.\1", statement)
    return found


Finding = tuple[str, bool, str]
"""The name of a check, whether it passed, and what it found, with what to do if it failed."""

OLDEST: Final = 15
UNBOUND: Final = frozenset(
    {"store", "embedders", "migrations", "due", "workers", "access_keys", "model_use", "model_pauses"}
)
"""Tables without content of a scope, and so without row-level security."""
SPARE: Final = 4
"""Connections that should stay free for other clients."""

_SERVER: Final = """
SELECT CAST(current_setting('server_version_num') AS integer), current_setting('server_version'),
    current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
    CAST(current_setting('max_connections') AS integer) - CAST(current_setting('superuser_reserved_connections') AS integer)
"""
_VECTOR: Final = """
SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector'), (
    SELECT default_version FROM pg_available_extensions WHERE name = 'vector'
), (
    SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
), EXISTS (
    SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('slowwave.search_places') AND attname = 'vector'
)
"""
_LOGIN: Final = """
SELECT r.rolname, r.rolsuper, r.rolbypassrls, o.oid IS NOT NULL AND pg_has_role(r.oid, o.oid, 'MEMBER'),
    coalesce(o.rolsuper OR o.rolbypassrls, false)
FROM pg_roles r LEFT JOIN pg_roles o ON o.rolname = %s WHERE r.rolname = current_user
"""
_TABLES: Final = """
SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity,
    has_schema_privilege(%(as)s, c.relnamespace, 'USAGE') AND has_table_privilege(%(as)s, c.oid, 'SELECT')
        AND (c.relname = 'migrations' OR has_table_privilege(%(as)s, c.oid, 'INSERT')
            AND has_table_privilege(%(as)s, c.oid, 'UPDATE') AND has_table_privilege(%(as)s, c.oid, 'DELETE'))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'slowwave' AND c.relkind IN ('r', 'p') ORDER BY c.relname
"""

_UNANALYSED: Final = """
SELECT DISTINCT r.relname
FROM pg_class c
    JOIN pg_class r ON r.oid = coalesce(pg_partition_root(c.oid), c.oid)
WHERE c.relnamespace = CAST('slowwave' AS regnamespace) AND c.relkind IN ('r', 'p')
    AND c.reltuples <= 0
    AND coalesce((SELECT sum(pg_relation_size(t.relid)) FROM pg_partition_tree(c.oid) t), pg_relation_size(c.oid)) > %s
ORDER BY 1
"""
"""Large tables of which the planner knows nothing, or that they were empty. Every login sees `reltuples`, and a crash keeps it: the
server shows `pg_stats` of these tables to superusers only, and forgets in a crash when a table was analysed."""
_SMALL: Final = 1024 * 1024
"""Bytes of a table that is read fast without statistics. New tables get theirs within a minute, partitioned ones never."""


def check_server(db: "psycopg.Connection[Any]", connections: int) -> Iterator[Finding]:
    """Check a server with the rights of this login.

    Args:
        db: a connection of the login's.
        connections: how many this process may hold.
    """
    begun = time.perf_counter()
    number, version, commit, fsync, pages, most = _row(db, _SERVER)
    trip = (time.perf_counter() - begun) * 1000
    old = number < OLDEST * 10_000
    yield "server", not old, f"PostgreSQL {version}" + (f": {OLDEST} or newer is tested; upgrade it" if old else "")
    yield _pgvector(*_row(db, _VECTOR))
    few = most < connections + SPARE
    summary = f"one round trip {trip:.1f} ms, up to {connections} of the server's {most} connections"
    yield "pool", not few, summary + (": raise max_connections, or put a pooler in between" if few else "")
    role, security = _login(*_row(db, _LOGIN, (ROLE,)))
    yield security
    yield _functions(db)
    yield from _tables(db, role)
    yield _migrated(db)
    yield _statistics(db)
    yield from _durable(commit, fsync, pages)


def _pgvector(there: str | None, available: str | None, schema: str | None, used: bool) -> Finding:
    if there and used:
        return "pgvector", True, there
    repair = f"ALTER TABLE slowwave.search_places ADD COLUMN vector {schema or 'public'}.halfvec; {EMPTY_SEARCH}"
    if there:
        return "pgvector", True, f"{there}, not used: every scope is searched in RAM, however large, until you {repair}"
    how = (
        f"version {available} is there: CREATE EXTENSION vector; {repair}"
        if available
        else "the server does not ship it"
    )
    return "pgvector", True, f"not installed: every scope is searched in RAM, however large ({how})"


def _login(name: str, superuser: bool, bypasses: bool, member: bool, unbound: bool) -> tuple[str, Finding]:
    """The role that reads and writes, and whether row-level security binds it."""
    if unbound:
        advice = f"{ROLE} is not bound by row-level security: ALTER ROLE {ROLE} NOSUPERUSER NOBYPASSRLS"
        return ROLE, ("login", False, advice)
    if member:
        kind = "a superuser that works as" if superuser else "which works as"
        return ROLE, ("login", True, f"{name}, {kind} {ROLE}")
    if superuser or bypasses:
        advice = f"{name} is not bound by row-level security: GRANT {ROLE} TO {name}, or ALTER ROLE {name} NOBYPASSRLS"
        return name, ("login", False, advice)
    return name, ("login", True, f"{name}, bound by row-level security itself")


def _tables(db: "psycopg.Connection[Any]", role: str) -> Iterator[Finding]:
    rows: list[Any] = db.execute(_TABLES.encode(), {"as": role}).fetchall()
    barred = [name for name, _, may in rows if not may]
    what = f"{role} reads and writes {len(rows)} tables"
    if barred:
        listed = ", ".join(f"slowwave.{name}" for name in barred)
        what = f"{role} lacks some: as the owner, GRANT SELECT, INSERT, UPDATE, DELETE ON {listed} TO {role}"
    yield "privileges", not barred, what
    scoped = [name for name, _, _ in rows if name not in UNBOUND]
    wrong = [
        (name, f"ALTER TABLE slowwave.{name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        for name, bound, _ in rows
        if name in scoped and not bound
    ]
    wrong += check_policies(db, scoped)
    summary = f"enabled and forced on {len(scoped)} tables, with the policies of the migrations"
    yield "row security", not wrong, _repairs("not in force, or with other policies, on", wrong) if wrong else summary
    lost = [*check_triggers(db)]
    yield "triggers", not lost, _repairs("missing or disabled:", lost) if lost else "those of the migrations"


def _functions(db: "psycopg.Connection[Any]") -> Finding:
    try:
        wrong = [*check_functions(db)]
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        return "functions", True, f"not compared with those of the migrations: {error.diag.message_primary}"
    summary = "those of the migrations"
    return "functions", not wrong, _repairs("missing, changed or unknown:", wrong) if wrong else summary


def _repairs(what: str, wrong: list[tuple[str, str]]) -> str:
    names = ", ".join(dict.fromkeys(name for name, _ in wrong))
    return f"{what} {names}: run as the owner: {'; '.join(statement for _, statement in wrong)}"


def _migrated(db: "psycopg.Connection[Any]") -> Finding:
    wanted = migrations("postgres")[-1][0]
    found = int(_row(db, "SELECT coalesce(max(number), 0) FROM slowwave.migrations")[0])
    if found < wanted:
        usable = "works until then" if found >= OLDEST_SCHEMA else "cannot use it"
        return (
            "migrations",
            False,
            f"schema {found} of {wanted}, this version {usable}: run `slowwave migrate` as its owner",
        )
    newer = f", newer than {wanted} of this version, which can use it" if found > wanted else ", up to date"
    return "migrations", True, f"schema {found}{newer}"


def _statistics(db: "psycopg.Connection[Any]") -> Finding:
    rows: list[Any] = db.execute(_UNANALYSED.encode(), (_SMALL,)).fetchall()
    names = ", ".join(f"slowwave.{name}" for (name,) in rows)
    if not rows:
        return "statistics", True, "the planner has those of every large table"
    return (
        "statistics",
        False,
        f"the planner has none of {', '.join(name for (name,) in rows)}, as after a restore, so searches are slow: "
        f"run as the owner: ANALYZE {names}",
    )


def _durable(commit: str, fsync: str, pages: str) -> Iterator[Finding]:
    late = commit in {"off", "local"}
    yield "commit", True, f"synchronous_commit={commit}" + (", turned on for every write of Slowwave" if late else "")
    risks = [name for name, value in (("fsync", fsync), ("full_page_writes", pages)) if value != "on"]
    summary = "the server waits for its disk"
    if risks:
        summary = f"{' and '.join(risks)} off: what was acknowledged is lost when the machine fails; turn on and reload"
    yield "disk", not risks, summary


def _row(db: "psycopg.Connection[Any]", statement: str, values: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - a row
    return db.execute(statement.encode(), values).fetchone()
