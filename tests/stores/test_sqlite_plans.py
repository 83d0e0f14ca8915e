"""No read of the SQLite store scans rows of other scopes, or all rows where an index exists."""

import re
from collections.abc import Callable
from datetime import timedelta

import apsw
import pytest

from slowwave.model.query import Where
from slowwave.stores.sqlite.file import DIALECT, SQL
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.stores.where_clause import selected
from slowwave.testing.builders import NOW, SCOPE, add, fact, message, plan

DAY = timedelta(days=1)

WHOLE_FILE = {
    "scopes_due",
    "put_secret",
    "scopes",
    "without_entry",
    "lost_entries",
    "nameless",
    "orphans",
    "embedders",
    "secret",
    "words_of_memories",
    "words_of_changes",
    "erase_holds",  # an erase examines the whole file afterwards
    "tell_embedders_apart",
    "several_embedders",
    "access_keys",  # a server has few keys
    "any_access_key",
    "forget_prefix",
    "model_pauses",  # a store has few models
    "drop_model_use",  # of about a thousand rows
}
"""Statements of checks, and statements across scopes."""

LIVE = frozenset({"active", "core"})
FACTS = frozenset({"episodic", "semantic", "procedural", "summary"})


def steps(statement: str) -> list[str]:
    store = SqliteStore(":memory:")
    store._db.run("tell_embedders_apart")
    names = dict.fromkeys(re.findall(r":(\w+)", statement), 1)
    values = names or (1,) * (max(map(int, re.findall(r"\?(\d+)", statement)), default=0) or statement.count("?"))
    found = [str(row[3]) for row in store._db.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    store.close()
    return found


@pytest.mark.parametrize("name", sorted(set(SQL) - WHOLE_FILE))
def test_a_statement_searches_and_never_scans_a_table(name: str) -> None:
    scans = [step for step in steps(SQL[name]) if step.startswith("SCAN")]
    assert [
        step
        for step in scans
        if not re.search(r"json_each|SCAN \(|SCAN j$|SCAN m$|SCAN lane$|SCAN step$|SCAN page$|CONSTANT", step)
    ] == []


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
        (Where(kinds=FACTS, ref="r"), "facts_ref"),
        (Where(kinds=frozenset({"message"}), phases=frozenset({"cold"})), "messages_phase"),
        (Where(cascade=True, conversation="c", order="seq"), "cascades_span"),
        (Where(), "INTEGER PRIMARY KEY"),
        (Where(kinds=frozenset({"message"}), order="newest", limit=5), "INTEGER PRIMARY KEY"),
    ],
)
def test_a_selection_reads_its_index(where: Where, index: str) -> None:
    found = steps(selected(where, 1, DIALECT)[0])
    assert any(index in step for step in found), found
    assert not any(step.startswith("SCAN") for step in found), found


@pytest.mark.parametrize(
    "where",
    [
        Where(kinds=frozenset({"message"}), conversation="c", order="seq", limit=64),
        Where(kinds=frozenset({"message"}), conversation="c", order="newest", limit=64),
        Where(kinds=frozenset({"message"}), order="newest", limit=64),
        Where(order="newest", limit=64),
        Where(kinds=FACTS, phases=LIVE, due_before=NOW, order="due", limit=64),
    ],
)
def test_a_limited_selection_is_read_in_order_from_its_index(where: Where) -> None:
    assert not any("TEMP B-TREE" in step for step in steps(selected(where, 1, DIALECT)[0]))


def cost(store: SqliteStore, action: Callable[[], object]) -> int:
    """The number of steps of SQLite's virtual machine, in hundreds."""
    counted = 0

    def count() -> bool:
        nonlocal counted
        counted += 1
        return False

    store._db.set_progress_handler(count, 100)
    action()
    store._db.set_progress_handler(None)
    return counted


def test_frequent_reads_cost_the_same_at_any_store_size() -> None:
    store = SqliteStore(":memory:")
    store.apply(plan(*(add(fact(f"Fact {n}", due_at=NOW + DAY)) for n in range(50))))
    actions: list[Callable[[], object]] = [
        lambda: store.apply(plan(add(message("One more")), cause="observe")),
        lambda: store.due(SCOPE, NOW),
        lambda: store.sequence(SCOPE),
        lambda: store.conversation(SCOPE, "c1"),
        lambda: store.conversations(SCOPE),
        lambda: store.runs(SCOPE, 1),
        lambda: store.runs(SCOPE, 1, cause="add"),
        lambda: store.unembedded(SCOPE, "test-8", 10),
        lambda: store.select([SCOPE], Where(kinds=frozenset({"message"}), conversation="c1", order="newest", limit=5)),
    ]
    few: list[int] = []
    many: list[int] = []
    for outcome, number in ((few, 100), (many, 3000)):
        store.apply(plan(*(add(message(f"Note {number}.{n}")) for n in range(number)), cause="observe"))
        store.apply(plan(*(add(fact(f"More {number}.{n}", due_at=NOW + DAY)) for n in range(number // 10))))
        store.apply(plan(add(fact(f"Last {number}"))))
        outcome += [cost(store, action) for action in actions]
    assert [(place, pair) for place, pair in enumerate(zip(few, many, strict=True)) if pair[1] > pair[0] + 2] == []
    store.close()


def test_statements_of_an_add_and_a_read_are_compiled_once() -> None:
    store = SqliteStore(":memory:")
    compiled: list[object] = []

    def authorize(*action: object) -> int:
        compiled.append(action)
        return apsw.SQLITE_OK

    store._db.authorizer = authorize
    for number in range(3):
        compiled.clear()
        store.apply(plan(add(message(f"Note {number}", ref=f"n{number}")), cause="observe"))
        store.conversation(SCOPE, "c1")
        store.runs(SCOPE, 1)
        store.due(SCOPE, NOW)
    assert compiled == []
    store.close()


def test_the_later_changes_of_a_run_are_looked_up_by_memory() -> None:
    found = steps(SQL["later"])
    assert any("journal_memory (scope=? AND memory=?" in step for step in found), found
