"""The nightly pass: idle nights, dry runs, what is left and why, and time that jumps."""

from typing import TYPE_CHECKING

from slowwave import AgentMemory
from slowwave.errors import ModelError
from slowwave.model.mind import SummaryRequest

if TYPE_CHECKING:
    from tests.conftest import Only, Texts, World

DOWN = ModelError("model down")
HIKES = (
    "User went hiking at Mount Rainier on March 12, 2024",
    "User went kayaking at Lake Washington on March 15, 2024",
    "User ran a 5K in Fremont on March 20, 2024",
    "User went rock climbing at Stone Gardens on March 25, 2024",
    "User joined a cycling club on March 28, 2024",
)


def _hikes(world: "World", memory: AgentMemory, lines: tuple[str, ...] = HIKES) -> None:
    for line in lines:
        memory.add(line, kind="episodic", category="observation")
        world.later(seconds=1)


# ---- the night as a whole


def test_a_night_with_nothing_due_writes_nothing(world: "World") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    memory.sleep()
    before = memory.ports.store.sequence("t")
    for _ in range(3):
        world.later(hours=1)
        report = memory.sleep()
        assert (report.receipts, str(report)) == ((), "sleep: nothing due")
    assert memory.ports.store.sequence("t") == before
    again = world.open()
    again.sleep()
    assert again.ports.store.sequence("t") == before, "another handle finds nothing to do either"


def test_many_sleep_passes_and_one_have_the_same_result(world: "World", texts: "Texts") -> None:
    nightly, rarely = world.open(scope="t"), world.open(scope="t2")
    start = world.clock()
    for memory in (nightly, rarely):
        world.clock.now = start
        _hikes(world, memory)
        memory.add("Alice owns the deploy pipeline")
        memory.add("Working from the airport lounge", category="session_state")
    for _ in range(60):
        world.later(days=2)
        nightly.sleep()
    rarely.sleep()
    assert texts(nightly) == texts(rarely)


def test_a_sleep_is_one_run_with_a_child_for_each_stage_that_did_something(world: "World") -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    report = memory.sleep()
    run = next(run for run in memory.runs() if run.cause == "sleep")
    assert run.id == report.plan.id
    children = memory.ports.store.children("t", run.id)
    assert [child.id for child in children] == [receipt.run_id for receipt in report.receipts]
    assert {child.parent for child in children} == {run.id}
    assert report.cost.calls == sum(child.cost.calls for child in children) > 0


def test_a_dry_run_thinks_and_changes_nothing_and_its_plan_can_be_applied(world: "World", only: "Only") -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    before, facts = memory.ports.store.sequence("t"), memory.get_all()
    report = memory.sleep(dry_run=True)
    assert (memory.ports.store.sequence("t"), memory.get_all()) == (before, facts)
    assert (report.dry_run, report.receipts) == (True, ())
    assert "became one summary" in str(report)
    receipts = memory.apply(report.plan)
    assert not any(receipt.dropped for receipt in receipts)
    assert only(memory).kind == "summary"
    again = memory.apply(report.plan)
    assert not any(receipt.applied for receipt in again), "a plan is applied once"


def test_a_dry_run_plan_that_is_out_of_date_is_dropped_and_harms_nothing(world: "World", texts: "Texts") -> None:
    memory = world.open()
    _hikes(world, memory)
    memory.add("Working from the airport lounge", category="session_state")
    world.fade(memory)
    plan = memory.sleep(dry_run=True).plan
    changed = memory.get_all()[0]
    memory.update(changed.id, "User went hiking at Mount Rainier and got wet")
    receipts = memory.apply(plan)
    assert any(receipt.dropped for receipt in receipts)
    assert any(receipt.applied for receipt in receipts), "what still holds is done"
    assert texts(memory) == {"User went hiking at Mount Rainier and got wet", *HIKES[1:]}
    memory.sleep()
    assert not memory.doctor(deep=True)


def test_without_thinking_the_candidates_are_only_counted_and_stay_due(world: "World", only: "Only") -> None:
    memory = world.open()
    _hikes(world, memory)
    memory.sleep()
    world.fade(memory)
    world.mind.asked.clear()
    assert memory.sleep(think=False).left == {"compress": 1}
    assert world.mind.asked == []
    assert memory.sleep(think=False).left == {"compress": 1}, "looking at it did not put it off"
    memory.sleep()
    assert only(memory).kind == "summary"


def test_a_clock_that_jumps_loses_nothing(world: "World", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    world.later(days=-3650)
    memory.add("Bob owns the release train")
    memory.sleep()
    assert len(texts(memory)) == 2
    assert all(0 < memory.strength(fact.id) <= 1 for fact in memory.get_all())
    memory.record_retrieval(memory.get_all())
    world.later(days=3650 + 36500)
    memory.sleep()
    assert not texts(memory)
    assert len(memory.search("who owns what?", deep=True)) == 2
    world.later(days=-36500)
    memory.add("Carol owns the backups")
    memory.sleep()
    assert texts(memory) == {"Carol owns the backups"}


def test_groups_with_newer_changes_are_dropped_and_planned_again_at_the_next_sleep(
    world: "World", only: "Only"
) -> None:
    memory, other = world.open(), world.open()
    _hikes(world, memory)
    world.fade(memory)

    def overtaken(brief: SummaryRequest) -> str:
        other.pin(brief.memories[0].id)
        other.unpin(brief.memories[0].id)
        return "; ".join(one.text for one in brief.memories)

    world.mind.summary = overtaken
    assert memory.sleep().left == {"compress": 1}
    world.mind.summary = None
    memory.sleep()
    assert only(memory).kind == "summary"


def test_a_failing_embedder_is_a_problem_and_no_end(world: "World") -> None:
    memory = world.open()
    world.embedder.fails = RuntimeError("no network")
    memory.add("Alice owns the deploy pipeline")
    assert "no network" in memory.sleep().problems[0]
    world.embedder.fails = None
    assert memory.sleep().problems == ()
    assert memory.status().unembedded == 0
