"""Whether a Postgres server suits a store: its version, roles, row-level security, migrations and durability, with advice."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from psycopg import errors

from slowwave.stores.migrate import migrations
from slowwave.stores.postgres_guards import REMADE, functions, policies, triggers
from slowwave.stores.postgres_migrate import ROLE

if TYPE_CHECKING:
    import psycopg

Finding = tuple[str, bool, str]
"""What was looked at, whether it is well, and what was found, with what to do where it is not."""

OLDEST: Final = 15
UNBOUND: Final = frozenset({"store", "embedders", "migrations", "due"})
"""Tables without content of a scope, and so without row-level security."""
SPARE: Final = 4
"""Connections that others should find free besides those of this process."""

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


def examined(db: "psycopg.Connection[Any]", connections: int) -> Iterator[Finding]:
    """Look a server over, as the login itself.

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
    told = f"one round trip {trip:.1f} ms, up to {connections} of the server's {most} connections"
    yield "pool", not few, told + (": raise max_connections, or put a pooler in between" if few else "")
    role, security = _login(*_row(db, _LOGIN, (ROLE,)))
    yield security
    yield _functions(db)
    yield from _tables(db, role)
    yield _migrated(db)
    yield from _durable(commit, fsync, pages)


def _pgvector(there: str | None, available: str | None, schema: str | None, used: bool) -> Finding:
    if there and used:
        return "pgvector", True, there
    mends = f"ALTER TABLE slowwave.search_places ADD COLUMN vector {schema or 'public'}.halfvec; {REMADE}"
    if there:
        return "pgvector", True, f"{there}, not used: every scope is searched in RAM, however large, until you {mends}"
    how = (
        f"version {available} is there: CREATE EXTENSION vector; {mends}"
        if available
        else "the server does not ship it"
    )
    return "pgvector", True, f"not installed: every scope is searched in RAM, however large ({how})"


def _login(name: str, superuser: bool, bypasses: bool, member: bool, unbound: bool) -> tuple[str, Finding]:
    """The role that reads and writes, and whether row-level security binds it."""
    if unbound:
        advice = f"{ROLE} is beyond row-level security: ALTER ROLE {ROLE} NOSUPERUSER NOBYPASSRLS"
        return ROLE, ("login", False, advice)
    if member:
        kind = "a superuser that works as" if superuser else "which works as"
        return ROLE, ("login", True, f"{name}, {kind} {ROLE}")
    if superuser or bypasses:
        advice = f"{name} is beyond row-level security: GRANT {ROLE} TO {name}, or ALTER ROLE {name} NOBYPASSRLS"
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
    wrong += policies(db, scoped)
    told = f"enabled and forced on {len(scoped)} tables, with the policies of the migrations"
    yield "row security", not wrong, _mended("not in force, or with other policies, on", wrong) if wrong else told
    lost = [*triggers(db)]
    yield "triggers", not lost, _mended("missing or disabled:", lost) if lost else "those of the migrations"


def _functions(db: "psycopg.Connection[Any]") -> Finding:
    try:
        wrong = [*functions(db)]
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        return "functions", True, f"not compared with those of the migrations: {error.diag.message_primary}"
    told = "those of the migrations"
    return "functions", not wrong, _mended("missing, changed or not ours:", wrong) if wrong else told


def _mended(what: str, wrong: list[tuple[str, str]]) -> str:
    names = ", ".join(dict.fromkeys(name for name, _ in wrong))
    return f"{what} {names}: run as the owner: {'; '.join(statement for _, statement in wrong)}"


def _migrated(db: "psycopg.Connection[Any]") -> Finding:
    wanted = migrations("postgres")[-1][0]
    found = _row(db, "SELECT coalesce(max(number), 0) FROM slowwave.migrations")[0]
    behind = f"schema {found} of {wanted}: open the store once as its owner"
    return "migrations", found == wanted, f"schema {found}, up to date" if found == wanted else behind


def _durable(commit: str, fsync: str, pages: str) -> Iterator[Finding]:
    late = commit in {"off", "local"}
    yield "commit", True, f"synchronous_commit={commit}" + (", turned on for every write of ours" if late else "")
    risks = [name for name, value in (("fsync", fsync), ("full_page_writes", pages)) if value != "on"]
    told = "the server waits for its disk"
    if risks:
        told = f"{' and '.join(risks)} off: what was acknowledged is lost when the machine fails; turn on and reload"
    yield "disk", not risks, told


def _row(db: "psycopg.Connection[Any]", statement: str, values: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - a row
    return db.execute(statement.encode(), values).fetchone()
