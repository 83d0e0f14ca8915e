"""The cache of search indexes: a limit in bytes, eviction of the least recently used, and the same results as without."""

import gc
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path

import apsw
import numpy as np
import pytest
from tests.waiting import LONGEST, until

from slowwave import Config, Slowwave
from slowwave.errors import ClosedError, InputError
from slowwave.model.operations import Erase
from slowwave.model.query import Query, Ranked, Where
from slowwave.stores import make
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.search import service
from slowwave.stores.search.cache import MEGABYTE, CachedIndex, IndexCache
from slowwave.stores.search.index import Index
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import DIM, NOW, add, entry, fact, message, plan

VECTOR = np.full(DIM, DIM**-0.5, dtype=np.float32)
ASKED = Query(text="who rows on Tuesday?", top_k=5, now=NOW, embedder="test-8", vector=VECTOR)
Open = Callable[[int], "SqliteStore | PostgresStore"]


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open a store with a limit of its indexes in megabytes."""
    if request.param == "postgres":
        request.getfixturevalue("in_postgres")
        address = request.getfixturevalue("address")
    else:
        address = str(tmp_path / "memory.db")
    stores: list[SqliteStore | PostgresStore] = []

    def open_it(megabytes: int) -> SqliteStore | PostgresStore:
        stores.append(make(address, index_cache_mb=megabytes))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


def scope_of(number: int) -> str:
    return f"users/{number}"


def filled(store: SqliteStore | PostgresStore, scopes: int, messages: int = 12) -> None:
    for number in range(scopes):
        said = (message(f"note {place} of {number} on rowing", scope=scope_of(number)) for place in range(messages))
        store.apply(plan(*map(add, said), add(fact(f"{number} rows", scope=scope_of(number))), scope=scope_of(number)))


def asked(store: SqliteStore | PostgresStore, scopes: int) -> list[list[Ranked]]:
    return [store.search([scope_of(number)], ASKED) for number in range(scopes)]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
def test_many_scopes_stay_within_the_limit_with_the_same_results(opened: Open) -> None:
    limited = opened(2)
    scopes = 300
    if isinstance(limited, PostgresStore):  # each write is a round trip and a sync of the server
        scopes, limited._indexes.limit = 30, MEGABYTE // 5
    filled(limited, scopes)
    asked(limited, 1)
    gc.collect()  # what earlier tests left open is closed now, not between the counts
    before = descriptors()
    found = asked(limited, scopes)
    assert descriptors() == before
    assert limited._indexes.evicted > scopes // 2
    assert 0 < limited._indexes.size <= limited._indexes.limit
    assert len(limited._indexes) < scopes // 2
    unlimited = opened(1000)
    assert asked(unlimited, scopes) == found
    assert (unlimited._indexes.evicted, len(unlimited._indexes)) == (0, scopes)
    assert asked(limited, scopes) == found


def test_a_large_index_is_stored_when_it_is_evicted(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "WORTH_STORING", 10)
    store = opened(1)
    store._indexes.limit = 1
    filled(store, 3)
    found = asked(store, 3)
    assert len(store._indexes) == 1
    assert not store._evicted
    built: list[int] = []
    load = Index.load
    monkeypatch.setattr(Index, "load", lambda index, rows: (built.append(len(rows)), load(index, rows))[1])
    assert asked(store, 2) == found[:2]
    assert built == []


def test_a_signal_handler_closes_the_store_while_the_thread_that_it_interrupts_holds_its_locks(opened: Open) -> None:
    store = opened(10)
    filled(store, 1)
    asked(store, 1)

    def interrupted() -> None:
        with ExitStack() as held:
            for lock in (store._cache_lock, store._turns._mutex, store._idle._lock):
                held.enter_context(lock)
            if isinstance(store, PostgresStore):
                held.enter_context(store._pool._lock)
            store.close()

    thread = threading.Thread(target=interrupted, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    with pytest.raises(ClosedError):
        asked(store, 1)


def test_a_frequency_is_not_read_while_another_thread_changes_the_index(opened: Open) -> None:
    store = opened(10)
    filled(store, 1)
    frequency, originals = store.frequencies(scope_of(0))
    (held,) = store._indexes._indexes.values()
    with ThreadPoolExecutor(1) as threads:
        with held.lock:
            found = threads.submit(frequency, "row")
            assert wait([found], 0.2).not_done
        assert found.result(LONGEST) > 0
    assert originals > 0


def test_storing_evicted_indexes_ends_although_others_are_evicted_meanwhile(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WORTH_STORING", 10)
    store = opened(1)
    store._indexes.limit = 1
    filled(store, 3)
    stored: list[int] = []

    def store_and_evict(token: int, held: CachedIndex, **_: bool) -> None:
        stored.append(token)
        assert len(stored) < 5
        with store._cache_lock:
            store._evicted.append((token, held))

    monkeypatch.setattr(store, "_store", store_and_evict)
    asked(store, 2)
    assert len(stored) == 1
    store._evicted.clear()


def test_a_large_index_that_is_idle_is_stored_while_the_store_is_open(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WORTH_STORING", 10)
    monkeypatch.setattr(service, "IDLE_SECONDS", 0.02)
    store = opened(10)
    filled(store, 1)
    found = asked(store, 1)
    held = next(iter(store._indexes._indexes.values()))
    until(lambda: held.stored is not None)
    assert held.stored == held.journal
    assert asked(store, 1) == found
    another = opened(10)
    assert asked(another, 1) == found
    assert (another.gauges()["index.builds"], another.gauges()["index.loads"]) == (0, 1)


def test_an_idle_index_whose_scope_is_in_use_is_stored_when_it_is_not(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WORTH_STORING", 10)
    store = opened(10)
    filled(store, 1)
    asked(store, 1)
    (held,) = store._indexes._indexes.values()
    monkeypatch.setattr(service, "IDLE_SECONDS", 0.0)
    with ThreadPoolExecutor(1) as threads, store._turns.hold((scope_of(0),)):
        threads.submit(store._store_idle).result(LONGEST)
    assert (held.stored, held.tried) == (None, None)
    store._store_idle()
    assert held.stored == held.tried == held.journal


def test_a_search_that_evicts_waits_for_no_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "WORTH_STORING", 10)
    store = SqliteStore(str(tmp_path / "a.db"), busy_seconds=2 * LONGEST)
    store._indexes.limit = 1
    filled(store, 2)
    other = apsw.Connection(str(tmp_path / "a.db"))
    other.execute("BEGIN IMMEDIATE")
    searching = threading.Thread(target=asked, args=(store, 2))
    searching.start()
    searching.join(LONGEST)
    assert not searching.is_alive()
    assert not store._evicted
    threading.Timer(0.2, other.execute, ["ROLLBACK"]).start()
    receipt = store.apply(plan(add(message("one more note", scope=scope_of(0))), scope=scope_of(0)))
    assert len(receipt.applied) == 1, "a write still waits for a writer"
    store.close()
    other.close()


def test_the_memory_of_an_evicted_or_replaced_index_is_freed_at_once(opened: Open) -> None:
    store = opened(1)
    store._indexes.limit = 1
    filled(store, 3)
    gc.collect()
    gc.disable()
    try:
        indexes = []
        for number in (0, 1, 2):
            store.search([scope_of(number)], ASKED)
            indexes.append(weakref.ref(next(iter(store._indexes._indexes.values())).index))
        assert [index() is None for index in indexes] == [True, True, False]
        erased = store.select([scope_of(2)], Where(limit=1))[0].id
        store.apply(plan(Erase(memory=erased, because="asked to"), scope=scope_of(2)))
        store.search([scope_of(2)], ASKED)
        assert indexes[2]() is None
    finally:
        gc.enable()


def test_the_index_used_last_stays_although_it_is_larger_than_the_limit(opened: Open) -> None:
    store = opened(1)
    store._indexes.limit = 1
    filled(store, 1)
    assert asked(store, 1)[0]
    assert len(store._indexes) == 1


def test_the_least_recently_used_is_evicted_first() -> None:
    cache = IndexCache(0)
    held = {token: CachedIndex(index=Index(), scope=str(token), journal=0, reindexed=0) for token in range(4)}
    cache.limit = 3 * held[0].index.nbytes
    assert [cache.put(token, held[token]) for token in range(3)] == [[], [], []]
    assert cache.get(0) is held[0]
    assert cache.put(3, held[3]) == [(1, held[1])]
    assert (len(cache), cache.size, cache.evicted) == (3, cache.limit, 1)
    assert cache.pop(2) is held[2]
    assert (cache.pop(2), cache.get(1)) == (None, None)
    assert cache.pop_all() == [(0, held[0]), (3, held[3])]
    assert (len(cache), cache.size, cache.pop_all()) == (0, 0, [])


@pytest.mark.parametrize("count", [0, 1, 200, 3000])
def test_the_size_of_an_index_is_at_least_that_of_its_arrays_and_ids(count: int) -> None:
    index = Index()
    rows = [message(f"note {number} on rowing", seq=number + 1) for number in range(count)]
    index.append([(memory, entry(memory.text)) for memory in rows])
    columns = sum(column.nbytes for column in index._rows.columns.values())
    ids = sum(sys.getsizeof(memory.id) for memory in rows)
    assert columns + ids < index.nbytes < 2 * columns + 1000 * count + 20_000


def test_the_limit_is_a_field_of_config(tmp_path: Path) -> None:
    with Slowwave.open(tmp_path / "a.db", embedder="none", config=Config(index_cache_mb=3)) as store:
        assert store.within("a").ports.store._indexes.limit == 3 * MEGABYTE  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="index_cache_mb=0"):
        Config(index_cache_mb=0)
