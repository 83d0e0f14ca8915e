"""The scope is part of every key: an older store gets there with its rows, and tables are cut by it without a change."""

import re
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.stores.conftest import older_store, truncate

from slowwave import AgentMemory, Message
from slowwave.model.index_entry import fingerprint
from slowwave.model.query import Where
from slowwave.stores.copy import copy, state_hash
from slowwave.stores.migrations import migrations
from slowwave.stores.postgres.doctor import UNBOUND
from slowwave.stores.postgres.pool import KEEPS_PLANS_AFTER
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.sql import named_statements
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import NOW, SCOPE, add, advance, entry, fact, link, message, plan
from slowwave.testing.postgres import PostgresServer
from slowwave.testing.store_contract.access import AccessContract
from slowwave.testing.store_contract.scopes import ScopeContract
from slowwave.testing.store_contract.search import SearchContract
from slowwave.testing.store_contract.write import StoreContract

OTHER = "acme/bob"
PARTS = 3
WHOLE = {"store", "scopes", "embedders", "migrations", "due", "workers", "access_keys", "model_use", "model_pauses"}
"""Tables that are not cut: they hold no rows of scopes, but one for all, one a scope, or numbers without content."""


def partitioned(address: str, parts: int = PARTS) -> None:
    """Run the script that ships, as docs/scaling.md says."""
    script = (files("slowwave.stores") / "postgres/sql/partitions.sql").read_bytes()
    with psycopg.connect(address, options=f"-c slowwave.partitions={parts}", autocommit=True) as db:
        db.execute(script)


@pytest.fixture(scope="module")
def cut(shared_postgres: PostgresServer) -> str:
    """A database whose tables were cut before the first row."""
    address = shared_postgres.database()
    PostgresStore(address).close()
    partitioned(address)
    return address


@pytest.fixture(scope="module")
def cut_sweeper(cut: str) -> Iterator["psycopg.Connection[Any]"]:
    """A connection to it: a new one reads the catalogue of all partitions again."""
    with psycopg.connect(cut, autocommit=True) as db:
        yield db


@pytest.fixture
def store(cut: str, cut_sweeper: "psycopg.Connection[Any]") -> Iterator[PostgresStore]:
    opened = PostgresStore(cut, connections=4, busy_seconds=10)
    truncate(cut_sweeper)
    yield opened
    opened.close()


class TestPartitioned(StoreContract):
    pass


class TestPartitionedSearch(SearchContract):
    pass


class TestPartitionedScopes(ScopeContract):
    pass


class TestPartitionedAccess(AccessContract):
    pass


def lived_in(store: PostgresStore | SqliteStore) -> None:
    """Rows of two scopes in every table with a key."""
    tea, rye, hello = fact("Likes tea"), fact("Likes rye"), message("Hello there, old friend", id="m-1")
    store.apply(plan(add(hello), add(tea), add(rye), link(tea.id, rye.id), advance(0, 1), cause="observe"))
    store.apply(plan(add(fact("Likes milk", scope=OTHER, id="f-2")), scope=OTHER, cause="add"))


def kept(store: PostgresStore, before: list[str]) -> None:
    """Whatever was done to the tables, the store holds the same and goes on."""
    assert [state_hash(store, scope) for scope in (SCOPE, OTHER)] == before
    assert state_hash(store, "nobody") not in before
    assert store.index(SCOPE, {"m-1": entry("Hello there, old friend")}) == 1
    assert store.index(SCOPE, {"m-1": entry("Hello there, old friend")}) == 1, "an upsert finds the key"
    assert not store.apply(plan(add(fact("Likes oats")))).dropped
    assert store.scopes_due(NOW, 10) == [SCOPE, OTHER]
    assert store.check(deep=True) == []


# ---- keys


def test_an_older_store_gets_the_scope_into_its_keys_and_keeps_its_rows(postgres: PostgresServer) -> None:
    address = postgres.database()
    with older_store(address, 3) as old:
        lived_in(old)
        before = [state_hash(old, scope) for scope in (SCOPE, OTHER)]
        with psycopg.connect(address) as db:
            db.execute("SET slowwave.every_scope = 'on'")
            details = db.execute("SELECT details, id FROM slowwave.runs").fetchall()
    store = PostgresStore(address)
    with psycopg.connect(address) as db:  # what was written with the columns is back
        db.execute("SET slowwave.every_scope = 'on'")
        db.cursor().executemany("UPDATE slowwave.runs SET details = %s, seal = 1 WHERE id = %s", details)
        renamed = db.execute(
            "UPDATE slowwave.embedders SET name = 'test-8' WHERE name = %s", [fingerprint("test-8", 8)]
        )
        assert renamed.rowcount == 1
    kept(store, before)
    store.close()


def test_the_scope_is_part_of_every_unique_index_of_a_table_that_has_one(own: str) -> None:
    with psycopg.connect(own) as db:
        without = db.execute(
            "SELECT i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
            "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'scope' "
            "WHERE c.relnamespace = 'slowwave'::regnamespace AND i.indisunique AND NOT a.attnum = ANY (i.indkey)"
        ).fetchall()
    assert without == []


# ---- partitions


def shape(address: str) -> dict[str, list[object]]:
    """Columns, indexes, constraints, policies, triggers and rights of every table, without the names of partitions."""
    queries = {
        "columns": "SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, attstorage, attcollation FROM "
        "pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND attnum > 0 WHERE {}",
        "indexes": "SELECT relname, i.indexrelid::regclass::text, replace(pg_get_indexdef(i.indexrelid), ' ONLY ', ' ') "
        "FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid WHERE {}",
        "policies": "SELECT relname, relrowsecurity, relforcerowsecurity, p.polname, pg_get_expr(polqual, polrelid) "
        "FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid WHERE {}",
        "triggers": "SELECT relname, pg_get_triggerdef(t.oid) FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid WHERE {}",
        "rights": "SELECT relname, relowner::regrole::text, relacl::text FROM pg_class c WHERE {}",
    }
    which = "relnamespace = 'slowwave'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
    with psycopg.connect(address) as db:
        return {name: sorted(map(str, db.execute(text.format(which).encode()))) for name, text in queries.items()}


def test_partitioning_keeps_indexes_policies_and_triggers(cut: str, own: str) -> None:
    assert shape(cut) == shape(own)
    with psycopg.connect(cut) as db:
        kinds = dict(
            db.execute(
                "SELECT relname, (SELECT count(*) FROM pg_inherits WHERE inhparent = c.oid) FROM pg_class c "
                "WHERE relnamespace = 'slowwave'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
            ).fetchall()
        )
    assert {name for name, parts in kinds.items() if not parts} == WHOLE == UNBOUND | {"scopes"}
    assert {parts for parts in kinds.values() if parts} == {PARTS}


def test_a_store_that_was_lived_in_is_cut_with_its_rows_and_again_is_nothing(own: str) -> None:
    store = PostgresStore(own)
    lived_in(store)
    before = [state_hash(store, scope) for scope in (SCOPE, OTHER)]
    partitioned(own)
    first = shape(own)
    partitioned(own, parts=7)
    assert shape(own) == first
    kept(store, before)
    store.close()


def test_a_number_of_partitions_that_is_none_is_refused(own: str) -> None:
    with pytest.raises(psycopg.errors.RaiseException, match="is 1: take 2 to 1024"):
        partitioned(own, parts=1)


def test_a_table_owner_without_superuser_rights_can_rewrite_its_tables(postgres: PostgresServer) -> None:
    address = postgres.database()
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("CREATE ROLE cutter LOGIN")
        db.execute(f"ALTER DATABASE {db.info.dbname} OWNER TO cutter".encode())
    theirs = address.replace("postgres:@", "cutter@")
    store = PostgresStore(theirs)
    lived_in(store)
    before = [state_hash(store, scope) for scope in (SCOPE, OTHER)]
    partitioned(theirs)
    kept(store, before)
    assert {name for name, ok, _ in store.about() if not ok} == {"disk"}
    store.close()


@pytest.mark.usefixtures("store")
def test_a_whole_memory_lives_in_a_database_that_is_cut(cut: str) -> None:
    words = "My dentist keeps forty xylophones"
    with AgentMemory.open(cut, scope=SCOPE, llm=None, embedder="static") as memory:
        said = [Message(role="user", content=text, id=text) for text in (words, "I moved to Lisbon", "Rain again")]
        memory.add_messages(said, conversation="c")
        fact = memory.add("Alice owns the deploy pipeline").ids[0]
        edited = memory.update(fact, "Alice owned the deploy pipeline until June")
        assert list(memory.sleep_due()) == [SCOPE]
        assert not memory.sleep_due()
        assert memory.search("who keeps xylophones?")[0].text == words
        memory.undo(edited.run_id)
        assert memory.get(fact).text == "Alice owns the deploy pipeline"
        receipt = memory.erase(id=memory.search("who keeps xylophones?")[0].memory.id)
        assert (receipt.problems, receipt.verified) == ((), True)
        assert words not in {hit.text for hit in memory.search("who keeps xylophones?")}
        assert memory.doctor(deep=True) == []
        assert {name for name, ok, _ in memory.ports.store.about() if not ok} == {"disk"}


def test_a_store_is_copied_into_partitions_and_back(store: PostgresStore) -> None:
    source, back = SqliteStore(":memory:"), SqliteStore(":memory:")
    lived_in(source)
    assert copy(source, store).hashes == copy(store, back).hashes
    assert back.select([SCOPE, OTHER], Where()) == source.select([SCOPE, OTHER], Where()) != []


@pytest.mark.parametrize(("parts", "later"), [(0, "auto"), (PARTS, "force_generic_plan")])
def test_a_long_used_connection_to_partitioned_tables_reads_with_plans_that_the_server_keeps(
    own: str, parts: int, later: str
) -> None:
    if parts:
        partitioned(own, parts)
    store = PostgresStore(own, connections=1)
    lived_in(store)

    def mode() -> str:
        with store._guard:
            return str(store._db.execute("SELECT current_setting('plan_cache_mode')").fetchall()[0][0])

    assert mode() == "auto", "a short use would pay for plans that it does not use again"
    for _ in range(KEEPS_PLANS_AFTER):
        found = store.select([SCOPE], Where())
    assert mode() == later
    assert store.select([SCOPE], Where()) == found != []
    with store._guard:
        store._db.plan_anew()
        assert store._db.execute("SELECT current_setting('plan_cache_mode')").fetchall() == [("auto",)]
    store.close()


# ---- what guards a table guards its partitions


def test_a_partition_reads_and_writes_only_rows_of_the_named_scopes(store: PostgresStore, cut: str) -> None:
    lived_in(store)
    with psycopg.connect(cut, options="-c search_path=slowwave,pg_catalog") as db:
        db.execute("SET ROLE slowwave_app")
        named = "SELECT relname FROM pg_class WHERE relnamespace = 'slowwave'::regnamespace AND relispartition AND relkind = 'r'"
        partitions = [name for (name,) in db.execute(named)]
        assert len(partitions) >= PARTS * 11
        for name in partitions:
            assert db.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() == (0,)
            assert db.execute(f"DELETE FROM {name}".encode()).rowcount == 0
    assert len(store.select([SCOPE, OTHER], Where())) == 4


@pytest.mark.parametrize(
    ("spoilt", "line", "where"),
    [
        ("DROP POLICY own ON slowwave.journal_1", "row security", "journal_1"),
        ("ALTER TABLE slowwave.links_0 NO FORCE ROW LEVEL SECURITY", "row security", "links_0"),
        ("ALTER POLICY own ON slowwave.held_2 USING (true)", "row security", "held_2"),
        ("REVOKE INSERT ON slowwave.runs_0 FROM slowwave_app", "privileges", "runs_0"),
        ("ALTER TABLE slowwave.runs_2 DISABLE TRIGGER came_in", "triggers", "runs.came_in"),
        ("ALTER TABLE slowwave.leases DISABLE TRIGGER taken", "triggers", "leases.taken"),
        ("DROP TRIGGER fact_added ON slowwave.memories", "triggers", "memories.fact_added"),
    ],
)
def test_doctor_finds_a_partition_that_differs_from_its_table_and_names_the_repair(
    store: PostgresStore, cut: str, spoilt: str, line: str, where: str
) -> None:
    def look() -> tuple[bool, str]:
        return {name: (ok, detail) for name, ok, detail in store.about()}[line]

    assert look()[0]
    with psycopg.connect(cut, autocommit=True) as db:
        db.execute(spoilt.encode())
        ok, detail = look()
        assert not ok
        assert where in detail
        db.execute(re.split("owner[:,] ", detail)[1].encode())
    assert look()[0]


def test_a_cut_database_is_dumped_and_restored(
    store: PostgresStore, cut: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    lived_in(store)
    before, restored = [state_hash(store, scope) for scope in (SCOPE, OTHER)], postgres.database()
    file = f"--file={tmp_path / 'memory.sql'}"
    for program, *detail in (
        ("pg_dump", cut, "--schema=slowwave", "--no-owner", file),
        ("psql", restored, "--quiet", "--command=CREATE EXTENSION vector"),
        ("psql", restored, "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction", file),
    ):
        done = subprocess.run([postgres.program(program), *detail], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    again = PostgresStore(restored)
    assert shape(restored) == shape(cut)
    kept(again, before)
    again.close()


# ---- one partition is asked

MADE = {
    name for _, script in migrations("postgres") for name in re.findall(r"^CREATE TABLE (\w+)", script, re.MULTILINE)
}
CUT = re.compile(rf"\b(?:{'|'.join(MADE - WHOLE)})\b")
SQL = {name: statement.text for name, statement in named_statements("postgres").items()}
OF_ONE = {name: text for name, text in SQL.items() if "scope = $" in text}
"""Statements that are about one scope."""


def test_only_checks_and_looks_for_work_and_words_ask_about_all_scopes() -> None:
    asking = {name for name, text in SQL.items() if CUT.search(text) and not text.startswith(("INSERT", "CREATE"))}
    checks = {"without_entry", "lost_entries", "nameless", "orphans"}
    across = {
        "scopes_due",
        "failing_passes",
        "scopes_page",
        "scope_of_memory",
        "somewhere",
        "backlog",
        "pending_proofs",
        "words_of_memories",
        "words_of_changes",
    }
    assert asking - set(OF_ONE) <= checks | across


def test_a_statement_looks_into_one_partition_of_each_table_by_an_index(cut: str) -> None:
    wrong = {}
    with psycopg.connect(cut, options="-c search_path=slowwave,pg_catalog -c enable_seqscan=off") as db:
        db.execute("SET ROLE slowwave_app")
        for name, text in OF_ONE.items():
            detail = re.sub(r"\$\d+", "'5'", text)
            steps = [str(row[0]) for row in db.execute(f"EXPLAIN {detail}".encode()).fetchall()]
            scans = [step for step in steps if re.search(r"Scan\b.* on \w+_\d", step) and "Bitmap Index" not in step]
            if len(scans) > len(CUT.findall(text)) or any("Seq Scan" in step for step in scans):
                wrong[name] = scans
    assert wrong == {}
