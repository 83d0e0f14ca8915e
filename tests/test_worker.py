"""Workers: each scope that is due is slept once, what fails is left alone, and the queue knows names only."""

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
SOON = 20.0


def due(address: str, *scopes: str) -> None:
    for scope in scopes:
        with AgentMemory.open(address, scope=scope, llm=None, embedder="none") as one:
            one.add(f"{SECRET} {scope}")


def until(wanted: Callable[[], bool]) -> None:
    ends = time.monotonic() + SOON
    while not wanted():
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.05)


def status(address: str, scope: str) -> str:
    options = ["--store", address, "--embedder", "none", "--scope", scope]
    return CliRunner().invoke(app, [*options, "status"]).stdout


def words(address: str) -> str:
    """Everything that DBOS keeps, as one text."""
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
    with psycopg.connect(address) as db:
        names = [name for (name,) in db.execute(tables, (SCHEMA,)).fetchall()]
        return "\n".join(str(db.execute(f"SELECT * FROM {SCHEMA}.{name}".encode()).fetchall()) for name in names)


def test_every_scope_that_is_due_is_slept_once_and_the_queue_holds_no_memory(own: str, memory: AgentMemory) -> None:
    due(own, "acme/alice", "acme/bob")
    assert queue_status(own) is None
    told: list[str] = []
    with Worker(memory, own, told=lambda scope, _: told.append(scope)) as one:
        one.look()
        one.look()
        until(lambda: len(told) == 2 and "slept" in words(own))
        assert "acme/alice" in words(own)
        assert "xylophone" not in words(own)
        until(lambda: not one.look().running)
        stands = one.look()
    assert sorted(told) == ["acme/alice", "acme/bob"]
    assert (stands.waiting, stands.dead, stands.workers) == (frozenset(), (), 1)
    assert memory.sleep_due() == {}


def test_a_scope_whose_nights_fail_is_left_alone_until_it_is_tried_again(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    due(own, "acme/bad", "acme/good")
    usual = worker.sleep_scope

    def night(ports: Ports, scope: str, *, think: bool) -> SleepReport:
        if scope == "acme/bad":
            raise StoreError(f"the disk says {SECRET}")
        return usual(ports, scope, think=think)

    monkeypatch.setattr(worker, "sleep_scope", night)
    told: list[str] = []
    with Worker(memory, own, told=lambda scope, report: told.append(f"{scope}: {report}")) as one:
        until(lambda: bool(one.look().dead))
        failed = one.look().failed["acme/bad"]
        assert (failed.tries, failed.error) == (TRIES, "StoreError")
        assert "xylophone" not in words(own)
        assert sum(one.startswith("acme/bad: the disk says") for one in told) == TRIES
        assert status(own, "acme/bad").endswith(
            "problem: 1 dead letter, this one too (3 nights failed, the last with StoreError): "
            "workers leave them alone until `worker --retry`\n"
        )
        assert "acme/bad" not in status(own, "acme/good")
        monkeypatch.undo()
        assert one.retry() == 1
        assert one.retry() == 0
        until(lambda: not one.look().failed and not memory.ports.store.scopes_due(memory.ports.now(), 10))
        until(lambda: not one.look().running)
    assert "dead letter" not in status(own, "acme/bad")


def _job(status: str, outcome: str = "", scope: str = "a", number: int = 0) -> _Job:
    return _Job(key=f"{scope}/{number}", status=status, worker=1, outcome=outcome, error="StoreError")


@pytest.mark.parametrize(
    ("jobs", "tries", "over"),
    [
        ([_job("ERROR"), _job("CANCELLED", number=1)], 2, []),
        ([_job("ERROR"), _job("SUCCESS", "slept", number=1)], 0, ["a/1", "a/0"]),
        ([_job("ERROR"), _job("SUCCESS", "elsewhere", number=1)], 1, ["a/1"]),
        ([_job("SUCCESS", "slept"), _job("ERROR", number=1)], 1, ["a/0"]),
        ([_job("ERROR"), _job("ERROR", scope="b"), _job("SUCCESS", "slept", "b", 1)], 1, ["b/1", "b/0"]),
    ],
)
def test_only_a_night_that_went_well_makes_up_for_failures_before_it(
    jobs: list[_Job], tries: int, over: list[str]
) -> None:
    stands, rows = _read(jobs, frozenset({1}))
    assert (stands.failed["a"].tries if "a" in stands.failed else 0) == tries
    assert rows == over


def test_no_more_nights_are_begun_in_a_minute_than_the_model_is_to_bear(own: str, memory: AgentMemory) -> None:
    due(own, "a", "b", "c")
    told: list[str] = []
    with Worker(memory, own, per_minute=1, told=lambda scope, _: told.append(scope)) as one:
        one.look()
        until(lambda: bool(told))
        time.sleep(1.0)
        assert len(told) == 1
        assert len(one.look().waiting) == 2


def test_what_cannot_be_meant_is_said_with_what_to_do(
    own: str, memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="sleep --due"):
        Worker(memory, "memory.db")
    with pytest.raises(InputError, match="at least one"):
        Worker(memory, own, per_minute=0)
    monkeypatch.setitem(sys.modules, "dbos", None)
    with pytest.raises(SettingsError, match=r"slowwave\[worker\]"):
        Worker(memory, own)


def test_a_login_of_its_own_needs_the_right_to_make_the_queue(own: str, memory: AgentMemory) -> None:
    due(own, "a")
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("CREATE ROLE nightly LOGIN IN ROLE slowwave_app")
        mine = own.replace("postgres:@", "nightly@")
        with pytest.raises(ReadOnlyError, match="GRANT CREATE ON DATABASE"):
            Worker(memory, mine)
        db.execute(f"GRANT CREATE ON DATABASE {db.info.dbname} TO nightly".encode())
    told: list[str] = []
    with (
        AgentMemory.open(mine, scope="keeper", llm=None, embedder="none") as keeper,
        Worker(keeper, mine, told=lambda scope, _: told.append(scope)) as one,
    ):
        one.look()
        until(lambda: told == ["a"])


def test_a_server_that_is_away_is_told_and_looked_for_again() -> None:
    with postgres_server() as server:
        server.hurry()
        address = server.database()
        due(address, "a")
        ports = replace(
            build_ports(":memory:", "keeper", embedder="none"), store=PostgresStore(address, busy_seconds=1)
        )
        with AgentMemory(ports=ports) as memory:
            told: list[str] = []
            with Worker(memory, address, told=lambda scope, _: told.append(scope)) as one:
                server.kill()
                until(lambda: _away(one))
                with pytest.raises(StoreError):
                    queue_status(address)
                server.restart()
                until(lambda: not _away(one) and told == ["a"])


def _away(one: Worker) -> bool:
    try:
        one.look()
    except StoreError:
        return True
    return False


def test_the_command_works_until_it_is_asked_to_stop(own: str) -> None:
    due(own, "acme/alice")
    command = [*MAIN, "--store", own, "--embedder", "none", "worker", "--every", "1s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("acme/alice: ")
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 0
