"""What an operator sees and is woken by: the state of a store, probes over HTTP, and the alarms of docs/operating.md."""

import json
import logging
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import psycopg
import pytest
from tests.conftest import START, World
from tests.ports import free_port
from tests.test_telemetry import Measured, measured
from tests.waiting import LONGEST

from slowwave import Config, InputError, Slowwave, telemetry
from slowwave.cli.worker_health import answering_probes
from slowwave.model.codec import to_micros
from slowwave.model.fleet import ALIVE
from slowwave.model.pass_record import TRIES
from slowwave.pipelines.sleep.all_scopes import due_scopes
from slowwave.probes import Heartbeat, readiness, serve
from slowwave.stores.postgres import erasure
from slowwave.testing import FrozenClock

_ = measured  # a fixture
CANARIES = ("walnutcanary", "violincanary", "folderCanary", "questioncanary")
PAGE = (Path(__file__).parents[1] / "docs" / "operating.md").read_text("utf-8")
ROW = re.compile(r"^\| (\w+) \| `([^`]+)` \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
ALARMS = dict(ROW.findall(PAGE))
TERM = re.compile(r"(p99\()?(slowwave\.[\w.]+)(?:\{verb=(\w+)\})?\)? > ([\d.]+)")


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(START)


@pytest.fixture
def store(own: str, clock: FrozenClock) -> Iterator[Slowwave]:
    with Slowwave.open(own, llm=None, embedder="none", clock=clock) as opened:
        yield opened


def fires(measured: Measured, alarm: str) -> bool:
    """Whether the expression of an alarm holds now."""
    found = TERM.fullmatch(ALARMS[alarm])
    assert found, f"the expression of {alarm} is not understood: {ALARMS[alarm]}"
    quantile, name, verb, limit = found.groups()
    if quantile:
        counts = measured.buckets(name, verb)
        total, seen = sum(counts.values()), 0
        for bound, number in counts.items():
            seen += number
            if total and seen >= 0.99 * total:
                return bound > float(limit)
        return False
    return any(value > float(limit) for value in measured.points(name).values())


def test_the_fleet_counts_exactly_what_is_due_and_for_how_long(store: Slowwave, clock: FrozenClock) -> None:
    for name in ("alice", "bob", "carl"):
        store.within(name).add(f"{name} has a harp")
        clock.advance(seconds=600)
    state = store.fleet()
    assert (state.scopes, state.due, state.oldest_due_seconds) == (3, 3, 1800.0)
    assert (state.workers, dict(state.dead), state.pending_proofs) == ((), {}, ())
    assert state.schema.steps == ()
    assert state.gauges["connections.max"] >= 4
    store.sleep_due()
    assert (store.fleet().due, store.fleet().oldest_due_seconds) == (0, 0.0)
    assert "0 due" in str(store.fleet())


def test_a_file_reports_the_same_backlog(world: World) -> None:
    memory = world.open(scope="alice")
    memory.add("Alice has a harp")
    world.clock.advance(seconds=600)
    with Slowwave.open(world.path, llm=None, embedder="none", clock=world.clock) as store:
        state = store.fleet()
        assert (state.due, state.oldest_due_seconds) == (1, 600.0)
        assert store.ready() == []


def _fail(store: Slowwave, address: str) -> None:
    """Make the sleep passes of alice fail until she is a dead letter."""
    store.within("alice").add("Alice has a harp")
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("SET slowwave.every_scope = 'on'")
        db.execute(
            "INSERT INTO slowwave.leases (scope, token, holder, until, run) SELECT token, 1, '', 0, 0 "
            "FROM slowwave.scopes ON CONFLICT DO NOTHING"
        )
        until = to_micros(store.within("alice").ports.now()) + 12 * 3_600_000_000
        db.execute("UPDATE slowwave.leases SET failures = %s, next_try = %s, error = 'CorruptError'", (TRIES, until))


def test_dead_letters_are_listed_with_their_reason(own: str, store: Slowwave) -> None:
    _fail(store, own)
    state = store.fleet()
    assert state.dead["alice"].error == "CorruptError"
    assert "CorruptError" in str(state)
    assert state.due == 0


def test_only_workers_that_renewed_their_rows_lately_count(own: str, store: Slowwave, measured: Measured) -> None:
    with psycopg.connect(own, autocommit=True) as db:
        for number, age in enumerate((0, ALIVE - 20, ALIVE + 20, 80_000, -80_000)):
            db.execute(
                "INSERT INTO slowwave.workers VALUES (%s, %s, '', '0', 0, (extract(epoch FROM now()) - %s) * 1000000)",
                (number, f"worker {number}", age),
            )
    assert [worker.name for worker in store.fleet().workers] == ["worker 0", "worker 1"]
    due_scopes(store.within("alice").ports)
    assert measured.points("slowwave.workers") == {(): 2}


def test_each_documented_alarm_fires_and_is_silent_before(
    own: str, store: Slowwave, measured: Measured, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = store.within("alice").ports
    only = WeakSet([ports.store])  # other tests of this process may have left stores open
    monkeypatch.setattr(telemetry, "_watched", only)

    def late() -> None:
        store.within("bob").add("Bob has a harp")
        clock.advance(hours=2)

    def dead() -> None:
        _fail(store, own)

    def unproved() -> None:
        monkeypatch.setattr(erasure, "REWRITTEN_MAX", 1)
        carl = store.within("carl")
        carl.erase(id=carl.add("Carl has a harp").ids[0])

    def exhausted() -> None:
        pool = ports.store._pool  # type: ignore[attr-defined]  # of Postgres
        monkeypatch.setattr(type(pool), "waiting", 3)

    def evicted() -> None:
        cache = ports.store._indexes  # type: ignore[attr-defined]  # of both stores
        monkeypatch.setattr(cache, "evicted", 5)

    def slow(verb: str) -> Callable[[], None]:
        return lambda: telemetry.instruments().duration.record(1.5, {telemetry.VERB: verb})

    def held_back() -> None:
        telemetry.instruments().waiting.add(3)

    causes = {
        "SlowAdds": slow("add_messages"),
        "SlowSearches": slow("search"),
        "BacklogOld": late,
        "DeadLetters": dead,
        "ProofsPending": unproved,
        "PoolExhausted": exhausted,
        "IndexesEvicted": evicted,
        "FactsWaiting": held_back,
    }
    assert set(causes) == set(ALARMS), "each alarm of the page has a cause here"
    for verb in ("add_messages", "search"):
        telemetry.instruments().duration.record(0.01, {telemetry.VERB: verb})
    for alarm, cause in causes.items():
        due_scopes(ports)
        assert not fires(measured, alarm), f"{alarm} is silent before"
        cause()
        due_scopes(ports)
        assert fires(measured, alarm), f"{alarm} fires"


def test_no_log_span_metric_or_state_holds_a_word_of_a_user(
    own: str, measured: Measured, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "REWRITTEN_MAX", 1)
    fact, talk, folder, question = CANARIES
    with caplog.at_level(logging.DEBUG), Slowwave.open(own, llm=None, config=Config()) as store:
        memory = store.within("u17")
        memory.add(f"Alice owns the {fact}", subject=fact, metadata={fact: fact})
        memory.add_messages({"role": "user", "content": f"I play the {talk} on Mondays."}, talk)
        memory.note(folder, f"text of {fact}", folder=folder)
        memory.consolidate(talk, force=True)
        memory.search(question)
        memory.context(question)
        memory.sleep()
        store.sleep_due()
        memory.erase(text=fact)
        with pytest.raises(InputError):
            memory.consolidate(question)
        state = str(store.fleet()) + json.dumps(dict(store.fleet().gauges))
        answer = readiness(store.ready)
    everything = measured.data() + caplog.text + state + str(answer) + str([vars(one) for one in caplog.records])
    assert "slowwave.store.round_trip" in everything
    for canary in CANARIES:
        assert canary not in everything


def _get(port: int, path: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=LONGEST) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def test_probes_answer_whether_the_process_lives_and_can_work(store: Slowwave, own: str) -> None:
    heart, problems = Heartbeat(60), list[str]()
    with serve(0, heart.healthy, lambda: [*store.ready(), *problems], host="127.0.0.1") as port:
        assert _get(port, "/healthz")[0] == 200
        assert _get(port, "/readyz") == (200, {"status": "ok", "reasons": []})
        problems.append("no model")
        assert _get(port, "/readyz") == (503, {"status": "not ready", "reasons": ["no model"]})
        assert _get(port, "/metrics")[0] == 404
        heart._last -= 61
        assert _get(port, "/healthz")[0] == 503
        with pytest.raises(InputError, match="cannot be used"), serve(port, heart.healthy, list, host="127.0.0.1"):
            pass
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("DELETE FROM slowwave.migrations WHERE number = (SELECT max(number) FROM slowwave.migrations)")
    assert readiness(store.ready).code == 503


def test_a_store_that_cannot_be_reached_is_not_ready_and_its_address_is_not_shown(store: Slowwave) -> None:
    store.close()
    answer = readiness(store.ready)
    assert answer.code == 503
    assert "postgresql" not in str(answer)


def test_a_worker_answers_probes_at_its_port_only_with_the_option(store: Slowwave) -> None:
    memory = store.within("alice")
    with answering_probes(None, memory, 60.0) as beat:
        beat()
    with free_port() as port, answering_probes(port, memory, 60.0) as beat:
        beat()
        assert _get(port, "/healthz")[0] == 200
        assert _get(port, "/readyz")[1]["status"] == "ok"
