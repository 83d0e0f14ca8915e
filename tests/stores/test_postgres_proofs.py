"""An erase is proved in its scope at once; the free space of all tables is proved later, for many erases together."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from slowwave import Slowwave
from slowwave.stores.byte_scan import BytePatterns
from slowwave.stores.postgres import erasure
from slowwave.stores.postgres.byte_scan import SearchedTable
from slowwave.stores.postgres.pool import RawConnection
from slowwave.stores.postgres.store import PostgresStore

WORDS = "Zebulon keeps forty xylophones"
OTHERS = "Ottoline keeps forty zithers"


@pytest.fixture
def store(own: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slowwave]:
    """A store that counts as large."""
    monkeypatch.setattr(erasure, "REWRITTEN_MAX", 1)
    with Slowwave.open(own, llm=None, embedder="none") as opened:
        yield opened


def test_an_erase_from_a_large_store_reads_only_rows_of_its_scope(
    own: str, store: Slowwave, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.within("bob").add(OTHERS)
    gone = store.within("alice").add(WORDS).ids[0]
    read: list[bytes] = []
    rows = erasure.found_in_scope.__globals__["_rows"]
    monkeypatch.setitem(
        erasure.found_in_scope.__globals__,
        "_rows",
        lambda db, query: (read.append(piece) or piece for piece in rows(db, query)),
    )
    receipt = store.within("alice").erase(id=gone)
    assert (receipt.verified, receipt.rewritten) == (True, ())
    assert read
    assert not any(OTHERS.encode() in piece for piece in read)
    with psycopg.connect(own) as db:
        db.execute("SET slowwave.every_scope = 'on'")
        assert db.execute("SELECT count(*) FROM slowwave.pending_proofs").fetchone() == (1,)


def test_a_row_of_the_scope_that_was_left_behind_makes_the_erase_unverified(own: str, store: Slowwave) -> None:
    alice = store.within("alice")
    gone = alice.add(WORDS).ids[0]
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("SET slowwave.every_scope = 'on'")
        token = db.execute("SELECT token FROM slowwave.scopes WHERE path = 'alice'").fetchone()
        assert token is not None
        db.execute("INSERT INTO slowwave.held VALUES (%s, %s)", (token[0], WORDS))
        db.execute("INSERT INTO slowwave.links VALUES (%s, 'x', %s, 'close', 1, 1)", (token[0] + 1, gone))
    receipt = alice.erase(id=gone)
    assert receipt.problems == ("the table slowwave.held still holds what was erased",)
    assert not receipt.verified


def test_one_pass_proves_all_pending_erases_and_names_an_id_that_is_left(
    own: str, store: Slowwave, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("alice", "bob", "carl"):
        memory = store.within(name)
        assert memory.erase(id=memory.add(f"{WORDS} of {name}").ids[0]).verified
    assert [one.scope for one in store.pending_proofs()] == ["alice", "bob", "carl"]
    assert {"slowwave.memories", "slowwave.journal"} <= set(store.pending_proofs()[0].tables)
    large = store.prove_erased()
    assert (large.proved, large.pending, large.rewritten) == (0, 3, ())
    assert "--rewrite" in large.problems[0]
    with psycopg.connect(own) as db:
        db.execute("SET slowwave.every_scope = 'on'")
        row = "SELECT memory FROM slowwave.journal WHERE op = 'erase' AND memory IS NOT NULL"
        identity = db.execute(row).fetchone()
        assert identity is not None
        db.execute("INSERT INTO slowwave.links VALUES (99, 'x', %s, 'close', 1, 1)", identity)
        db.commit()
        traced = store.prove_erased(rewrite=True)
        assert (traced.proved, traced.pending) == (0, 3)
        assert traced.problems == ("the table slowwave.links still holds what was erased",)
        assert len(traced.rewritten) >= 3
        db.execute("SET slowwave.every_scope = 'on'")
        db.execute("DELETE FROM slowwave.links")
    again = store.prove_erased(rewrite=True)
    assert (again.proved, again.pending, again.problems) == (3, 0, ())
    assert not [one for one in again.rewritten if "memories" in one], "a table is rewritten once"
    assert store.pending_proofs() == []
    monkeypatch.setattr(erasure, "REWRITTEN_MAX", 1 << 30)
    with closing(PostgresStore(own)) as pages:
        assert pages.find_traces([f"{WORDS} of {name}" for name in ("alice", "bob", "carl")]) == []


def test_an_interrupted_proof_continues_behind_the_last_table_that_it_searched(
    own: str, store: Slowwave, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = store.within("alice")
    alice.erase(id=alice.add(WORDS).ids[0])
    usual, searched = erasure.found_in_table, list[str]()

    def interrupted(db: RawConnection, table: SearchedTable, *patterns: BytePatterns) -> str | None:
        if table.path == "slowwave.journal" and table.path not in searched:
            searched.append(table.path)
            raise KeyboardInterrupt
        searched.append(table.path)
        return usual(db, table, *patterns)

    monkeypatch.setattr(erasure, "found_in_table", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.prove_erased(rewrite=True)
    before, (waiting,) = list(searched), store.pending_proofs()
    assert len(before) > 2
    assert set(waiting.tables).isdisjoint(before[:-1])
    seen: list[tuple[float, float | None]] = []
    assert store.prove_erased(rewrite=True, on_progress=lambda done, all_: seen.append((done, all_))).proved == 1
    assert searched[len(before) :] == sorted(waiting.tables)
    assert seen == [(place, len(waiting.tables)) for place in range(len(waiting.tables))]
    with psycopg.connect(own) as db:
        assert not db.execute("SELECT 1 FROM slowwave.pending_proofs").fetchall()


def test_an_id_that_another_scope_imported_too_is_no_trace(store: Slowwave, tmp_path: Path) -> None:
    alice, bob = store.within("alice"), store.within("bob")
    gone = alice.add(WORDS).ids[0]
    alice.export(tmp_path / "alice.jsonl")
    bob.import_(tmp_path / "alice.jsonl")
    assert bob.get(gone).text == WORDS
    assert alice.erase(id=gone).verified
    assert store.prove_erased(rewrite=True).proved == 1
    assert bob.get(gone).text == WORDS


def test_a_trace_at_the_beginning_of_a_large_table_is_named_and_the_other_tables_are_searched(
    own: str, store: Slowwave
) -> None:
    alice = store.within("alice")
    gone = alice.add(WORDS).ids[0]
    alice.erase(id=gone)
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("SET slowwave.every_scope = 'on'")
        db.execute("INSERT INTO slowwave.held VALUES (99, %s)", (gone,))
        db.execute("INSERT INTO slowwave.held SELECT 99, repeat(n::text, 900) FROM generate_series(10000, 14000) n")
        db.execute("INSERT INTO slowwave.links VALUES (99, 'x', %s, 'close', 1, 1)", (gone,))
    assert store.prove_erased(rewrite=True).problems == tuple(
        f"the table slowwave.{table} still holds what was erased" for table in ("held", "links")
    )


def test_a_table_whose_old_rows_a_reader_can_see_stays_pending(
    own: str, store: Slowwave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.stores.postgres.byte_scan._PATIENCE", 0.1)
    alice = store.within("alice")
    gone = alice.add(WORDS).ids[0]
    with psycopg.connect(own, application_name="a dump") as dump:
        dump.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        dump.execute("SELECT 1")
        assert alice.erase(id=gone).verified
        proof = store.prove_erased(rewrite=True)
        assert (proof.proved, proof.pending) == (0, 1)
        assert f"session {dump.info.backend_pid} (a dump)" in proof.problems[0]
    assert store.prove_erased(rewrite=True).proved == 1


def test_doctor_names_pending_proofs_and_fails_after_a_week(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "REWRITTEN_MAX", 1)
    with Slowwave.open(own, llm=None, embedder="none") as store:
        alice = store.within("alice")
        alice.erase(id=alice.add(WORDS).ids[0])
        (fresh,) = [one for one in alice.checks() if one.check == "proofs"]
        assert fresh.ok
        assert fresh.found.startswith("1 erase waits")
        with psycopg.connect(own, autocommit=True) as db:
            db.execute("SET slowwave.every_scope = 'on'")
            week = timedelta(days=8) // timedelta(microseconds=1)
            db.execute("UPDATE slowwave.pending_proofs SET at = at - %s", (week,))
        (late,) = [one for one in alice.checks() if one.check == "proofs"]
        assert not late.ok


def test_doctor_of_one_scope_or_of_a_sample_reads_no_other_scope(own: str, store: Slowwave) -> None:
    for name in ("alice", "bob"):
        store.within(name).add(WORDS)
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("SET slowwave.every_scope = 'on'")
        db.execute("UPDATE slowwave.memories SET checksum = 1 WHERE scope = (SELECT max(token) FROM slowwave.scopes)")
    assert store.doctor(deep=True, scopes=["alice"]) == []
    (damaged,) = store.doctor(deep=True, scopes=["bob"])
    assert damaged.startswith("scope bob: ")
    assert store.doctor(deep=True, scopes=5) == [damaged], "a sample of all"
    assert len(store.doctor(deep=True, scopes=1)) < 2


def test_status_counts_the_erases_of_its_scope_that_wait_for_a_proof(store: Slowwave) -> None:
    alice, bob = store.within("alice"), store.within("bob")
    alice.erase(id=alice.add(WORDS).ids[0])
    assert (alice.status().unproved, bob.status().unproved) == (1, 0)
    assert "1 erase to prove" in str(alice.status())
