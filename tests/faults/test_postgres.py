"""A server that is killed, connections that are cut, and many writers at once: what was acknowledged is found."""

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from random import Random
from typing import Self

import psycopg
import pytest
from tests.waiting import LONGEST, until

from slowwave.errors import StoreError
from slowwave.model.query import Query, Where
from slowwave.stores.postgres import session, store as store_module
from slowwave.stores.postgres.statements import Query as Sent
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.postgres.wire import Stream
from slowwave.testing.builders import NOW, SCOPE, add, fact, message, plan, use
from slowwave.testing.postgres import PostgresServer, postgres_server

_rounds = count()
MESSAGES = frozenset({"message"})
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@pytest.fixture
def mortal() -> Iterator[PostgresServer]:
    """A server of its own that syncs, for it is going to be killed."""
    with postgres_server(in_ram=True) as server:
        yield server


class Writers:
    """Threads that write messages, and remember which were acknowledged and which were told as lost."""

    def __init__(self, store: PostgresStore, number: int) -> None:
        self.store = store
        self.round = next(_rounds)  # an id() may be given to the next ones again
        self.acknowledged: list[str] = []
        self.acked: list[str] = []
        self.problems: list[str] = []
        self.stopped = threading.Event()
        self.number = number
        self.threads = [threading.Thread(target=self._write, args=(n,)) for n in range(number)]

    def __enter__(self) -> Self:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join(LONGEST)

    def until_each_has_written(self) -> None:
        before = len(self.acknowledged)
        until(lambda: len({ref.partition("-")[0] for ref in self.acknowledged[before:]}) == self.number)

    def _write(self, number: int) -> None:
        turn = 0
        while not self.stopped.is_set():
            turn += 1
            ref = f"w{number}-{self.round}-{turn}"
            wanted = plan(add(message(ref, ref=ref, conversation=f"c{number % 2}")), id=f"run-{ref}", cause="observe")
            try:
                receipt = self.store.apply(wanted)
            except StoreError as error:
                self.acked.append(ref)
                self.problems.append(str(error))
            else:
                (self.acknowledged if receipt.applied else self.problems).append(ref)


def found(store: PostgresStore) -> list[str | None]:
    return [one.ref for one in store.select([SCOPE], Where(kinds=MESSAGES))]


def proven(store: PostgresStore, acknowledged: list[str]) -> None:
    refs = found(store)
    assert len(refs) == len(set(refs)), "stored twice"
    assert set(acknowledged) <= set(refs), "acknowledged and lost"
    assert len(store.runs(SCOPE)) == len(refs)
    assert store.check(deep=True) == []


def killed(mortal: PostgresServer, rounds: int) -> None:
    store = PostgresStore(mortal.database(), busy_seconds=LONGEST)
    chance, acknowledged = Random(7), []
    for _ in range(rounds):
        with Writers(store, 3) as writers:
            time.sleep(chance.uniform(0.15, 0.4))
            mortal.kill()
            mortal.restart()
            writers.until_each_has_written()
        acknowledged += writers.acknowledged
    assert acknowledged
    proven(store, acknowledged)
    store.close()


def cut(address: str, rounds: int) -> None:
    store = PostgresStore(address, connections=6, busy_seconds=LONGEST)
    chance, acknowledged = Random(8), []
    with psycopg.connect(address, autocommit=True) as db:
        for _ in range(rounds):
            with Writers(store, 4) as writers:
                for _ in range(5):
                    writers.until_each_has_written()  # so that no write is cut as often as it is tried
                    time.sleep(chance.uniform(0.0, 0.05))
                    db.execute(CUT)
            assert writers.problems == []  # planned again inside, and no writer noticed
            acknowledged += writers.acknowledged
    proven(store, acknowledged)
    store.close()


def test_a_killed_server_loses_nothing_that_was_acknowledged(mortal: PostgresServer) -> None:
    killed(mortal, 3)


@pytest.mark.long
def test_a_server_killed_twenty_times_loses_nothing_that_was_acknowledged(mortal: PostgresServer) -> None:
    killed(mortal, 20)


def test_connections_cut_in_mid_write_are_replaced_and_every_write_happens_once(own: str) -> None:
    cut(own, 3)


@pytest.mark.long
def test_connections_cut_a_hundred_times_lose_nothing(own: str) -> None:
    cut(own, 20)


def test_a_commit_whose_reply_is_lost_is_recognised_by_its_run(own: str) -> None:
    store = PostgresStore(own, connections=2, busy_seconds=5)
    store.apply(plan(add(fact("Likes tea"))))
    answers: list[str] = []

    def lose(point: str) -> None:
        if point == "apply.before_commit" and not answers:
            answers.append(point)
            db = store._db
            commit, raw = db.commit, db._connection()

            def committed() -> object:
                db.commit = commit  # type: ignore[method-assign]  # as it was
                commit()
                raw.close()
                raise psycopg.OperationalError("the answer was lost")

            db.commit = committed  # type: ignore[method-assign,assignment]  # whatever it returns

    store._reached = lose
    receipt = store.apply(plan(add(fact("Likes rye")), add(message("Hello"))))
    assert (len(receipt.applied), len(answers)) == (2, 1)
    assert len(store.select([SCOPE], Where())) == 3
    assert len(store.runs(SCOPE)) == 2
    store.close()


@pytest.mark.parametrize("streamed", [True, False])
def test_a_commit_that_the_server_did_not_confirm_is_none(
    own: str, monkeypatch: pytest.MonkeyPatch, streamed: bool
) -> None:
    store = PostgresStore(own, connections=2, busy_seconds=5)
    store.apply(plan(add(message("One", ref="1")), cause="observe"))
    lost: list[Sent] = []

    def without_commit(queries: Iterable[Sent]) -> list[Sent]:
        sent = list(queries)
        if sent[-1].text == b"COMMIT" and not lost:
            lost.append(sent[-1])
            return [Sent(b"SELECT 1")]
        return sent

    class Lossy(Stream):
        def put(self, queries: Iterable[Sent]) -> None:
            super().put(without_commit(queries))

    pipelined = session._pipelined
    monkeypatch.setattr(session, "_pipelined", lambda raw, queries: pipelined(raw, without_commit(queries)))
    monkeypatch.setattr(session, "Stream", Lossy)
    monkeypatch.setattr(store_module, "_adds_few", lambda _: streamed)
    assert store.apply(plan(add(message("Two", ref="2")), cause="observe")).applied
    assert lost
    proven(store, ["1", "2"])
    store.close()


def mixed(address: str, clients: int, seconds: float) -> None:
    store = PostgresStore(address, connections=clients)
    start, ends = threading.Barrier(clients), time.monotonic() + seconds
    seen: list[float] = []

    def client(number: int) -> int:
        chance, done = Random(number), 0
        scope = f"{SCOPE}/{number % 4}"
        start.wait()
        while time.monotonic() < ends:
            begun = time.perf_counter()
            what = chance.random()
            known = store.select([scope], Where(limit=5))
            if what < 0.5 or not known:
                text = f"note {number} {done}"
                assert store.apply(plan(add(message(text, ref=text, scope=scope)), scope=scope)).applied
                done += 1
            elif what < 0.8:
                used = [use(one) for one in chance.sample(known, min(3, len(known)))]
                assert len(store.apply(plan(*used, scope=scope, cause="use")).applied) == len(used)
            else:
                store.search([scope], Query(text="note", top_k=5, now=NOW))
            seen.append(time.perf_counter() - begun)
        return done

    with ThreadPoolExecutor(clients) as threads:
        written = sum(threads.map(client, range(clients)))
    scopes = [f"{SCOPE}/{number}" for number in range(4)]
    assert sum(len(store.select([scope], Where(kinds=MESSAGES))) for scope in scopes) == written
    assert store.check(deep=True) == []
    with psycopg.connect(address) as db:
        row = db.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()
    assert row == (0,)
    seen.sort()
    print(f"{len(seen)} operations, p50 {seen[len(seen) // 2]:.4f} s, p99 {seen[len(seen) * 99 // 100]:.4f} s")  # noqa: T201
    store.close()


def test_sixteen_clients_lose_nothing_and_never_lock_each_other_out(own: str) -> None:
    mixed(own, 16, 3)


@pytest.mark.long
def test_sixteen_clients_for_a_minute(own: str) -> None:
    mixed(own, 16, 60)
