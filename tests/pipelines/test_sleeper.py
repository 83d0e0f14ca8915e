"""Sleeping by itself: on a thread, after so many additions, never two at once, never too much at once."""

# ruff: noqa: ANN401  # scripted minds take what they are asked, and spans come in any type

import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.waiting import LONGEST, until

from slowwave import Message
from slowwave.errors import DisconnectedError, InputError, ModelError
from slowwave.model.memory import Memory
from slowwave.model.mind import Verdict
from slowwave.model.operations import Add, Change, Link
from slowwave.model.pass_record import ABANDONED
from slowwave.model.plan import Group
from slowwave.pipelines.sleep.all_scopes import sleep_due_scope
from slowwave.pipelines.sleep.background import BackgroundSleeper, seconds
from slowwave.pipelines.sleep.change_limit import MIN_CHANGES, Budget, count_changes
from slowwave.pipelines.sleep.lease import SECONDS, Lease
from slowwave.pipelines.sleep.report import ELSEWHERE
from slowwave.pipelines.sleep.stage import StagePlan
from slowwave.testing import builders

if TYPE_CHECKING:
    from tests.conftest import World

    from slowwave import AgentMemory


def fact(number: int, **fields: Any) -> Memory:
    return builders.fact(f"Fact {number}", id=f"f{number}", **fields)


def hikes(memory: "AgentMemory", number: int = 5) -> None:
    for n in range(number):
        memory.add(f"Hike {n} went up", kind="episodic", category="observation")


# ---- how often


@pytest.mark.parametrize(
    ("every", "number"),
    [("8h", 28800), ("30m", 1800), ("1.5 d", 129600), ("90", 90), (0.5, 0.5), (timedelta(minutes=2), 120), ("5S", 5)],
)
def test_a_span_is_a_timedelta_a_number_or_a_text(every: Any, number: float) -> None:
    assert seconds(every) == number


@pytest.mark.parametrize("every", ["", "soon", "0", "-5", "8 weeks", 0, -1.0, timedelta(0), float("nan"), float("inf")])
def test_a_span_that_means_nothing_is_refused(world: "World", every: Any) -> None:
    with pytest.raises(InputError, match="sleep_every"):
        world.open(sleep_every=every)


def test_nights_come_by_themselves_and_end_with_the_handle(world: "World") -> None:
    memory = world.open(sleep_every=0.02)
    hikes(memory)
    world.fade(memory)
    until(lambda: memory.get_all(kinds=["summary"]))
    sleeper = memory._session.sleeper
    until(lambda: sleeper.passes > 3)
    assert sum(thread.name == "slowwave-sleeper" for thread in threading.enumerate()) == 1
    memory.close()
    passes = sleeper.passes
    assert not any(thread.name == "slowwave-sleeper" for thread in threading.enumerate())
    time.sleep(0.06)
    assert sleeper.passes == passes


def test_a_failing_model_is_reported_in_health_and_the_next_sleep_pass_tries_again(world: "World") -> None:
    memory = world.open(sleep_every=0.02)
    hikes(memory)
    world.mind.summary = ModelError("the model is down")
    world.fade(memory)
    until(lambda: not memory.health().ok)
    assert "the model is down" in str(memory.health())
    world.mind.summary = None
    until(lambda: memory.get_all(kinds=["summary"]))
    until(lambda: memory.health().ok)


def test_a_bug_in_the_program_stops_the_thread_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)

    def night() -> Any:
        raise ZeroDivisionError

    sleeper = BackgroundSleeper(night, 0.01)
    until(lambda: sleeper.problem)
    assert "ended all further sleep passes" in str(sleeper.problem)
    assert raised[0].exc_type is ZeroDivisionError
    sleeper.stop()


def test_closing_does_not_wait_for_ever(world: "World", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slowwave.pipelines.sleep.background.PATIENCE", 0.05)
    asked, answer = threading.Event(), threading.Event()

    def slow(brief: Any) -> str:
        asked.set()
        answer.wait(LONGEST)
        return "; ".join(one.text for one in brief.memories)

    memory = world.open(sleep_every=0.02)
    hikes(memory)
    world.mind.summary = slow
    world.fade(memory)
    assert asked.wait(LONGEST)
    thread = memory._session.sleeper._thread
    memory.close()
    assert thread.is_alive()
    answer.set()
    thread.join(LONGEST)
    assert not thread.is_alive()
    assert len(world.open().get_all()) == 5, "a night that found the store closed left nothing half done"


# ---- after so many additions


def test_after_so_many_additions_it_sleeps_and_counts_across_processes(world: "World") -> None:
    slept = []
    memory = world.open(sleep_every_ingests=3)
    for n in range(7):
        if n == 4:
            memory.close()
            memory = world.open(sleep_every_ingests=3)
        receipt = (
            memory.add(f"Fact{n} is so") if n % 2 else memory.add_message(Message(role="user", content=f"Line {n}"))
        )
        slept.append("slept" in receipt.notes)
    assert slept == [False, False, True, False, False, True, False]
    assert "slept" not in memory.add("Fact1 is so").notes


def test_with_a_thread_additions_only_wake_it(world: "World") -> None:
    memory = world.open(sleep_every="1d", sleep_every_ingests=2)
    hikes(memory)
    until(lambda: memory.ports.store.ingests("t") < 2)  # the five have woken it already
    world.fade(memory)  # afterwards: a clock that jumps during a pass ends its lease
    assert "slept" not in memory.add("Fact1 is so").notes
    assert "slept" not in memory.add("Fact2 is so").notes
    until(lambda: memory.get_all(kinds=["summary"]))


def test_what_others_write_during_a_pass_is_seen_by_the_next_one(world: "World") -> None:
    memory, other = world.open(), world.open()
    hikes(memory)
    world.fade(memory)

    def meanwhile(brief: Any) -> str:
        other.add("Mia loves tea")
        return "; ".join(one.text for one in brief.memories)

    world.mind.summary = meanwhile
    report = memory.sleep()
    assert (report.left, report.problems) == ({}, ())
    assert memory.ports.store.ingests("t") == 1
    memory.sleep()
    assert memory.ports.store.ingests("t") == 0
    memory.sleep()
    assert memory._session.sleep_state.sequence == memory.ports.store.sequence("t")


# ---- one at a time


def test_only_one_process_sleeps_a_scope_and_the_other_reports_it(world: "World") -> None:
    first, second, other = world.open(), world.open(), world.open(scope="u")
    lease = Lease.taken(first.ports)
    assert lease is not None
    assert Lease.taken(second.ports) is None
    second.add("Mia loves tea")
    assert second.sleep().left == {ELSEWHERE: 1}
    assert second.sleep(dry_run=True).left == {}, "looking needs no lease"
    assert Lease.taken(other.ports) is not None
    lease.given_back()
    assert second.sleep().left == {}


def test_an_expired_lease_makes_its_token_invalid(world: "World") -> None:
    first, second = world.open(), world.open()
    hikes(first)
    world.fade(first)

    def overtaken(brief: Any) -> str:
        world.later(seconds=SECONDS + 1)
        assert Lease.taken(second.ports) is not None
        return "; ".join(one.text for one in brief.memories)

    world.mind.summary = overtaken
    report = first.sleep()
    assert any("another sleeper" in dropped.reason for receipt in report.receipts for dropped in receipt.dropped)
    assert (report.left[ELSEWHERE], report.problems) == (1, ())
    assert "another process runs a sleep pass over this scope" in str(report)
    assert first.get_all(kinds=["summary"]) == []
    assert len(first.get_all(phases=["active"])) == 5


def test_an_error_of_a_pass_whose_lease_was_taken_over_is_no_failure(world: "World") -> None:
    first, second = world.open(), world.open()
    hikes(first)
    world.fade(first)

    def overtaken(_: Any) -> str:
        world.later(seconds=SECONDS + 1)
        assert Lease.taken(second.ports) is not None
        raise DisconnectedError("the connection was lost")

    world.mind.summary = overtaken
    report = first.sleep()
    assert (report.left, report.problems) == ({ELSEWHERE: 1}, ())
    assert first.ports.store.pass_record("t").error == ABANDONED, "of the pass, not of the error"

    world.mind.summary = lambda _: (_ for _ in ()).throw(DisconnectedError("again"))
    world.later(seconds=SECONDS + 1)
    with pytest.raises(DisconnectedError):
        first.sleep()


def test_a_scope_that_is_not_due_is_not_said_to_be_asleep_elsewhere(world: "World") -> None:
    memory = world.open()
    memory.add("Mia loves tea")
    assert sleep_due_scope(memory.ports, "t") is not None
    assert sleep_due_scope(memory.ports, "t") is None


def test_a_lease_is_renewed_by_its_holder(world: "World") -> None:
    first, second = world.open(), world.open()
    lease = Lease.taken(first.ports)
    for _ in range(5):
        world.later(seconds=SECONDS / 2)
        assert lease.renewed()
        assert Lease.taken(second.ports) is None
    world.later(seconds=SECONDS + 1)
    newer = Lease.taken(second.ports)
    assert newer.token == lease.token + 1
    assert not lease.renewed()
    lease.given_back()
    assert newer.renewed(), "who was overtaken gives back nothing that is not theirs"


def test_a_lease_from_a_clock_years_ahead_blocks_no_other_process(world: "World") -> None:
    first, second = world.open(), world.open()
    world.later(days=3650)
    assert Lease.taken(first.ports) is not None
    world.later(days=-3650)
    assert Lease.taken(second.ports) is not None


def test_a_sleep_pass_without_work_acquires_no_lease(world: "World") -> None:
    first, second = world.open(), world.open()
    second.sleep()
    assert Lease.taken(first.ports) is not None
    assert second.sleep().left == {}


# ---- not too much at once


def test_minds_change_at_most_fifty_facts_a_night_and_the_rest_waits(world: "World") -> None:
    memory = world.open(consolidation_max_group_size=12)
    for n in range(90):
        category = ("observation", "finding", "decision", "project", "goal", "person", "other", "gotcha")[n % 8]
        memory.add(f"{category} {n} is so", kind="episodic", category=category)
    world.fade(memory)
    report = memory.sleep()
    mine = [part for part in report.plan.parts if part.cause == "sleep/compress"]
    done = sum(count_changes(group) for part in mine for group in part.groups)
    assert 0 < done <= MIN_CHANGES
    assert report.left["compress"] > 0
    for _ in range(4):
        memory.sleep()
    assert len(memory.get_all(phases=["superseded"])) == 90, "night by night all of it is done"


def test_a_mind_that_retracts_too_much_is_stopped_and_reported(world: "World") -> None:
    memory = world.open()
    world.mind.verdicts = ModelError("down")
    for n in range(60):
        memory.add(f"Mia now owns house number {n}")
    waiting = memory.status().waiting
    assert waiting > 20

    def ends(cases: Any) -> list[Verdict]:
        return [Verdict(fact=c.number, op="DELETE", memory=k.number) for c in cases for k in c.candidates]

    world.mind.verdicts = ends
    before = {one.id for one in memory.get_all()}
    report = memory.sleep()
    assert before == {one.id for one in memory.get_all()}, "nothing of it is done"
    assert "would end what is known, which is strange: none was carried out" in report.problems[0]
    assert report.left["retry"]
    assert memory.status().waiting == waiting
    world.mind.verdicts = None
    assert not memory.sleep().problems
    assert memory.status().waiting < waiting, "and once the mind is itself again, it goes on"


def test_as_many_retractions_as_new_facts_are_not_suspicious() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)

    def ending(number: int) -> Change:
        one = Memory(id=f"m{number}", scope="t", kind="semantic", text=f"x {number}", recorded_at=at, valid_from=at)
        return Change(before=one, after=replace(one, phase="retracted", version=2), because="no longer")

    def kept(endings: int, added: int) -> int:
        new = [Add(memory=ending(-n).before, because="new") for n in range(1, added + 1)]
        group = Group(operations=(*map(ending, range(endings)), *new), because="decided")
        return len(Budget().apply_limit([group])[0])

    assert kept(9, 0) == 1
    assert kept(10, 0) == 0
    assert kept(10, 10) == 1


def test_the_budget_is_two_percent_of_many_facts() -> None:
    class Store:
        def count(self, _: str) -> dict[tuple[str, str], int]:
            return {("semantic", "active"): 4000, ("summary", "cold"): 1000, ("message", "active"): 9000}

    class Ports:
        store, scope = Store(), "t"

    assert Budget(ports=object()).can_afford(MIN_CHANGES), "nobody counts for fifty"  # type: ignore[arg-type]
    budget = Budget(ports=Ports())
    assert budget.can_afford(100)
    assert not budget.can_afford(101)


def test_a_group_that_asks_for_too_much_waits_and_smaller_ones_go_on() -> None:
    def group(number: int) -> Group:
        moves = [Change(before=fact(n), after=fact(n, phase="superseded"), because="") for n in range(number)]
        same = Change(before=fact(99), after=fact(99, importance=0.9), because="")
        link = Link(source="a", target="b", kind="close", weight=1, before=0, because="", at=fact(0).at)
        return Group(operations=(*moves, same, link), because=f"{number} at once")

    budget = Budget(left=5)
    staged = StagePlan(groups=(group(3), group(4), group(2)), left=1).limited(budget)
    assert [one.because for one in staged.groups] == ["3 at once", "2 at once"]
    assert (staged.left, budget.left) == (2, 0)
    assert staged.problems == ("4 at once: 4 changes, and minds may make 2 more in this pass",)
