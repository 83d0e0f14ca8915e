"""The connections of a process: their number, their time-outs, their name, and what each error says."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import psycopg
import pytest
from tests.waiting import LONGEST, until

from slowwave import Config, InputError, Slowwave, settings
from slowwave.errors import BusyError
from slowwave.model.plan import Plan
from slowwave.model.query import Query
from slowwave.stores.postgres.opening import LOCK_CLASS
from slowwave.stores.postgres.pool import RawConnection
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.builders import NOW, add, message, plan

ASKED = Query(text="rowing", top_k=3, now=NOW)
STUCK, OTHER = "tenant/stuck", "tenant/other"
SOON = LONGEST
"""Seconds after which a thread that waits has failed the test."""


def words(scope: str, identity: str) -> Plan:
    return plan(add(message("rowing", scope=scope, id=identity)), scope=scope)


@pytest.fixture
def opened(in_postgres: PostgresStore, address: str) -> Iterator[PostgresStore]:
    """A store with two connections that waits for one second, with two scopes."""
    assert in_postgres.name
    store = PostgresStore(address, connections=2, busy_seconds=1.0)
    for scope in (STUCK, OTHER):
        store.apply(words(scope, f"{scope} 1"))
        store.search([scope], ASKED)
    yield store
    store.close()


@pytest.fixture
def lock(opened: PostgresStore, address: str) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Another process holds the lock of the scope, until it rolls back."""
    with psycopg.connect(address) as db:
        token = opened._scopes[STUCK]
        db.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK_CLASS, token))
        yield db


def raised(store: PostgresStore, number: int) -> str:
    with pytest.raises(BusyError) as error:
        store.apply(words(STUCK, f"{STUCK} {number + 2}"))
    return error.value.reason


def test_a_scope_that_another_process_locks_takes_one_connection_and_no_other_tenant_waits(
    lock: "psycopg.Connection[tuple[object, ...]]", address: str
) -> None:
    writers = 6
    store = PostgresStore(address, connections=2, busy_seconds=SOON)
    with ThreadPoolExecutor(writers + 1) as threads:
        plans = (words(STUCK, f"{STUCK} {number + 2}") for number in range(writers))
        stuck = [threads.submit(store.apply, each) for each in plans]
        until(lambda: store.gauges()["connections.in_use"] == 1)
        for _ in range(20):
            assert threads.submit(store.search, [OTHER], ASKED).result(SOON)
            assert store.gauges()["connections.in_use"] <= 2
        assert not any(each.done() for each in stuck)
        lock.rollback()
        assert all(each.result(SOON).applied for each in stuck)
    assert store.gauges()["connections.in_use"] == 0
    store.close()


@pytest.mark.usefixtures("lock")
def test_writers_that_wait_for_a_locked_scope_for_too_long_name_the_lock(opened: PostgresStore) -> None:
    with ThreadPoolExecutor(6) as threads:
        assert set(threads.map(partial(raised, opened), range(6))) == {"lock"}
    assert opened.gauges()["connections.in_use"] == 0


@pytest.mark.usefixtures("in_postgres")
def test_connections_are_given_in_the_order_in_which_threads_asked(address: str) -> None:
    store = PostgresStore(address, connections=1)
    pool, given, done = store._pool, threading.Event(), threading.Event()
    pool.take("first", SOON)

    def wait() -> None:
        pool.take("second", SOON)
        given.set()
        done.wait(SOON)
        pool.give("second")

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(wait)
        until(lambda: pool.waiting == 1)
        pool.give("first")
        with pytest.raises(BusyError):  # a holder that asks again does not overtake the one that waits
            pool.take("first", 0.0)
        assert given.wait(SOON)
        done.set()
        waiting.result(SOON)
    assert (pool.in_use, pool.waiting) == (0, 0)
    pool.take("first", SOON)
    pool.give("first")
    store.close()


@pytest.mark.usefixtures("in_postgres")
def test_a_pool_is_closed_while_a_thread_takes_a_connection(address: str) -> None:
    store = PostgresStore(address, connections=1)
    pool = store._pool
    pool.take("first", SOON)
    pool.give("first")
    closing = threading.Thread(target=pool.close)

    class Idle(list[RawConnection]):
        def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - as of a list
            if not closing.ident:
                closing.start()
                closing.join(0.3)
            return super().__getitem__(place)

    pool._idle = Idle(pool._idle)
    raw = pool.take("second", SOON)
    assert not raw.closed
    closing.join(SOON)
    pool.give("second")
    assert (raw.closed, pool._idle) == (True, [])
    store.close()


@pytest.mark.usefixtures("in_postgres")
def test_a_search_at_the_server_that_waits_for_a_writer_holds_no_connection(address: str) -> None:
    store = PostgresStore(address, connections=1, busy_seconds=SOON, in_ram=0)
    store.apply(words(OTHER, "first"))
    with ThreadPoolExecutor(1) as threads, store._writers.hold((OTHER,)):
        found = threads.submit(store.search, [OTHER], ASKED)
        until(lambda: len(store._writers._queues[OTHER]) == 2)
        assert [one.id for one in store.get([OTHER], ["first"])] == ["first"]  # what a writer does with its lock
    assert [one.id for one in found.result(SOON)] == ["first"]
    store.close()


@pytest.mark.usefixtures("in_postgres")
@pytest.mark.parametrize("in_ram", [0, None])
def test_a_reading_that_does_not_cover_its_scopes_holds_no_connection(address: str, in_ram: int | None) -> None:
    store = PostgresStore(address, connections=1, in_ram=in_ram)
    store.apply(words(OTHER, "first"))
    for scope, in_use in ((OTHER, 0 if in_ram == 0 else 1), ("tenant/nothing", 0)):
        with store.reading([scope]) as reading:
            reading.begin()
            assert store.gauges()["connections.in_use"] == in_use
            store.search([scope], ASKED)
    assert store.gauges()["connections.in_use"] == 0
    store.close()


@pytest.mark.usefixtures("in_postgres")
def test_a_write_waits_for_lock_seconds_once_and_not_again_at_the_server(address: str) -> None:
    store = PostgresStore(address, connections=3, busy_seconds=2.0)
    store.apply(words(OTHER, "first"))

    def waited(name: str) -> float:
        begun = time.monotonic()
        with pytest.raises(BusyError):
            store.apply(words(OTHER, name))
        return time.monotonic() - begun

    with psycopg.connect(address) as db, ThreadPoolExecutor(4) as threads:
        db.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK_CLASS, store._scopes[OTHER]))
        assert max(threads.map(waited, map(str, range(4)))) < 3
    store.close()


def test_a_statement_that_the_server_cancels_is_named_as_such(address: str) -> None:
    store = PostgresStore(address, connections=1, statement_seconds=0.05)
    with pytest.raises(BusyError, match="statement_seconds") as error, store._guard:
        store._db.execute("SELECT pg_sleep(2)")
    assert error.value.reason == "statement"
    store.close()


def test_a_pool_without_a_free_connection_names_its_setting(opened: PostgresStore) -> None:
    taken, done = threading.Barrier(3), threading.Event()

    def hold() -> None:
        with opened._guard:
            opened._db.execute("SELECT 1")
            taken.wait(SOON)
            done.wait(SOON)

    with ThreadPoolExecutor(2) as threads:
        holders = [threads.submit(hold) for _ in range(2)]
        taken.wait(SOON)
        assert opened.gauges()["connections.in_use"] == 2
        with pytest.raises(BusyError, match="`connections`") as error:
            opened.get([OTHER], ["x"])
        done.set()
        for each in holders:
            each.result(SOON)
    assert error.value.reason == "connections"


def test_a_writer_that_is_paused_loses_its_lock_and_writes_again(in_postgres: PostgresStore, address: str) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def reached(point: str) -> None:
        if point == "apply.memories":
            begun.set()
            assert go_on.wait(SOON), "the lock was kept"

    writer = PostgresStore(address, idle_transaction_seconds=1.0, reached=reached)
    other = PostgresStore(address, busy_seconds=SOON)
    assert in_postgres.apply(words(STUCK, "before")).applied
    with ThreadPoolExecutor(1) as threads:
        paused = threads.submit(writer.apply, words(STUCK, "paused"))
        assert begun.wait(SOON)
        assert other.apply(words(STUCK, "meanwhile")).applied
        go_on.set()
        assert paused.result(SOON).applied
    assert {one.id for one in other.get([STUCK], ["paused", "meanwhile"])} == {"paused", "meanwhile"}
    writer.close()
    other.close()


@pytest.mark.parametrize(
    ("config", "option", "name"),
    [
        (Config(), "", "slowwave"),
        (Config(application_name="web"), "", "web"),
        (Config(application_name="web"), "application_name=job", "job"),
    ],
)
def test_the_server_shows_the_name_of_the_program(
    in_postgres: PostgresStore, address: str, config: Config, option: str, name: str
) -> None:
    assert in_postgres.name
    url = f"{address}{'&' if '?' in address else '?'}{option}" if option else address
    with Slowwave.open(url, llm=None, embedder="none", config=config) as store:
        store.within("a").add("Alice likes tea")
        with psycopg.connect(address) as db:
            found = db.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()",
                (name,),
            ).fetchone()
    assert found is not None
    assert found[0] >= 1


@pytest.mark.parametrize(("wanted", "prepares"), [(None, True), (True, True), (False, False)])
def test_statements_are_prepared_unless_the_setting_forbids_it(
    in_postgres: PostgresStore, address: str, *, wanted: bool | None, prepares: bool
) -> None:
    assert in_postgres.name
    store = PostgresStore(address, connections=1, prepared_statements=wanted)
    for number in range(12):
        store.apply(words(OTHER, f"{wanted}-{number}"))
        store.get([OTHER], [f"{wanted}-{number}"])
    raw = store._pool.take(store, SOON)
    (found,) = raw.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() or ()
    store._pool.give(store)
    store.close()
    assert (found > 0) is prepares


def test_the_environment_sets_what_config_sets() -> None:
    found = settings.read(
        {
            "SLOWWAVE_CONNECTIONS": "4",
            "SLOWWAVE_LOCK_SECONDS": "2.5",
            "SLOWWAVE_STATEMENT_SECONDS": "none",
            "SLOWWAVE_INDEX_CACHE_MB": "64",
            "SLOWWAVE_APPLICATION_NAME": "web",
        }
    ).config
    values = (
        found.connections,
        found.lock_seconds,
        found.statement_seconds,
        found.index_cache_mb,
        found.application_name,
    )
    assert values == (4, 2.5, None, 64, "web")


@pytest.mark.parametrize(("name", "value"), [("CONNECTIONS", "0"), ("CONNECTIONS", "many"), ("LOCK_SECONDS", "-1")])
def test_a_wrong_value_in_the_environment_names_its_variable(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"SLOWWAVE_{name}"):
        settings.read({f"SLOWWAVE_{name}": value})


def test_gauges_count_indexes_and_connections(opened: PostgresStore) -> None:
    before = opened.gauges()
    opened.search([OTHER], ASKED)
    opened._indexes.pop_all()
    opened.search([OTHER], ASKED)
    after = opened.gauges()
    assert after["index.builds"] == before["index.builds"] + 1
    assert (after["index.scopes"], after["connections.in_use"], after["connections.max"]) == (1, 0, 2)
    assert 0 < after["index.bytes"] < after["index.max_bytes"]
