"""Workers: each due scope is slept once, failing scopes become dead letters, and the queue contains names only."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import psycopg
import pytest
from click.testing import CliRunner

from slowwave import AgentMemory, worker
from slowwave.cli.app import app
from slowwave.composition import build_ports
from slowwave.errors import InputError, ReadOnlyError, SettingsError, StoreError
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.ports import Ports
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import postgres_server
from slowwave.worker import SCHEMA, TRIES, Worker, _Job, _read, queue_status

pytest.importorskip("dbos", reason="no DBOS here: pip install 'slowwave[worker]'")

SECRET = "Alice owns the xylophone pipeline"
MAIN = [sys.executable, "-c", "from slowwave.cli import main; main()"]
TIMEOUT = 20.0


def due(address: str, *scopes: str) -> None:
    for scope in scopes:
        with AgentMemory.open(address, scope=scope, llm=None, embedder="none") as tenant:
            tenant.add(f"{SECRET} {scope}")


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.05)


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
    assert queue_status(own) is None
    reports: list[str] = []
    with Worker(memory, own, on_progress=lambda scope, _: reports.append(scope)) as node:
        node.look()
        node.look()
        until(lambda: len(reports) == 2 and "slept" in queue_rows(own))
        assert "acme/alice" in queue_rows(own)
        assert "xylophone" not in queue_rows(own)
        until(lambda: not node.look().running)
        state = node.look()
    assert sorted(reports) == ["acme/alice", "acme/bob"]
    assert (state.waiting, state.dead, state.workers) == (frozenset(), (), 1)
    assert memory.sleep_due() == {}


def test_a_scope_that_keeps_failing_becomes_a_dead_letter_until_retry(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    due(own, "acme/bad", "acme/good")
    original = worker.sleep_scope

    def failing_for_one_scope(ports: Ports, scope: str, *, think: bool) -> SleepReport:
        if scope == "acme/bad":
            raise StoreError(f"the disk says {SECRET}")
        return original(ports, scope, think=think)

    monkeypatch.setattr(worker, "sleep_scope", failing_for_one_scope)
    reports: list[str] = []
    with Worker(memory, own, on_progress=lambda scope, report: reports.append(f"{scope}: {report}")) as node:
        until(lambda: bool(node.look().dead))
        failed = node.look().failed["acme/bad"]
        assert (failed.tries, failed.error) == (TRIES, "StoreError")
        assert "xylophone" not in queue_rows(own)
        assert sum(report.startswith("acme/bad: the disk says") for report in reports) == TRIES
        problem = "problem: 1 dead letter, this one too (3 nights failed, the last with StoreError)"
        assert f"{problem}: workers leave them alone until `worker --retry`\n" in status(own, "acme/bad")
        assert "acme/bad" not in status(own, "acme/good")
        monkeypatch.undo()
        assert node.retry() == 1
        assert node.retry() == 0
        until(lambda: not node.look().failed and not memory.ports.store.scopes_due(memory.ports.now(), 10))
        until(lambda: not node.look().running)
    assert "dead letter" not in status(own, "acme/bad")


def _job(status: str, outcome: str = "", scope: str = "a", number: int = 0) -> _Job:
    return _Job(key=f"{scope}/{number}", status=status, worker=1, outcome=outcome, error="StoreError")


@pytest.mark.parametrize(
    ("jobs", "tries", "finished"),
    [
        ([_job("ERROR"), _job("CANCELLED", number=1)], 2, []),
        ([_job("ERROR"), _job("SUCCESS", "slept", number=1)], 0, ["a/1", "a/0"]),
        ([_job("ERROR"), _job("SUCCESS", "elsewhere", number=1)], 1, ["a/1"]),
        ([_job("SUCCESS", "slept"), _job("ERROR", number=1)], 1, ["a/0"]),
        ([_job("ERROR"), _job("ERROR", scope="b"), _job("SUCCESS", "slept", "b", 1)], 1, ["b/1", "b/0"]),
    ],
)
def test_only_a_successful_pass_clears_earlier_failures(jobs: list[_Job], tries: int, finished: list[str]) -> None:
    state, rows = _read(jobs, frozenset({1}))
    assert (state.failed["a"].tries if "a" in state.failed else 0) == tries
    assert rows == finished


def test_per_minute_limits_the_passes_that_are_started(own: str, memory: AgentMemory) -> None:
    due(own, "a", "b", "c")
    reports: list[str] = []
    with Worker(memory, own, per_minute=1, on_progress=lambda scope, _: reports.append(scope)) as node:
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
        Worker(memory, own, per_minute=0)
    monkeypatch.setitem(sys.modules, "dbos", None)
    with pytest.raises(SettingsError, match=r"slowwave\[worker\]"):
        Worker(memory, own)


def test_a_separate_login_needs_the_privilege_to_create_the_queue(own: str, memory: AgentMemory) -> None:
    due(own, "a")
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("CREATE ROLE nightly LOGIN IN ROLE slowwave_app")
        nightly = own.replace("postgres:@", "nightly@")
        with pytest.raises(ReadOnlyError, match="GRANT CREATE ON DATABASE"):
            Worker(memory, nightly)
        db.execute(f"GRANT CREATE ON DATABASE {db.info.dbname} TO nightly".encode())
    reports: list[str] = []
    with (
        AgentMemory.open(nightly, scope="keeper", llm=None, embedder="none") as keeper,
        Worker(keeper, nightly, on_progress=lambda scope, _: reports.append(scope)) as node,
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
            with Worker(memory, address, on_progress=lambda scope, _: reports.append(scope)) as node:
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
    command = [*MAIN, "--store", own, "--embedder", "none", "worker", "--every", "1s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("acme/alice: ")
        process.send_signal(signal.SIGTERM)
        output, warnings = process.communicate(timeout=30)
        assert (output, warnings.count("\n")) == ("", 1)
        assert warnings.startswith("repeats every 1s")
    assert process.returncode == 0
