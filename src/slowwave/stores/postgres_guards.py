"""Whether the functions, policies and triggers of a Postgres store are those that its migrations made, and what mends them."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from slowwave.stores.migrate import migrations

if TYPE_CHECKING:
    import psycopg

POLICY: Final = "own"
"""The one policy of every table that holds rows of scopes."""

_SEEN: Final = "({} = ANY ((SELECT slowwave.seen())::bigint[]) OR (SELECT slowwave.seen_all()))"
_SCOPES: Final = (
    "(token = ANY ((SELECT slowwave.seen())::bigint[]) OR path = (SELECT current_setting('slowwave.path', true)) "
    "OR (SELECT slowwave.seen_all()))"
)
_SHOWN: Final = (
    "((scope = ANY (( SELECT seen() AS seen)::bigint[])) OR ( SELECT seen_all() AS seen_all))",
    "((token = ANY (( SELECT seen() AS seen)::bigint[])) OR "
    "(path = ( SELECT current_setting('path'::text, true) AS current_setting)) OR ( SELECT seen_all() AS seen_all))",
)
"""The same as `pg_get_expr` shows them, whatever the search path: without the name of the schema."""

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
"""Those of partitions are their table's, which must be enabled in all of them."""
_MADE: Final = re.compile(r"^(CREATE|DROP)(?: OR REPLACE)? TRIGGER (?:IF EXISTS )?(\w+)[^;]*;", re.MULTILINE)
_TABLE: Final = re.compile(r"\bON (?:slowwave\.)?(\w+)")
_FUNCTION: Final = re.compile(r"\bFUNCTION (?:slowwave\.)?(\w+)")
_DEFINES: Final = re.compile(
    r"^(?:DO \$\$(?:(?!^\$\$;).)*?CREATE FUNCTION.*?^\$\$;"
    r"|CREATE(?: OR REPLACE)? FUNCTION .*?(?:\$\$.*?\$\$;|\bBEGIN ATOMIC\b.*?^\s*END;|;$)|DROP FUNCTION .*?;$)",
    re.MULTILINE | re.DOTALL,
)
"""Statements of a migration that make or drop functions: they stand at the beginning of a line."""
_DEFINED: Final = """
SELECT format('%%I(%%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    regexp_replace(pg_get_functiondef(p.oid), '^(CREATE OR REPLACE FUNCTION )[^.(]+[.]', '\\1slowwave.')
FROM pg_proc p WHERE p.pronamespace = %s AND p.prokind = 'f'
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
"""
_FORGETS: Final = "search_erased"
"""The trigger by which an erase reaches what the server searches."""
REMADE: Final = "SET slowwave.every_scope = 'on'; DELETE FROM slowwave.search_state"
"""What the server searches is made anew by whoever searches next."""
_REMARKED: Final = "SET slowwave.every_scope = 'on'; SELECT slowwave.mark_due(token) FROM slowwave.scopes"


def functions(db: "psycopg.Connection[Any]") -> Iterator[tuple[str, str]]:
    """Which functions are not what the migrations made: their names, and statements that mend it.

    The same server shows them and those that the migrations would make now, of which nothing is left. One that they never
    made is wrong too: it may take the place of one of the server's own.

    Raises:
        psycopg.Error: this login may make no temporary functions, or the server is only readable.
    """
    with db.transaction(force_rollback=True):
        db.execute("SET LOCAL search_path = pg_temp, pg_catalog, slowwave")  # what is made goes into the first
        for _, script in migrations("postgres"):
            for match in _DEFINES.finditer(script):
                db.execute(match[0].encode())
        there, made = (
            dict(db.execute(_DEFINED.encode(), (db.execute(where).fetchone() or (0,))).fetchall())
            for where in (b"SELECT CAST(CAST('slowwave' AS regnamespace) AS oid)", b"SELECT pg_my_temp_schema()")
        )
    for name, wanted in made.items():
        line = " ".join(wanted.split())
        if " ".join(there.get(name, "").split()) != line:
            yield name, wanted.strip() if "--" in wanted else line
    for name in there:
        if name not in made:
            yield name, f"DROP FUNCTION slowwave.{name}"


def policies(db: "psycopg.Connection[Any]", bound: list[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the policies of these tables: the table's name, and statements that mend it."""
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


def triggers(db: "psycopg.Connection[Any]") -> Iterator[tuple[str, str]]:
    """Which triggers are missing or disabled: their names, and statements that mend it."""
    there: dict[tuple[str, str], bool] = {
        (table, name): on for table, name, on in db.execute(_TRIGGERS.encode()).fetchall()
    }
    lost: set[str] = set()
    for (table, name), made in _made().items():
        if (on := there.get((table, name))) is None:
            yield f"{table}.{name}", made
        elif not on:
            yield f"{table}.{name}", f"ALTER TABLE slowwave.{table} ENABLE TRIGGER {name}"
        if not on:
            lost.add(name)
    if _FORGETS in lost:
        yield "search", REMADE
    if lost - {_FORGETS}:
        yield "due", _REMARKED


def _made() -> dict[tuple[str, str], str]:
    """The statement that makes each trigger, by table and name, after all migrations."""
    found: dict[tuple[str, str], str] = {}
    for _, script in migrations("postgres"):
        for match in _MADE.finditer(script):
            statement = _TABLE.sub(r"ON slowwave.\1", " ".join(match[0].rstrip(";").split()))
            table = _TABLE.findall(statement)[0]
            if match[1] == "DROP":
                found.pop((table, match[2]), None)
            else:
                found[table, match[2]] = _FUNCTION.sub(r"FUNCTION slowwave.\1", statement)
    return found
