"""The log of a worker: one line an event, and a dead letter is named once."""

import json
from dataclasses import dataclass
from io import StringIO
from typing import cast

import pytest

from slowwave.cli.worker_log import WorkerLog
from slowwave.errors import CorruptError
from slowwave.model.pass_record import TRIES, UNDONE, PassRecord
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.testing.builders import NOW, plan
from slowwave.worker import FleetLimits, QueueStatus, Worker


@dataclass
class Running:
    """A worker without a queue."""

    limits: FleetLimits


@pytest.fixture
def stream() -> StringIO:
    return StringIO()


@pytest.fixture
def log(stream: StringIO) -> WorkerLog:
    return WorkerLog("host:1", as_json=True, stream=stream)


def lines(stream: StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_scope_that_fails_again_and_again_is_named_once_as_a_dead_letter(log: WorkerLog, stream: StringIO) -> None:
    for failures in range(1, TRIES + 4):
        record = PassRecord(ended=NOW, failures=failures, next_try=NOW, error="CorruptError")
        log.passed("acme/bad", CorruptError("the words of a memory"), 0.1, record)
    events = [(line["event"], line["level"]) for line in lines(stream)]
    assert events.count(("pass-failed", "error")) == TRIES + 3
    assert events.count(("dead-letter", "error")) == 1
    assert events.index(("dead-letter", "error")) == TRIES, "behind the third failure"
    assert "the words of a memory" not in stream.getvalue()


def test_a_scope_whose_first_passes_left_their_work_is_named_at_its_first_error(
    log: WorkerLog, stream: StringIO
) -> None:
    def ended(failures: int, error: str) -> None:
        record = PassRecord(ended=NOW, failures=failures, next_try=NOW, error=error)
        report = SleepReport(plan=plan(), problems=("the model is down",))
        log.passed("acme/bad", report if error == UNDONE else CorruptError("damaged"), 0.1, record)

    for failures in range(1, TRIES + 1):
        ended(failures, UNDONE)
    ended(TRIES + 1, "CorruptError")
    ended(TRIES + 2, "CorruptError")
    log.passed("acme/bad", SleepReport(plan=plan()), 0.1, PassRecord(ended=NOW))
    ended(TRIES, "CorruptError")
    dead = [place for place, line in enumerate(lines(stream)) if line["event"] == "dead-letter"]
    assert dead == [TRIES + 1, TRIES + 5], "once until a pass succeeds"


def test_the_line_of_a_minute_counts_what_happened_since_the_line_before(log: WorkerLog, stream: StringIO) -> None:
    running = cast("Worker", Running(FleetLimits(at_once=4, per_worker=4)))
    log.passed("acme/alice", SleepReport(plan=plan()), 0.1, None)
    log.passed("acme/bob", SleepReport(plan=plan(), problems=("the model is down",)), 0.1, None)
    log.passed("acme/bad", CorruptError("damaged"), 0.1, None)
    log.summed_up(running, QueueStatus(waiting=frozenset({"a", "b"}), running=frozenset({"c"})))
    log.summed_up(running, None)
    first, idle = (line for line in lines(stream) if line["event"] == "minute")
    assert (first["passes"], first["failed"], first["waiting"], first["running"]) == (3, 2, 2, 1)
    assert (idle["passes"], idle["failed"], idle["at_once"]) == (0, 0, 4)
    assert "waiting" not in idle, "the server was not reached"
