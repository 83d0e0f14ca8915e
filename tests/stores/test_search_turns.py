"""Searches of different scopes do not wait for each other; in one scope one thread builds the index."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from tests.waiting import LONGEST

from slowwave.model.query import Query
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.scope_locks import ScopeLocks
from slowwave.stores.search.idle import IdleThread
from slowwave.stores.search.index import Index
from slowwave.testing.builders import NOW, add, message, plan

ASKED = Query(text="rowing", top_k=3, now=NOW)
LARGE, SMALL = "tenant/large", "tenant/small"
SOON = LONGEST
"""Seconds after which a thread that waits for another one has failed the test."""


class Pause:
    """Stops the builds of the index of the large scope, until it is told to go on."""

    def __init__(self) -> None:
        self.begun, self.may_go_on, self.builds = threading.Event(), threading.Event(), 0


@pytest.fixture
def pause(in_postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pause]:
    for scope, count in ((LARGE, 12), (SMALL, 3)):
        rows = [add(message(f"rowing {n}", scope=scope, id=f"{scope}{n}")) for n in range(count)]
        in_postgres.apply(plan(*rows, scope=scope))
    paused, load = Pause(), Index.load

    def slow_load(index: Index, rows: object) -> None:
        if len(rows) == 12:  # type: ignore[arg-type]
            paused.builds += 1
            paused.begun.set()
            assert paused.may_go_on.wait(SOON)
        load(index, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(Index, "load", slow_load)
    yield paused
    paused.may_go_on.set()


def test_searches_of_other_scopes_do_not_wait_for_a_scope_whose_index_is_built(
    in_postgres: PostgresStore, pause: Pause
) -> None:
    with ThreadPoolExecutor(2) as threads:
        large = threads.submit(in_postgres.search, [LARGE], ASKED)
        assert pause.begun.wait(SOON)
        for _ in range(2):  # first cold, then warm
            assert len(threads.submit(in_postgres.search, [SMALL], ASKED).result(SOON)) == 3
        assert not large.done()
        pause.may_go_on.set()
        assert len(large.result(SOON)) == 3


def test_threads_that_wait_for_one_builder_hold_no_connection(in_postgres: PostgresStore, pause: Pause) -> None:
    waiting = 12  # the store of the test has four connections
    with ThreadPoolExecutor(waiting + 1) as threads:
        found = [threads.submit(in_postgres.search, [LARGE], ASKED) for _ in range(waiting)]
        assert pause.begun.wait(SOON)
        assert len(threads.submit(in_postgres.search, [SMALL], ASKED).result(SOON)) == 3
        pause.may_go_on.set()
        assert {len(each.result(SOON)) for each in found} == {3}
    assert pause.builds == 1


def test_locks_of_scopes_are_reentrant_and_vanish_when_unused() -> None:
    locks = ScopeLocks()
    with locks.hold(["b", "a", "a"]) as first, locks.hold(["a"], 0) as second:
        assert (first, second, len(locks)) == (True, True, 2)
        with ThreadPoolExecutor(1) as threads:
            assert not threads.submit(lambda: locks.hold(["a", "c"], 0).__enter__()).result(SOON)
        assert len(locks) == 2
    assert len(locks) == 0


def test_two_threads_that_take_scopes_in_different_orders_both_get_them() -> None:
    locks, rounds = ScopeLocks(), 200

    def take(scopes: list[str]) -> int:
        taken = 0
        for _ in range(rounds):
            with locks.hold(scopes) as held:
                taken += held
        return taken

    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(take, scopes) for scopes in (["a", "b"], ["b", "a"])]
        assert [each.result(SOON) for each in both] == [rounds, rounds]


def test_an_idle_thread_is_stopped_while_another_thread_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_start = threading.Event(), threading.Event()
    idle, start = IdleThread(lambda: None, 0.001), threading.Thread.start

    def late(thread: threading.Thread) -> None:
        if thread.name == "slowwave-index":
            begun.set()
            assert may_start.wait(SOON)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", late)
    with ThreadPoolExecutor(2) as threads:
        starting = threads.submit(idle.start)
        assert begun.wait(SOON)
        stopping = threads.submit(idle.stop)
        wait([stopping], 0.2)
        may_start.set()
        assert (starting.result(SOON), stopping.result(SOON)) == (None, None)
    assert idle._thread is not None
    assert not idle._thread.is_alive()
