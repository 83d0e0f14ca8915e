"""What an erase leaves on a server is looked for in every table and page, and what cannot be reached is said."""

import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest

from slowwave import AgentMemory, Message, Slowwave
from slowwave.errors import BusyError
from slowwave.pipelines.admin.erase import ErasureReceipt
from slowwave.stores.postgres.byte_scan import older
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer

WORDS = "Zebulon keeps forty xylophones"
LEFT_BEHIND = """
INSERT INTO slowwave.held (scope, content)
SELECT m.scope, m.id FROM slowwave.memories m JOIN slowwave.scopes s ON s.token = m.scope WHERE s.path = 'third' LIMIT 1
"""


def run_sql(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as db:
        for statement in statements:
            db.execute(statement.encode())


def test_an_erase_is_verified_in_every_table_and_page_and_names_its_limits(memory: AgentMemory) -> None:
    kept = memory.add("Alice owns the deploy pipeline").ids[0]
    gone = memory.add(WORDS, metadata={"who": "Zebulon the Great"}).ids[0]
    memory.update(gone, f"{WORDS} and a harp")
    memory.search("who keeps xylophones?")
    receipt = memory.erase(id=gone)
    assert receipt.destroyed == (gone,)
    assert receipt.problems == ()
    assert "the server's write-ahead log and replicas, until they are recycled" in receipt.not_reached
    assert "no trace is left in this scope" in str(receipt)
    assert memory.ports.store.find_traces([WORDS], [gone]) == []
    assert memory.ports.store.find_traces([], [kept]) != [], "what was not erased is found"


def names(receipt: ErasureReceipt) -> set[str]:
    return {one.partition(" ")[0] for one in receipt.rewritten}


def test_only_tables_from_which_something_was_erased_are_rewritten_and_the_receipt_names_them(
    own: str, memory: AgentMemory
) -> None:
    memory.add("Alice owns the deploy pipeline")
    gone = memory.add(WORDS).ids[0]
    receipt = memory.erase(id=gone)
    assert receipt.verified
    assert names(receipt) >= {"slowwave.memories", "slowwave.entries", "slowwave.journal"}
    assert names(receipt).isdisjoint({"slowwave.links", "slowwave.gists", "slowwave.conversations"})
    assert "rewritten: slowwave.entries (locked for 0." in str(receipt)
    with AgentMemory.open(own, scope=memory.ports.scope, llm=None, embedder="none") as other:
        again = names(other.erase(id=gone))
    assert {"slowwave.held", "slowwave.scopes", "slowwave.memories"} <= again, (
        "what another process erased may have been anywhere"
    )


def test_of_a_table_that_is_cut_only_the_scopes_partition_is_rewritten(own: str) -> None:
    script = (files("slowwave.stores") / "postgres/sql/partitions.sql").read_bytes()
    with psycopg.connect(own, options="-c slowwave.partitions=4", autocommit=True) as db:
        db.execute(script)
    with AgentMemory.open(own, scope="acme/alice", llm=None, embedder="none") as cut:
        cut.add("Alice owns the deploy pipeline")
        gone = cut.add(WORDS).ids[0]
        receipt = cut.erase(id=gone)
        assert receipt.verified
    of_memories = [one for one in names(receipt) if one.startswith("slowwave.memories")]
    assert len(of_memories) == 1
    assert of_memories != ["slowwave.memories"], "its partition"


def test_a_rewrite_waits_two_seconds_for_readers_and_names_its_statement(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.stores.postgres.byte_scan.WAITED", 1)
    gone = memory.add(WORDS).ids[0]
    with psycopg.connect(own) as reader:
        reader.execute("SELECT * FROM slowwave.memories")
        receipt = memory.erase(id=gone)  # without a limit it would wait for the reader, which ends after it
    assert not receipt.verified
    problem = receipt.problems[0]
    assert "`VACUUM FULL slowwave.memories`" in problem
    assert "(rewritten: slowwave.entries (locked for" in problem
    assert memory.erase(id=gone).verified


def test_an_erase_that_may_not_rewrite_is_proved_in_its_scope_and_pending_in_the_store(
    memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = memory.add(WORDS).ids[0]
    receipt = memory.erase(id=gone, rewrite=False)
    assert (receipt.verified, receipt.rewritten, len(receipt.pending)) == (True, (), 1)
    assert memory.search("xylophones") == []
    monkeypatch.setattr("slowwave.stores.postgres.erasure.REWRITTEN_MAX", 1)
    assert memory.erase(id=gone).pending != (), "a large store is not rewritten for one erase"
    assert memory.erase(id=gone, rewrite=True).pending == ()
    with pytest.raises(BusyError, match="`--rewrite`"):
        memory.ports.store.rewrite_erased(again=True)  # type: ignore[attr-defined]  # of both stores


def test_a_remaining_row_in_any_table_is_named(own: str, memory: AgentMemory) -> None:
    gone = memory.add(WORDS).ids[0]
    assert memory.erase(id=gone).verified
    run_sql(own, "CREATE SCHEMA slowwave_queue", "CREATE TABLE slowwave_queue.workflow_output (output text)")
    store = memory.ports.store
    for table, statement in (
        ("slowwave.held", f"INSERT INTO slowwave.held VALUES (1, '{WORDS}')"),
        ("slowwave.entries", f"INSERT INTO slowwave.entries (key, scope, terms) VALUES (1, 1, '{WORDS}'::bytea)"),
        ("slowwave_queue.workflow_output", f"INSERT INTO slowwave_queue.workflow_output VALUES ('{WORDS}')"),
    ):
        run_sql(own, statement)
        assert f"the table {table} still holds what was erased" in store.find_traces([WORDS])
        run_sql(own, f"TRUNCATE {table}" if "queue" in table else f"DELETE FROM {table} WHERE scope = 1")
    run_sql(own, f"INSERT INTO slowwave.links VALUES (1, '{gone}', 'x', 'close', 1, 1)")
    assert store.find_traces([], [gone]) == ["the table slowwave.links still holds what was erased"]


def test_bytes_of_dead_rows_are_found_until_the_tables_are_rewritten(own: str, memory: AgentMemory) -> None:
    memory.add("Alice owns the deploy pipeline")
    run_sql(own, f"INSERT INTO slowwave.held VALUES (1, '{WORDS}')", "DELETE FROM slowwave.held WHERE scope = 1")
    store = memory.ports.store
    (trace,) = {one.partition(":")[0].replace("held_pkey", "held") for one in store.find_traces([WORDS])}
    assert trace == "pages of held still hold the bytes of what was erased"
    store.rewrite_erased()
    assert store.find_traces([WORDS]) == []


def test_words_that_another_memory_contains_are_not_a_trace(own: str, memory: AgentMemory) -> None:
    with AgentMemory.open(own, scope="acme/bob", llm=None, embedder="none") as other:
        other.add(WORDS)
        gone = memory.add(WORDS).ids[0]
        assert memory.erase(id=gone).verified
        assert [fact.text for fact in other.get_all()] == [WORDS]


def test_a_login_that_may_not_rewrite_tables_names_the_owner(own: str, memory: AgentMemory) -> None:
    memory.add("Alice owns the deploy pipeline")
    run_sql(own, "DROP ROLE IF EXISTS plain_app", "CREATE ROLE plain_app LOGIN IN ROLE slowwave_app")
    with AgentMemory.open(
        own.replace("postgres:@", "plain_app@"), scope="acme/carl", llm=None, embedder="none"
    ) as mine:
        gone = mine.add(WORDS).ids[0]
        receipt = mine.erase(id=gone, rewrite=True)
        assert not receipt.verified
        (problem,) = receipt.problems
        assert "their owner has to run `VACUUM FULL slowwave.conversations, " not in problem, "it has lost no row"
        assert "their owner has to run `VACUUM FULL slowwave.entries, slowwave.journal, slowwave.memories" in problem
        statement = problem.partition("`")[2].partition("`")[0]
        run_sql(own, statement)
        again = mine.erase(id=gone)
        assert again.verified, "the rows of its scope are there to be searched"
        assert again.pending != ()
    with AgentMemory.open(own, scope="acme/carl", llm=None, embedder="none") as owners:
        assert owners.erase(id=gone).verified, "the owner proves what a program's login erased"
    assert memory.ports.store.find_traces([WORDS], [gone]) == []
    run_sql(own, "DROP ROLE plain_app")


def test_ids_that_another_scope_has_after_an_import_are_no_trace_there(own: str, tmp_path: Path) -> None:
    with Slowwave.open(own, llm=None, embedder="none") as store:
        one, other, third = (store.within(name) for name in ("one", "other", "third"))
        one.add_messages([Message(role="user", content=f"{WORDS}, number {n}") for n in range(3)], "c")
        one.export(tmp_path / "one.jsonl")
        for memory in (other, third):
            memory.import_(tmp_path / "one.jsonl")
            assert {row.id for row in memory.get_all(kinds=["message"])} == {
                row.id for row in one.get_all(kinds=["message"])
            }
        receipt = store.delete_scope("one")
        assert (receipt.problems, receipt.verified) == ((), True)
        run_sql(own, LEFT_BEHIND)
        receipt = store.delete_scope("third")
        assert receipt.problems == ("the table slowwave.held still holds what was erased",), (
            "in its own scope it is one"
        )
        assert len(other.get_all(kinds=["message"])) == 3


def test_the_id_of_a_former_successor_is_not_a_trace(own: str, memory: AgentMemory) -> None:
    kept, gone = memory.add("Bob has a dog").ids[0], memory.add(WORDS).ids[0]
    assert memory.erase(id=gone).verified
    row = "INSERT INTO slowwave.journal (key, scope, run, part, op, memory, because, payload, checksum)"
    run_sql(
        own, f"""{row} VALUES (1, 1, 1, 0, 'change', '{kept}', 'merged', '{{"superseded_by":[null,"{gone}"]}}', 1)"""
    )
    assert memory.ports.store.find_traces([WORDS], [gone]) == []
    run_sql(own, f"{row} VALUES (2, 1, 1, 0, 'change', '{gone}', 'merged', NULL, 1)")
    assert memory.ports.store.find_traces([WORDS], [gone]) == ["the table slowwave.journal still holds what was erased"]


@pytest.fixture
def owned(blank: str) -> Iterator[str]:
    """The address of a database, of its owner who is no superuser."""
    run_sql(blank, "DROP ROLE IF EXISTS plain_owner", "CREATE ROLE plain_owner LOGIN")
    run_sql(blank, f"ALTER DATABASE {psycopg.conninfo.conninfo_to_dict(blank)['dbname']} OWNER TO plain_owner")
    yield blank.replace("postgres:@", "plain_owner@")
    run_sql(blank, "REASSIGN OWNED BY plain_owner TO postgres", "DROP OWNED BY plain_owner", "DROP ROLE plain_owner")


def _where(store: object, name: str) -> list[str]:
    assert isinstance(store, PostgresStore)
    return [one for one in store.find_traces([WORDS]) if name in one]


def test_an_erase_reports_an_older_snapshot_that_still_sees_the_rows(
    blank: str, owned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.stores.postgres.byte_scan._PATIENCE", 0.1)
    with AgentMemory.open(owned, scope="acme/alice", llm=None, embedder="none") as memory:
        memory.add("Alice owns the deploy pipeline")
        gone = memory.add(WORDS).ids[0]
        with psycopg.connect(blank, application_name="a dump") as dump:
            dump.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            dump.execute("SELECT 1")
            receipt = memory.erase(id=gone)
            assert not receipt.verified
            (problem,) = receipt.problems
            assert f"session {dump.info.backend_pid} (a dump) could still see it" in problem
            assert "Repeat the erase when that has ended" in problem
            with_pages = PostgresStore(blank)
            assert _where(with_pages, "pages of"), "the bytes are there indeed"
        receipt = memory.erase(id=gone)
        assert receipt.verified
        assert receipt.problems == ()
        assert any("which this login may not read" in one for one in receipt.not_reached)
        assert with_pages.find_traces([WORDS]) == []
        with_pages.close()


def test_a_second_erase_by_a_superuser_also_reports_the_open_snapshot(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.stores.postgres.byte_scan._PATIENCE", 0.1)
    gone = memory.add(WORDS).ids[0]
    with psycopg.connect(own) as dump:
        dump.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        dump.execute("SELECT 1")
        assert any("pages of" in one for one in memory.erase(id=gone).problems)
        assert not memory.erase(id=gone).verified, "it is not known any more what to look for, and the bytes are there"
    assert memory.erase(id=gone).verified


def test_a_snapshot_of_another_database_counts_and_hidden_ones_are_reported(
    blank: str, owned: str, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.stores.postgres.byte_scan._PATIENCE", 0.1)
    with psycopg.connect(owned, autocommit=True) as db, psycopg.connect(postgres.database()) as other:
        assert older(db) == []
        other.execute("SELECT pg_current_xact_id()")
        run_sql(blank, "CREATE TABLE moved ()")  # later transactions do not matter, this one does
        (session,) = older(db)
        assert session == f"session {other.info.backend_pid}"
        other.rollback()
        assert older(db) == []
        run_sql(blank, "REVOKE SELECT ON pg_prepared_xacts FROM PUBLIC")
        (unknown,) = older(db)
        assert unknown.startswith("somebody whom this login may not look for (permission denied")


def test_a_reader_that_ends_in_time_is_waited_for(owned: str) -> None:
    with psycopg.connect(owned, autocommit=True) as db, psycopg.connect(owned) as reader:
        reader.execute("SELECT pg_current_xact_id()")
        ending = threading.Timer(0.2, reader.rollback)
        ending.start()
        assert older(db) == []
        ending.join()
