"""Whether the policies and triggers of a Postgres store are those that its migrations made, and what mends them."""

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
_REMARKED: Final = "SET slowwave.every_scope = 'on'; SELECT slowwave.mark_due(token) FROM slowwave.scopes"


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
    lost = False
    for (table, name), made in _made().items():
        if (on := there.get((table, name))) is None:
            yield f"{table}.{name}", made
        elif not on:
            yield f"{table}.{name}", f"ALTER TABLE slowwave.{table} ENABLE TRIGGER {name}"
        lost = lost or not on
    if lost:
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
