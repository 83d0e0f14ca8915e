"""Workers: each due scope is slept once, failing scopes become dead letters, and the queue contains names only."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import psycopg
import pytest
from click.testing import CliRunner
from tests.waiting import LONGEST, until

from slowwave import AgentMemory, Message, Slowwave, worker
from slowwave.cli.app import app
from slowwave.composition import build_ports
from slowwave.errors import InputError, NotFoundError, ReadOnlyError, SettingsError, StoreError
from slowwave.model.pass_record import TRIES
from slowwave.pipelines.sleep import sleep_pass
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.ports import Ports
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer, postgres_server
from slowwave.worker import SCHEMA, FleetLimits, Worker, queue_status
from slowwave.worker.queue import ALIVE

pytest.importorskip("dbos", reason="no DBOS here: pip install 'slowwave[worker]'")

SECRET = "Alice owns the xylophone pipeline"
MAIN = [sys.executable, "-c", "from slowwave.cli import main; main()"]
JOB = ALIVE / 4
"""Seconds of a job: so few that a worker counts as alive after two of them."""


@pytest.fixture(scope="module")
def with_queue(shared_postgres: PostgresServer) -> str:
    """The name of a database with an empty store and an empty queue: DBOS takes seconds to create its tables."""
    address = shared_postgres.database()
    with AgentMemory.open(address, scope="keeper", llm=None, embedder="none") as memory, Worker(memory, address):
        pass
    with psycopg.connect(address) as db:
        db.execute(f"DELETE FROM {SCHEMA}.queues".encode())
        return db.info.dbname


@pytest.fixture
def own(postgres: PostgresServer, with_queue: str) -> str:
    return postgres.database(with_queue)


def due(address: str, *scopes: str) -> None:
    for scope in scopes:
        with AgentMemory.open(address, scope=scope, llm=None, embedder="none") as tenant:
            tenant.add(f"{SECRET} {scope}")


def status(address: str, scope: str) -> str:
    options = ["--store", address, "--embedder", "none", "--scope", scope]
    return CliRunner().invoke(app, [*options, "status"]).stdout


def queue_rows(address: str) -> str:
    """All rows of the DBOS tables, as text."""
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
    with psycopg.connect(address) as db:
        names = [name for (name,) in db.execute(tables, (SCHEMA,)).fetchall()]
        return "\n".join(str(db.execute(f"SELECT * FROM {SCHEMA}.{name}".encode()).fetchall()) for name in names)


def test_each_due_scope_is_slept_once_and_the_queue_contains_no_memory_text(own: str, memory: AgentMemory) -> None:
    due(own, "acme/alice", "acme/bob")
    reports: list[str] = []
    with Worker(memory, own, on_progress=lambda scope, *_: reports.append(scope)) as node:
        node.look()
        node.look()
        until(lambda: len(reports) == 2 and "SUCCESS" in queue_rows(own))
        assert "acme/alice" in queue_rows(own)
        assert "xylophone" not in queue_rows(own)
        until(lambda: not node.look().running)
        state = node.look()
    assert sorted(reports) == ["acme/alice", "acme/bob"]
    assert (state.waiting, len(state.workers)) == (frozenset(), 1)
    assert memory.sleep_due() == {}


def fail(address: str, names: str, failures: int) -> None:
    """Make scopes as if so many of their passes had failed, and others be due: the server makes the rows."""
    with psycopg.connect(address) as db:
        db.execute("SELECT set_config('slowwave.every_scope', 'on', false)")
        db.execute("INSERT INTO slowwave.scopes (path) SELECT %s || n FROM generate_series(1, 1000) n", (names,))
        db.execute(
            "INSERT INTO slowwave.leases (scope, token, holder, until, run, failures, next_try, error) SELECT token, 1, '', 0, "
            "token << 40, %s, (extract(epoch FROM now()) + 3600) * 1000000, 'CorruptError' FROM slowwave.scopes WHERE path LIKE %s",
            (failures, f"{names}%"),
        )
        db.execute(
            "INSERT INTO slowwave.due SELECT token, 0 FROM slowwave.scopes WHERE path LIKE %s "
            "ON CONFLICT (scope) DO UPDATE SET at = 0",
            (f"{names}%",),
        )


def test_a_thousand_dead_letters_keep_no_scope_from_its_pass(own: str, memory: AgentMemory) -> None:
    fail(own, "bad/", TRIES)
    healthy = [f"good/{number}" for number in range(12)]
    due(own, *healthy)
    slept: list[str] = []
    with Worker(memory, own, on_progress=lambda scope, *_: slept.append(scope)) as node:
        node.look()
        until(lambda: len(slept) == len(healthy))
        assert not node.more
        with psycopg.connect(own) as db:
            others = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            assert sum(number for (number,) in db.execute(others)) <= 6
    assert sorted(slept) == sorted(healthy)
    with Slowwave.open(own, llm=None, embedder="none") as store:
        assert len(store.failing()) == 1000
        assert store.retry("bad/7") == ["bad/7"]
        assert store.retry("bad/7") == []
        with pytest.raises(NotFoundError, match="no scope 'bad/7000'"):
            store.retry("bad/7000")
        assert memory.ports.store.scopes_due(memory.ports.now(), 10) == ["bad/7"]


def test_the_queue_is_filled_again_until_every_due_scope_is_slept(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.worker, "QUEUED", 4)
    names = [f"a/{number}" for number in range(10)]
    due(own, *names)
    slept: list[str] = []
    with Worker(memory, own, on_progress=lambda scope, *_: slept.append(scope)) as node:
        node.look()
        assert node.more
        until(lambda: bool(node.look()) and len(slept) == len(names) and not node.more)
    assert sorted(slept) == sorted(names)


def test_a_failing_scope_is_tried_again_by_itself_and_counted(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    due(own, "acme/bad", "acme/good")
    original = sleep_pass._run_stages

    def failing_for_one_scope(ports: Ports, *rest: object, **options: object) -> SleepReport:
        if ports.scope == "acme/bad":
            raise StoreError(f"the disk says {SECRET}")
        return original(ports, *rest, **options)

    monkeypatch.setattr(sleep_pass, "_run_stages", failing_for_one_scope)
    ended: dict[str, object] = {}
    with Worker(memory, own, on_progress=lambda scope, result, _: ended.update({scope: result})) as node:
        node.look()
        until(lambda: len(ended) == 2)
        record = memory.ports.store.pass_record("acme/bad")
        assert (record.failures, record.error) == (1, "StoreError")
        assert memory.ports.store.scopes_due(memory.ports.now(), 10) == []
        assert "xylophone" not in queue_rows(own)
        assert "1 sleep pass failed, the last with StoreError" in status(own, "acme/bad")
        assert "failed" not in status(own, "acme/good")
        monkeypatch.undo()
        with Slowwave.open(own, llm=None, embedder="none") as store:
            assert store.retry() == ["acme/bad"]
        node.look()
        until(lambda: isinstance(ended["acme/bad"], SleepReport))
    assert memory.ports.store.pass_record("acme/bad").failures == 0


def test_the_jobs_of_a_worker_that_stopped_renewing_are_cancelled_and_done_by_others(
    own: str, memory: AgentMemory
) -> None:
    due(own, "a", "b")
    slept: list[str] = []
    with Worker(memory, own, on_progress=lambda scope, *_: slept.append(scope)) as node:
        node._closing.set()  # as a process that stands still: it takes jobs, and does nothing
        node.look()
        until(lambda: not live_scopes(own))
        with psycopg.connect(own) as db:
            db.execute(
                f"UPDATE {SCHEMA}.workflow_status SET status = 'PENDING', executor_id = '77', completed_at = NULL"
            )
            db.execute("INSERT INTO slowwave.workers VALUES (77, 'paused', '', '0', 0, 0)")
        assert live_scopes(own) == {"a", "b"}
        node._closing.clear()
        node.look()
        until(lambda: bool(node.look()) and sorted(slept) == ["a", "b"])
        assert [one.number for one in node.look().workers] == [node.number]
    assert not live_scopes(own)


def test_a_job_that_takes_too_long_ends_and_the_scopes_it_did_not_reach_stay_due(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"a/{number}" for number in range(8)]
    due(own, *names)
    slept: list[str] = []
    seconds = [0.0]  # by the clock of the worker; each of the first two passes takes longer than a job may
    monkeypatch.setattr(worker.worker, "time", SimpleNamespace(monotonic=lambda: seconds[0]))

    def slowly(scope: str, *_: object) -> None:
        slept.append(scope)
        seconds[0] += JOB + 1 if len(slept) <= 2 else 0

    with Worker(memory, own, at_once=1, on_progress=slowly) as node:
        monkeypatch.setattr(worker.worker, "JOB_SECONDS", JOB)
        node.look()  # two jobs of four scopes
        until(lambda: len(slept) == 2 and not live_scopes(own))
        assert set(memory.ports.store.scopes_due(memory.ports.now(), 10)) == set(names) - set(slept)
        monkeypatch.undo()
        until(lambda: bool(node.look()) and len(slept) == len(names))
    assert sorted(slept) == names


def test_a_worker_with_default_settings_reads_the_messages_of_every_scope(own: str, memory: AgentMemory) -> None:
    for scope in ("a", "b"):
        with AgentMemory.open(own, scope=scope, llm=None, embedder="none") as tenant:
            said = [f"I own a {color} kayak number {n}." for n, color in enumerate(["red", "green", "blue"] * 10)]
            tenant.add_messages([Message(role="user", content=text) for text in said], "c")
    ended: list[str] = []
    with Worker(memory, own, on_progress=lambda scope, *_: ended.append(scope)) as node:
        node.look()
        until(lambda: sorted(ended) == ["a", "b"])
    for scope in ("a", "b"):
        with AgentMemory.open(own, scope=scope, llm=None, embedder="none") as tenant:
            assert any("kayak" in fact.text for fact in tenant.get_all())


def live_scopes(address: str) -> set[str]:
    state = queue_status(address)
    assert state is not None
    return {*state.waiting, *state.running}


def test_limits_of_all_workers_stay_as_they_are_until_a_worker_sets_them(own: str, memory: AgentMemory) -> None:
    with Worker(memory, own, at_once=4, per_minute=600) as first:
        assert first.limits == FleetLimits(at_once=4, per_worker=4, per_minute=600)
    with Worker(memory, own) as second:
        assert second.limits == first.limits
    with pytest.raises(InputError, match="other limits"):
        Worker(memory, own, at_once=32)
    with Worker(memory, own, at_once=32, per_minute=0, set_limits=True) as third:
        assert third.limits == FleetLimits(at_once=32, per_worker=4, per_minute=None)
    with Worker(memory, own) as fourth:
        assert fourth.limits == third.limits


def test_a_login_that_may_not_read_the_queue_is_told(own: str, memory: AgentMemory) -> None:
    due(own, "a")
    with Worker(memory, own) as node:
        node.look()
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("CREATE ROLE reader LOGIN IN ROLE slowwave_app")
    reader = own.replace("postgres:@", "reader@")
    state = queue_status(reader)
    assert state is not None
    assert not state.readable
    assert "GRANT USAGE ON SCHEMA slowwave_queue" in status(reader, "a")
    with psycopg.connect(own, autocommit=True) as db:
        db.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO reader")
    state = queue_status(reader)
    assert state is not None
    assert state.readable


def test_per_minute_limits_the_passes_that_are_started(own: str, memory: AgentMemory) -> None:
    due(own, "a", "b", "c")
    reports: list[str] = []
    with Worker(memory, own, per_minute=1, on_progress=lambda scope, *_: reports.append(scope)) as node:
        node.look()
        until(lambda: bool(reports))
        time.sleep(1.0)
        assert len(reports) == 1
        assert len(node.look().waiting) == 2


def test_invalid_arguments_raise_errors_that_say_what_to_do(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="use `sleep_due`"):
        Worker(memory, "memory.db")
    with pytest.raises(InputError, match="must be at least 1"):
        Worker(memory, own, at_once=0)
    monkeypatch.setitem(sys.modules, "dbos", None)
    with pytest.raises(SettingsError, match=r"slowwave\[worker\]"):
        Worker(memory, own)


def test_a_separate_login_needs_the_privilege_to_create_the_queue(postgres: PostgresServer) -> None:
    own = postgres.database()
    due(own, "a")
    assert queue_status(own) is None
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("CREATE ROLE nightly LOGIN IN ROLE slowwave_app")
        nightly = own.replace("postgres:@", "nightly@")
        with (
            AgentMemory.open(nightly, scope="keeper", llm=None, embedder="none") as keeper,
            pytest.raises(ReadOnlyError, match="GRANT CREATE ON DATABASE"),
        ):
            Worker(keeper, nightly)
        db.execute(f"GRANT CREATE ON DATABASE {db.info.dbname} TO nightly".encode())
    reports: list[str] = []
    with (
        AgentMemory.open(nightly, scope="keeper", llm=None, embedder="none") as keeper,
        Worker(keeper, nightly, on_progress=lambda scope, *_: reports.append(scope)) as node,
    ):
        node.look()
        until(lambda: reports == ["a"])


def test_look_raises_while_the_server_is_down_and_works_when_it_is_back() -> None:
    with postgres_server(in_ram=True) as server:
        server.disable_fsync()
        address = server.database()
        due(address, "a")
        ports = replace(
            build_ports(":memory:", "keeper", embedder="none"), store=PostgresStore(address, busy_seconds=1)
        )
        with AgentMemory(ports=ports) as memory:
            reports: list[str] = []
            with Worker(memory, address, on_progress=lambda scope, *_: reports.append(scope)) as node:
                server.kill()
                until(lambda: _is_down(node))
                with pytest.raises(StoreError):
                    queue_status(address)
                server.restart()
                until(lambda: not _is_down(node) and reports == ["a"])


def _is_down(node: Worker) -> bool:
    try:
        node.look()
    except StoreError:
        return True
    return False


def test_the_command_runs_until_it_gets_a_signal(own: str) -> None:
    due(own, "acme/alice")
    command = [*MAIN, "--store", own, "--embedder", "none", "worker", "--every", "1s", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(json.loads(line))
            if seen[-1]["event"] == "pass":
                process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
    assert [one["event"] for one in seen if one["event"] != "minute"] == ["begin", "pass", "stopping", "end"]
    (ended,) = (one for one in seen if one["event"] == "pass")
    assert (ended["scope"], ended["level"], ended["problems"]) == ("acme/alice", "info", 0)
    assert ended["seconds"] > 0
    assert all(one["time"] and one["worker"] for one in seen)


CANARIES = ("xylophone", "Quetzalcoatl", "zeppelin-4711", "marmalade")


def test_the_log_of_a_worker_has_no_word_of_a_memory(own: str) -> None:
    with AgentMemory.open(own, scope="acme/alice", llm=None, embedder="none") as alice:
        lines = [
            "I own the xylophone.",
            "My dog is called Quetzalcoatl.",
            "My code is zeppelin-4711.",
            "I love marmalade.",
        ]
        alice.add_messages([Message(role="user", content=text) for text in lines * 2], conversation="marmalade")
        alice.add("Alice owns the xylophone")
    with AgentMemory.open(own, scope="acme/bad", llm=None, embedder="none") as bad:
        bad.add("Bob owns the zeppelin-4711")
    with psycopg.connect(own) as db:
        db.execute("SELECT set_config('slowwave.every_scope', 'on', false)")
        db.execute(
            "UPDATE slowwave.memories SET checksum = checksum + 1, text = text || ' marmalade' WHERE text LIKE 'Bob%'"
        )
    command = [*MAIN, "--store", own, "--embedder", "none", "worker", "--every", "1s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        written, ended = "", set()
        while len(ended) < 2:
            line = process.stderr.readline()
            assert line, written
            written += line
            ended |= {scope for scope in ("acme/alice", "acme/bad") if f"scope={scope}" in line}
        process.send_signal(signal.SIGTERM)
        output, rest = process.communicate(timeout=LONGEST)
    assert output == ""
    assert not [word for word in CANARIES if word in written + rest]
    assert " error " in written
    assert "error=CorruptError" in written
