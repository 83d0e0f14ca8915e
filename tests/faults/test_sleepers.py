"""Sleep passes among writers and other sleep passes: no writer waits for a mind, and an expired lease changes nothing."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.waiting import LONGEST, until

from slowwave import AgentMemory, Config, Message
from slowwave.model.codec import dumps
from slowwave.model.query import Where
from slowwave.pipelines.sleep.lease import BEATS, SECONDS, Lease
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing import Failpoint, FrozenClock, Injected
from slowwave.testing.builders import SCOPE, add, group, message, plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SLEEPING = [sys.executable, str(Path(__file__).with_name("sleeping.py"))]
POINTS = ("apply.before_begin", "apply.begun", "apply.change", "apply.rows", "apply.before_commit", "apply.committed")
WRITERS = 8
WRITES = 100
"""Writes that are acknowledged while the mind thinks."""


class Thoughtful:
    """A mind that summarises when it is told to."""

    def __init__(self) -> None:
        self.began, self.may_answer = threading.Event(), threading.Event()

    def complete(self, *, messages: "Sequence[Mapping[str, str]]") -> str:
        text = messages[-1]["content"]
        if "Task: summarise" not in "\n".join(one["content"] for one in messages):
            return dumps({"verdicts": [{"fact": n, "op": "ADD"} for n in range(1, 50)]})
        self.began.set()
        assert self.may_answer.wait(LONGEST)
        return " ".join(line for line in text.splitlines() if "Hike" in line)


def faded(path: Path, clock: FrozenClock, llm: object = None, number: int = 6) -> AgentMemory:
    config = Config(retention_policy="half_life", half_life_days=14)
    memory = AgentMemory.open(path, scope="t", llm=llm, embedder="static", clock=clock, config=config)
    for n in range(number):
        memory.add(f"Hike {n} went up the long and winding northern trail", kind="episodic", category="observation")
    while any(memory.strength(one.id) >= 0.2 for one in memory.get_all()):
        clock.advance(days=1)
    return memory


def test_eight_writers_never_wait_for_a_slow_mind_and_their_changes_survive(tmp_path: Path) -> None:
    clock, llm = FrozenClock(), Thoughtful()
    with faded(tmp_path / "memory.db", clock, llm) as memory:
        old = memory.get_all()
        written: list[int] = []
        done = threading.Event()

        def write(number: int) -> None:
            with AgentMemory.open(tmp_path / "memory.db", scope="t", llm=None, embedder="none", clock=clock) as mine:
                turn = 0
                while not done.is_set():
                    mine.add_message(Message(role="user", content=f"Writer {number} line {turn}"), f"c{number}")
                    written.append(number)
                    turn += 1
                    done.wait(0.05)

        writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
        sleeper: list[Any] = []
        night = threading.Thread(target=lambda: sleeper.append(memory.sleep()))
        for thread in (*writers, night):
            thread.start()
        assert llm.began.wait(LONGEST)
        mine = AgentMemory.open(tmp_path / "memory.db", scope="t", llm=None, embedder="none", clock=clock)
        before = len(written)
        mine.update(old[0].id, "Hike 0 was moved to the shore")
        mine.delete(old[1].id)
        # With a transaction open while the mind thinks, none of these would be acknowledged.
        until(lambda: len(written) > before + WRITES and len(set(written[before:])) == WRITERS)
        assert not sleeper, "all this while the mind thinks"
        llm.may_answer.set()
        night.join(LONGEST)
        done.set()
        for thread in writers:
            thread.join(LONGEST)
        (report,) = sleeper
        reasons = [dropped.reason for receipt in report.receipts for dropped in receipt.dropped]
        assert any("was changed since" in reason for reason in reasons), "the stale part is dropped and named"
        assert memory.get(old[0].id).text == "Hike 0 was moved to the shore"
        assert memory.get(old[1].id).phase == "retracted"
        assert all(memory.get(one.id).phase == "active" for one in old[2:])
        lines = sum(len(mine.get_conversation_messages(f"c{n}")) for n in range(WRITERS))
        assert lines == len(written)
        assert memory.doctor(deep=True) == []
        mine.close()


def test_the_write_lock_is_released_between_two_groups_of_a_plan(tmp_path: Path) -> None:
    ours, other = SqliteStore(str(tmp_path / "memory.db")), SqliteStore(str(tmp_path / "memory.db"), busy_seconds=0.01)
    ways: list[str] = []

    def given_way() -> None:
        ways.append("way")
        other.apply(plan(add(message(f"Let me through {len(ways)}", conversation="c2"))))

    ours._release_to_writers = given_way
    ours.apply(plan(*(group([add(message(f"Line {n}"))]) for n in range(3))))
    stored = ours.select([SCOPE], Where())
    assert [one.text for one in stored] == ["Line 0", "Let me through 1", "Line 1", "Let me through 2", "Line 2"]
    ours.close()
    other.close()


def sleeping(path: Path, clock: FrozenClock, *more: str) -> "subprocess.Popen[str]":
    arguments = [*SLEEPING, str(path), str(clock().timestamp()), *more]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def summaries(memory: AgentMemory) -> int:
    return len(memory.get_all(kinds=["summary"]))


@pytest.mark.parametrize("workers", [2, 5])
def test_one_of_several_sleep_passes_works_and_the_work_is_done_once(tmp_path: Path, workers: int) -> None:
    clock = FrozenClock()
    with faded(tmp_path / "memory.db", clock) as memory:
        many = [sleeping(tmp_path / "memory.db", clock, "0.5") for _ in range(workers)]
        stored = [worker.communicate(timeout=LONGEST) for worker in many]
        assert all(worker.returncode == 0 for worker in many), stored
        assert summaries(memory) == 1
        assert len(memory.get_all(phases=["superseded"])) == 6
        assert memory.doctor(deep=True) == []


def test_a_sleep_pass_paused_beyond_its_lease_commits_nothing(tmp_path: Path) -> None:
    clock = FrozenClock()
    with faded(tmp_path / "memory.db", clock) as memory:
        first = sleeping(tmp_path / "memory.db", clock, "0.3")
        assert first.stdout is not None
        assert first.stdout.readline() == "thinking\n"
        os.kill(first.pid, signal.SIGSTOP)
        clock.advance(seconds=SECONDS + 1)
        later = sleeping(tmp_path / "memory.db", clock, "0")
        assert "dropped 0" in later.communicate(timeout=LONGEST)[0]
        assert summaries(memory) == 1
        before = memory.ports.store.sequence("t")
        os.kill(first.pid, signal.SIGCONT)
        said = first.communicate(timeout=LONGEST)[0]
        assert "dropped 1" in said
        assert memory.ports.store.sequence("t") == before
        assert summaries(memory) == 1


def test_a_killed_sleep_pass_does_not_delay_the_next_one(tmp_path: Path) -> None:
    clock = FrozenClock()
    with faded(tmp_path / "memory.db", clock) as memory:
        first = sleeping(tmp_path / "memory.db", clock, "60")
        assert first.stdout is not None
        assert first.stdout.readline() == "thinking\n"
        held = Lease.taken(memory.ports)
        assert held is None, "it lives, and thinks"
        first.kill()
        second = sleeping(tmp_path / "memory.db", clock, "0")  # before the first process is reaped
        assert "dropped 0 left {}" in second.communicate(timeout=LONGEST)[0]
        first.communicate(timeout=LONGEST)
        assert summaries(memory) == 1
        now = Lease.taken(memory.ports)
        assert now is not None
        assert now.token == 3, "each of the two had a token of its own"


def test_a_lease_is_renewed_while_its_holder_works_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.pipelines.sleep.lease.BEATS", sys.maxsize)  # as many as the test needs
    clock = FrozenClock()
    with faded(tmp_path / "memory.db", clock) as memory:
        lease = Lease.taken(memory.ports)
        assert lease is not None
        lease.beating(0.01)
        for _ in range(5):
            since = lease.since
            clock.advance(seconds=SECONDS * 0.9)
            until(lambda before=since: lease.since > before)
            assert Lease.taken(memory.ports) is None
        lease.given_back()
        clock.advance(seconds=SECONDS * 0.9)
        assert Lease.taken(memory.ports) is not None


def test_a_mind_that_never_answers_holds_the_lease_for_a_limited_number_of_renewals(tmp_path: Path) -> None:
    clock = FrozenClock()
    with faded(tmp_path / "memory.db", clock) as memory:
        lease = Lease.taken(memory.ports)
        assert lease is not None
        renewing = threading.Thread(target=lease._beat, args=(0.001,), daemon=True)
        renewing.start()
        renewing.join(LONGEST)
        assert (renewing.is_alive(), lease.beats) == (False, BEATS)
        clock.advance(seconds=SECONDS + 1)
        newer = Lease.taken(memory.ports)
        assert newer is not None
        assert newer.token == lease.token + 1
        assert not lease.renewed()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("passing", [1, 3])
def test_after_a_kill_at_any_failpoint_of_a_sleep_pass_the_next_one_finishes_and_repeats_nothing(
    tmp_path: Path, point: str, passing: int
) -> None:
    clock = FrozenClock()
    with faded(tmp_path / "memory.db", clock) as memory:
        stored = memory.add_messages(
            [Message(role="user", content=f"Line {n} of the long garden book") for n in range(135)], "life"
        )
        assert stored.ids
        killed = sleeping(tmp_path / "memory.db", clock, "0", point, str(passing))
        killed.communicate(timeout=LONGEST)
        again = sleeping(tmp_path / "memory.db", clock, "0")
        assert "problems []" in again.communicate(timeout=LONGEST)[0]
        assert summaries(memory) == 1
        assert len(memory.get_all(phases=["superseded"])) == 6
        assert [one.span for one in memory.summaries("life") if one.depth == 1] == [(1, 65)]
        assert memory.doctor(deep=True) == []


def test_every_failure_of_a_store_during_a_sleep_pass_leaves_it_sound(tmp_path: Path) -> None:
    clock = FrozenClock()
    with faded(tmp_path / "memory.db", clock) as memory:
        for nth in range(1, 40):
            memory.ports.store._reached = Failpoint("apply.before_commit", at=nth)
            try:
                memory.sleep()
            except Injected:
                clock.advance(seconds=SECONDS + 1)
                continue
            break
        memory.ports.store._reached = None
        assert summaries(memory) == 1
        assert memory.doctor(deep=True) == []
