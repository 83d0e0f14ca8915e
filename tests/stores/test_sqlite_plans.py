"""No read of the SQLite store walks over rows of other scopes, nor over all rows where an index tells."""

import re

import pytest

from slowwave.model.query import Where
from slowwave.stores.sqlite import SqliteStore
from slowwave.stores.sqlite_select import selected
from slowwave.stores.sqlite_sql import SQL
from slowwave.testing.plans import NOW

WHOLE_FILE = {"scopes", "without_entry", "lost_entries", "nameless", "orphans", "embedders", "secret", "somewhere"}
"""What only a check, or nobody's scope, asks."""

LIVE = frozenset({"active", "core"})
FACTS = frozenset({"episodic", "semantic", "procedural", "summary"})


def steps(statement: str) -> list[str]:
    store = SqliteStore(":memory:")
    names = dict.fromkeys(re.findall(r":(\w+)", statement), 1)
    values = names or (1,) * statement.count("?")
    found = [str(row[3]) for row in store._db.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    store.close()
    return found


@pytest.mark.parametrize("name", sorted(set(SQL) - WHOLE_FILE))
def test_a_statement_searches_and_never_scans_a_table(name: str) -> None:
    scans = [step for step in steps(SQL[name]) if step.startswith("SCAN")]
    assert [step for step in scans if not re.search(r"json_each|SCAN \(|SCAN j$|SCAN m$|CONSTANT", step)] == []


@pytest.mark.parametrize(
    ("where", "index"),
    [
        (Where(kinds=FACTS, phases=LIVE, due_before=NOW, order="due"), "memories_due"),
        (Where(kinds=FACTS, phases=LIVE, key="x"), "facts_content"),
        (Where(kinds=FACTS, flag="unreconciled"), "memories_flagged"),
        (Where(kinds=FACTS, pinned=True), "memories_pinned"),
        (Where(kinds=frozenset({"semantic"}), phases=LIVE, categories=frozenset({"person"})), "facts_phase"),
        (Where(kinds=frozenset({"message"}), conversation="c", after_seq=3, until_seq=9, order="seq"), "messages_seq"),
        (Where(kinds=frozenset({"message"}), conversation="c", order="newest", limit=64), "messages_seq"),
        (Where(kinds=frozenset({"message"}), ref="r"), "messages_ref"),
        (Where(kinds=frozenset({"message"}), phases=frozenset({"cold"})), "messages_phase"),
        (Where(cascade=True, conversation="c", order="seq"), "cascades_span"),
        (Where(), "scope"),
    ],
)
def test_a_selection_reads_the_index_made_for_it(where: Where, index: str) -> None:
    found = steps(selected(where)[0])
    assert any(index in step for step in found), found
    assert not any(step.startswith("SCAN") for step in found), found


def test_the_numbered_messages_of_a_conversation_come_sorted_from_their_index() -> None:
    where = Where(kinds=frozenset({"message"}), conversation="c", order="seq", limit=64)
    assert not any("TEMP B-TREE" in step for step in steps(selected(where)[0]))
