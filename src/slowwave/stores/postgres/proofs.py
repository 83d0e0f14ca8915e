"""The table of erases that wait for a proof of the whole store, as the owner of the tables reads and writes it."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import psycopg

_SEE_ALL: Final = b"SELECT set_config('slowwave.every_scope', 'on', true)"
_RUNS: Final = b"SELECT scope, run, tables FROM slowwave.pending_proofs ORDER BY scope, run"
_IDS: Final = (
    b"SELECT memory FROM slowwave.journal WHERE scope = %s AND run = %s AND op = 'erase' AND memory IS NOT NULL"
)
_HELD: Final = b"SELECT DISTINCT id FROM slowwave.memories WHERE id = ANY(%s) AND scope <> ALL(%s::bigint[])"
_REWRITTEN: Final = b"""
UPDATE slowwave.pending_proofs SET tables = ARRAY(SELECT unnest(tables) EXCEPT SELECT unnest(%s::text[]))
WHERE (scope, run) IN (SELECT * FROM unnest(%s::bigint[], %s::bigint[]))
"""
_FINISHED: Final = b"""
DELETE FROM slowwave.pending_proofs
WHERE (scope, run) IN (SELECT * FROM unnest(%s::bigint[], %s::bigint[])) AND tables = '{}'
"""

SEARCHED: Final = "search "
"""Before the name of a table: it was rewritten, or needed it not, and its rows are still to be searched for the ids of the run."""
_TO_SEARCH: Final = b"""
UPDATE slowwave.pending_proofs SET tables = %(tables)s::text[]
WHERE (scope, run) IN (SELECT * FROM unnest(%(scopes)s::bigint[], %(runs)s::bigint[]))
    AND (tables = '{}' OR NOT tables <@ %(tables)s::text[])
"""


class PendingRun(NamedTuple):
    """An erase that waits: the token of its scope, the key of its run, and the tables that may keep its bytes."""

    scope: int
    run: int
    tables: frozenset[str]


def pending_runs(db: "psycopg.Connection[Any]") -> list[PendingRun]:
    """The erases that wait, in order of scope and run."""
    with db.transaction():
        db.execute(_SEE_ALL)
        return [PendingRun(scope, run, frozenset(names)) for scope, run, names in db.execute(_RUNS).fetchall()]


def erased_ids(db: "psycopg.Connection[Any]", runs: Sequence[PendingRun]) -> list[str]:
    """The ids of the memories that these runs erased; the journal records them.

    Those that a memory of another scope has too, as after an import into both, are left out: there they are no trace.
    """
    with db.transaction():
        db.execute(_SEE_ALL)
        ids = [identity for one in runs for (identity,) in db.execute(_IDS, (one.scope, one.run)).fetchall()]
    held = held_elsewhere(db, ids, [one.scope for one in runs])
    return [identity for identity in ids if identity not in held]


def held_elsewhere(db: "psycopg.Connection[Any]", ids: Sequence[str], scopes: Sequence[int]) -> set[str]:
    """Those of these ids that a memory of another scope has, as after an import into both."""
    with db.transaction():
        db.execute(_SEE_ALL)
        return {identity for (identity,) in db.execute(_HELD, (list(ids), list(scopes))).fetchall()}


def tables_rewritten(db: "psycopg.Connection[Any]", runs: Sequence[PendingRun], names: Collection[str]) -> None:
    """Record that these tables hold no bytes of these runs any more, so that an interrupted proof continues behind them."""
    with db.transaction():
        db.execute(_SEE_ALL)
        db.execute(_REWRITTEN, (sorted(names), [one.scope for one in runs], [one.run for one in runs]))


def finish_proofs(db: "psycopg.Connection[Any]", runs: Sequence[PendingRun]) -> None:
    """Delete the notes of proved runs. One to which an erase added a table meanwhile stays."""
    with db.transaction():
        db.execute(_SEE_ALL)
        db.execute(_FINISHED, ([one.scope for one in runs], [one.run for one in runs]))


def search_begins(db: "psycopg.Connection[Any]", runs: Sequence[PendingRun], names: Collection[str]) -> None:
    """Record that the rows of these tables are to be searched for the ids of runs whose tables were all rewritten.

    A search that has begun goes on, unless the store was partitioned since: it then begins again.
    """
    listed = [SEARCHED + name for name in sorted(names)]
    with db.transaction():
        db.execute(_SEE_ALL)
        db.execute(
            _TO_SEARCH, {"tables": listed, "scopes": [one.scope for one in runs], "runs": [one.run for one in runs]}
        )
