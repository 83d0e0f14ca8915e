"""A large index is stored for the next process, bit for bit, and is used only while it fits its scope."""

import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import psycopg
import pytest
from tests.waiting import LONGEST

from slowwave.errors import ClosedError
from slowwave.model.operations import Erase
from slowwave.model.query import Query, Ranked
from slowwave.ports import Store
from slowwave.stores.postgres import reading
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.search import service, snapshot
from slowwave.stores.search.cache import CachedIndex
from slowwave.stores.search.index import Index
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import DIM, NOW, SCOPE, add, change, entry, fact, message, plan, use

TALK = [message(f"note {number} on tea and rowing", speaker="Ann", id=f"t{number}") for number in range(12)]
FACT = fact("Ann rows", id="rows")
VECTOR = np.full(DIM, DIM**-0.5, dtype=np.float32)
ASKED = Query(text="who rows?", top_k=20, now=NOW, embedder="test-8", vector=VECTOR)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "WORTH_STORING", 4)


@pytest.fixture
def path(tmp_path: Path) -> str:
    name = str(tmp_path / "memory.db")
    with_all(SqliteStore(name))
    return name


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each index that is built from rows."""
    seen: list[int] = []
    load = Index.load
    monkeypatch.setattr(Index, "load", lambda index, saved: (seen.append(len(saved)), load(index, saved))[1])
    return seen


def with_all(store: Store) -> None:
    store.apply(plan(*(add(one) for one in TALK), add(FACT)))
    asked(store)
    store.close()


def asked(store: Store) -> list[Ranked]:
    return store.search([SCOPE], ASKED)


def opened(path: str) -> list[Ranked]:
    store = SqliteStore(path)
    found = asked(store)
    store.close()
    return found


def row(path: str) -> tuple[object, ...] | None:
    db = apsw.Connection(path)
    found = db.execute("SELECT journal, checksum, head, arrays FROM snapshots").fetchone()
    db.close()
    return found


def spoil(path: str, statement: str) -> None:
    db = apsw.Connection(path)
    db.execute(statement)
    db.close()


def afresh(path: str) -> list[Ranked]:
    """The hits of an index that is built from rows."""
    spoil(path, "DELETE FROM snapshots")
    return opened(path)


def test_the_next_process_reads_the_stored_index_and_has_the_same_scores(path: str, builds: list[int]) -> None:
    found = opened(path)
    assert not builds
    assert found == afresh(path)
    assert builds == [len(TALK)]


def test_a_stored_index_is_updated_with_later_writes(
    path: str, builds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(path)
    store.apply(plan(add(message("and she rows again", speaker="Ann", id="new"))))
    store.apply(plan(change(store.get([SCOPE], ["rows"])[0], text="Ann rows and sails")))
    store.apply(plan(use(store.get([SCOPE], ["rows"])[0])))
    store.close()
    monkeypatch.setattr(service, "BEHIND", 16)
    found = opened(path)
    assert not builds
    assert {"new", "rows"} <= {one.id for one in found}
    assert found == afresh(path)


def test_an_index_that_is_behind_is_stored_again_and_one_far_behind_is_ignored(
    path: str, builds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = row(path)
    store = SqliteStore(path)
    store.apply(plan(add(message("one more", id="more"))))
    store.close()
    monkeypatch.setattr(service, "BEHIND", 12)
    opened(path)
    assert row(path) == first
    monkeypatch.setattr(service, "BEHIND", 20)
    opened(path)
    assert not builds
    second = row(path)
    assert second != first
    store = SqliteStore(path)
    store.apply(plan(*(add(message("much more")) for _ in range(9))))
    store.close()
    opened(path)
    assert builds == [len(TALK) + 10]
    assert row(path) != second


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE snapshots SET layout = layout + 1",
        "UPDATE snapshots SET reindexed = reindexed + 1",
        "UPDATE snapshots SET checksum = checksum + 1",
        "UPDATE snapshots SET head = replace(head, 'rows', 'sows')",
        "UPDATE snapshots SET arrays = zeroblob(length(arrays))",
        "UPDATE snapshots SET arrays = x''",
        "UPDATE scopes SET reindexed = reindexed + 1",
    ],
)
def test_an_invalid_stored_index_is_ignored_and_written_again(path: str, damage: str, builds: list[int]) -> None:
    expected, before = opened(path), row(path)
    spoil(path, damage)
    assert opened(path) == expected
    assert builds == [len(TALK)]
    assert row(path) == before
    assert opened(path) == expected
    assert len(builds) == 1


def test_an_erase_in_a_scope_deletes_its_stored_index(path: str, builds: list[int]) -> None:
    store = SqliteStore(path)
    asked(store)
    other = SqliteStore(path)
    other.apply(plan(Erase(memory="t3", because="asked to")))
    other.close()
    store.close()  # the cached index still contains the erased memories
    assert row(path) is None
    assert "t3" not in {one.id for one in opened(path)}
    assert builds == [len(TALK) - 1]


def test_the_stored_index_contains_the_last_write(path: str, builds: list[int]) -> None:
    spoil(path, "DELETE FROM snapshots")
    store, other = SqliteStore(path), SqliteStore(path)
    asked(store)
    store.apply(plan(add(message("mine", id="mine"))))
    other.apply(plan(add(message("theirs", id="theirs"))))
    other.close()
    store.close()
    assert {"mine", "theirs"} <= {one.id for one in opened(path)}
    assert builds == [len(TALK)]


def test_an_index_is_not_stored_if_another_write_happens_at_the_same_time(path: str) -> None:
    spoil(path, "DELETE FROM snapshots")
    other = SqliteStore(path)

    def reached(name: str) -> None:
        if name == "apply.before_begin":
            other.apply(plan(add(message("meanwhile"))))

    store = SqliteStore(path, reached=reached)
    asked(store)
    store.close()
    assert row(path) is None
    other.close()


def test_closing_waits_for_no_lock(path: str) -> None:
    spoil(path, "DELETE FROM snapshots")
    store = SqliteStore(path, busy_seconds=2 * LONGEST)
    asked(store)
    other = apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")
    closing = threading.Thread(target=store.close)
    closing.start()
    closing.join(LONGEST)
    assert not closing.is_alive()
    other.execute("ROLLBACK")
    assert row(path) is None


def test_closing_waits_for_no_lock_although_a_search_stores_what_it_evicts(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(path, "DELETE FROM snapshots")
    store = SqliteStore(path, busy_seconds=60)
    asked(store)
    other = apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")
    store_index = store._store

    def store_after_another_thread(token: int, held: CachedIndex, *, wait: bool = False, keep: bool = False) -> None:
        searching = threading.Thread(target=store._store_evicted)
        searching.start()
        searching.join(20)
        store_index(token, held, wait=wait, keep=keep)

    monkeypatch.setattr(store, "_store", store_after_another_thread)
    closing = threading.Thread(target=store.close)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()
    other.execute("ROLLBACK")


def test_small_and_huge_scopes_and_memories_in_ram_store_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_all(SqliteStore(":memory:"))
    for name, value in (("WORTH_STORING", 1000), ("LARGEST", 100)):
        monkeypatch.setattr(service, name, value)
        path = str(tmp_path / f"{name}.db")
        with_all(SqliteStore(path))
        assert row(path) is None
        monkeypatch.setattr(service, "WORTH_STORING", 4)


def test_stored_indexes_of_scopes_are_separate(path: str) -> None:
    store = SqliteStore(path)
    theirs = [message(f"rowing {n}", scope="acme/bob", id=f"b{n}") for n in range(5)]
    store.apply(replace(plan(*map(add, theirs)), scope="acme/bob"))
    store.search(["acme/bob"], ASKED)
    store.close()
    again = SqliteStore(path)
    assert {one.id for one in again.search(["acme/bob"], ASKED)} == {one.id for one in theirs}
    assert asked(again) == afresh(path)
    again.close()


def test_a_process_that_is_killed_while_storing_leaves_the_file_sound(path: str) -> None:
    spoil(path, "DELETE FROM snapshots")
    program = (
        "import os, sys\nfrom slowwave.stores.search import service\nfrom slowwave.stores.sqlite.store import SqliteStore\n"
        "service.WORTH_STORING = 4\n"
        "reached = lambda name: os._exit(9) if name == 'apply.before_commit' else None\n"
        "store = SqliteStore(sys.argv[1], reached=reached)\n"
        "store.frequencies('acme/alice')\nstore.close()\n"
    )
    assert subprocess.run([sys.executable, "-c", program, path], check=False).returncode == 9
    assert row(path) is None
    store = SqliteStore(path)
    assert store.check(deep=True) == []
    store.close()


@pytest.mark.usefixtures("in_postgres")
def test_postgres_stores_indexes_too(address: str, builds: list[int]) -> None:
    with_all(PostgresStore(address, connections=2))
    assert len(builds) == 1
    again = PostgresStore(address, connections=2)
    found = asked(again)
    assert len(builds) == 1
    again.apply(plan(add(message("and she rows again", speaker="Ann", id="new"))))
    assert "new" in {one.id for one in asked(again)}
    again.apply(plan(Erase(memory="new", because="asked to")))
    assert [one.id for one in asked(again)] == [one.id for one in found]
    again.close()


@pytest.mark.usefixtures("in_postgres")
@pytest.mark.parametrize("bytes_at_once", [64, 1000])
def test_a_stored_index_in_postgres_is_read_in_pieces(
    own: str, builds: list[int], monkeypatch: pytest.MonkeyPatch, bytes_at_once: int
) -> None:
    monkeypatch.setattr(reading, "PIECE", bytes_at_once)
    store = PostgresStore(own, connections=1)
    with_all(store)
    built = len(builds)
    again = PostgresStore(own, connections=1)
    found = asked(again)
    again.close()
    assert len(builds) == built
    with psycopg.connect(own, autocommit=True) as db:
        assert db.execute("SELECT length(arrays) > 2000 FROM slowwave.snapshots").fetchone() == (True,)
        db.execute("DELETE FROM slowwave.snapshots")
    third = PostgresStore(own, connections=1)
    assert asked(third) == found
    third.close()
    assert len(builds) == built + 1


def test_closing_waits_for_no_lock_in_postgres(address: str) -> None:
    store = PostgresStore(address, connections=2, busy_seconds=2 * LONGEST)
    store.apply(plan(*(add(one) for one in TALK)))
    asked(store)
    with psycopg.connect(address) as other:
        other.execute("LOCK TABLE slowwave.snapshots")
        started = time.monotonic()
        store.close()
        assert time.monotonic() - started < LONGEST
    again = PostgresStore(address, connections=2)
    with again._guard:
        again._see_every_scope()
        assert again._db.execute("SELECT count(*) FROM snapshots").get == 0
    again.close()


def closed_during_searches(store: Store) -> None:
    """Close the store twice while two threads search, and fail if one of the four does not end."""
    asked(store)

    def search_on() -> None:
        with suppress(ClosedError):
            while True:
                asked(store)

    threads = [threading.Thread(target=search_on) for _ in range(2)]
    threads += [threading.Thread(target=store.close) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST)
        assert not thread.is_alive()


def test_closing_waits_for_running_searches_and_for_nothing_else(path: str) -> None:
    for _ in range(20):
        spoil(path, "DELETE FROM snapshots")
        closed_during_searches(SqliteStore(path))


def test_closing_a_postgres_store_waits_for_running_searches_and_for_nothing_else(address: str) -> None:
    store = PostgresStore(address, connections=2)
    store.apply(plan(*(add(one) for one in TALK)))
    closed_during_searches(store)
    for _ in range(20):
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("DELETE FROM slowwave.snapshots")
        closed_during_searches(PostgresStore(address, connections=2))


def test_closing_ends_although_each_search_puts_the_index_back(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(path, "DELETE FROM snapshots")
    store = SqliteStore(path)
    asked(store)
    store_index = store._store
    stored: list[int] = []

    def store_and_search(token: int, held: CachedIndex, *, wait: bool = False, keep: bool = False) -> None:
        stored.append(token)
        assert len(stored) < 5
        store_index(token, held, wait=wait, keep=keep)
        asked(store)

    monkeypatch.setattr(store, "_store", store_and_search)
    store.close()
    assert len(stored) == 1
    with pytest.raises(ClosedError):
        asked(store)


def test_a_stored_index_has_room_for_the_vectors_of_later_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "ROOM", 2)
    built, loaded = Index(), Index()
    talk = [replace(message(f"Ann rows boat {n}", id=f"m{n}"), seq=n + 1) for n in range(9)]
    built.append([(one, entry(one.text)) for one in talk[:6]])
    head, data = built.packed()
    loaded.unpack(head, np.frombuffer(data, dtype=np.uint8).copy())
    (vectors,) = loaded._rows._vectors.values()
    held = vectors._sums
    loaded.append([(one, entry(one.text)) for one in talk[6:]])
    assert vectors._sums is held
    built.append([(one, entry(one.text)) for one in talk[6:]])
    assert loaded.packed() == built.packed()
