"""The connections of a process: their number, their time-outs, their name, and what each error says."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from slowwave import Config, InputError, Slowwave, settings
from slowwave.errors import BusyError
from slowwave.model.plan import Plan
from slowwave.model.query import Query
from slowwave.stores.postgres.opening import LOCK_CLASS
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.builders import NOW, add, message, plan

ASKED = Query(text="rowing", top_k=3, now=NOW)
STUCK, OTHER = "tenant/stuck", "tenant/other"
SOON = 20.0
"""Seconds after which a thread that waits has failed the test."""


def words(scope: str, identity: str) -> Plan:
    return plan(add(message("rowing", scope=scope, id=identity)), scope=scope)


@pytest.fixture
def opened(in_postgres: PostgresStore, address: str) -> Iterator[PostgresStore]:
    """A store with two connections and short time-outs, with two scopes."""
    assert in_postgres.name
    store = PostgresStore(address, connections=2, busy_seconds=1.0, statement_seconds=5.0, idle_transaction_seconds=0.3)
    for scope in (STUCK, OTHER):
        store.apply(words(scope, f"{scope} 1"))
        store.search([scope], ASKED)
    yield store
    store.close()


@pytest.fixture
def locked(opened: PostgresStore, address: str) -> Iterator[None]:
    """Another process holds the lock of the scope."""
    with psycopg.connect(address) as db:
        token = opened._scopes[STUCK]
        db.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK_CLASS, token))
        yield


def raised(store: PostgresStore, number: int) -> str:
    with pytest.raises(BusyError) as error:
        store.apply(words(STUCK, f"{STUCK} {number + 2}"))
    return error.value.reason


@pytest.mark.usefixtures("locked")
def test_a_scope_that_another_process_locks_takes_one_connection_and_no_other_tenant_waits(
    opened: PostgresStore,
) -> None:
    writers = 6
    with ThreadPoolExecutor(writers + 1) as threads:
        stuck = [threads.submit(raised, opened, number) for number in range(writers)]
        found = 0
        while not all(each.done() for each in stuck):
            found += len(threads.submit(opened.search, [OTHER], ASKED).result(SOON))
            assert opened.gauges()["connections.in_use"] <= 2
        assert found
        assert {each.result(SOON) for each in stuck} == {"lock"}
    assert opened.gauges()["connections.in_use"] == 0


@pytest.mark.usefixtures("in_postgres")
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


def test_a_writer_that_is_paused_loses_its_lock_and_writes_again(opened: PostgresStore, address: str) -> None:
    begun, pauses = threading.Event(), iter([0.8])

    def reached(point: str) -> None:
        if point == "apply.memories":
            begun.set()
            time.sleep(next(pauses, 0.0))

    writer = PostgresStore(address, idle_transaction_seconds=0.2, reached=reached)
    with ThreadPoolExecutor(1) as threads:
        paused = threads.submit(writer.apply, words(STUCK, "paused"))
        assert begun.wait(SOON)
        assert opened.apply(words(STUCK, "meanwhile")).applied
        assert paused.result(SOON).applied
    assert {one.id for one in opened.get([STUCK], ["paused", "meanwhile"])} == {"paused", "meanwhile"}
    writer.close()


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
