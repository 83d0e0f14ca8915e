from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from slowwave import AgentMemory, Message
from slowwave.errors import ModelError
from slowwave.model.operations import Change
from slowwave.model.plan import Plan
from slowwave.pipelines.sleep.lease import Lease
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.testing import FrozenClock

if TYPE_CHECKING:
    from tests.conftest import World

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
Opened = Callable[..., AgentMemory]
FADING = ("Rome has trams", "Oslo has ferries", "Kyiv has domes", "Lima has fog", "Riga has bridges")


def faded(opened: Opened, clock: FrozenClock, number: int) -> AgentMemory:
    memory = opened(retention_policy="half_life", half_life_days=14.0)
    for text in FADING[:number]:
        memory.add(text, kind="episodic", category="observation")
    clock.advance(days=100)
    return memory


def test_a_report_lists_archived_facts_and_the_undo_command(opened: Opened, clock: FrozenClock) -> None:
    memory = faded(opened, clock, 5)
    report = memory.sleep()
    assert str(report).splitlines() == [
        "sleep in default: 5 changed",
        "  fade: 5 faded",
        *(f"    - {text}" for text in FADING[:3]),
        "    and 2 more",
        f"  run {report.plan.id}, which `undo` reverses",
    ]
    changes = [operation for operation in report.plan.operations if isinstance(operation, Change)]
    reasons = {change.because for change in changes if not change.only_reschedules}
    assert reasons == {"strength 0.007, below 0.1: never used in 100 days"}
    memory.undo(report.plan.id)
    assert {fact.text for fact in memory.get_all()} == set(FADING)


def test_an_expired_fact_is_reported_with_its_expiry_date(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(category_ttl_days={"observation": 30})
    memory.add("Rome has trams", category="observation")
    clock.advance(days=31)
    report = memory.sleep()
    assert [one.because for one in report.plan.operations if "Rome" in str(one)] == [
        "observation: kept until 31 Jan 2026"
    ]
    assert "expire: 1 past their time" in str(report)


def test_few_names_are_listed_without_a_count_and_a_long_one_is_cut(opened: Opened, clock: FrozenClock) -> None:
    memory = faded(opened, clock, 0)
    memory.add("Rome\nhas trams " + "and trams " * 20, kind="episodic", category="observation")
    clock.advance(days=100)
    lines = str(memory.sleep()).splitlines()
    assert lines[2].startswith("    - Rome has trams and trams")
    assert lines[2].endswith("…")
    assert len(lines) == 4


def test_a_pass_that_only_reschedules_reports_no_change(opened: Opened, clock: FrozenClock) -> None:
    memory = faded(opened, clock, 0)
    memory.add("Rome has trams", kind="episodic", category="observation")
    clock.advance(days=40)
    report = memory.sleep()
    assert report.receipts[-1].cause == "sleep/refresh"
    assert str(report) == "sleep: nothing due"


def test_a_summary_is_listed_before_its_members(world: "World") -> None:
    memory = world.open()
    for n in range(5):
        memory.add(f"Hike {n} went up the northern trail", kind="episodic", category="observation")
    world.fade(memory)
    lines = str(memory.sleep()).splitlines()
    assert "5 changed" in lines[0]
    place = next(n for n, line in enumerate(lines) if line.startswith("  compress: "))
    assert lines[place + 1].startswith("    + Hike")
    assert lines[place + 2].startswith("    - Hike")


def test_dropped_groups_are_reported_as_not_done(world: "World") -> None:
    memory, other = world.open(), world.open()
    for n in range(5):
        memory.add(f"Hike {n} went up the northern trail", kind="episodic", category="observation")
    world.fade(memory)

    def overtaken(brief: object) -> str:
        other.pin(other.get_all()[0].id)
        return "; ".join(one.text for one in brief.memories)  # type: ignore[attr-defined]

    world.mind.summary = overtaken
    printed = str(memory.sleep())
    assert "  compress: not done: " in printed
    assert "  compress: 5" not in printed


def test_unread_messages_of_a_failing_model_are_reported_with_the_reason(world: "World") -> None:
    memory = world.open(immediate_window=4, recent_window=4)
    memory.add_messages([Message(role="user", content=f"I watered bed {n}") for n in range(20)], conversation="c")
    world.mind.summary = ModelError("the model is down")
    assert str(memory.sleep()).splitlines() == [
        "sleep in t: nothing changed",
        "  distil: messages 1 to 20 of c were distilled; the model found no fact",
        "left for the next sleep pass, because of the problem below: 3 stretches of talk to summarise",
        "problem: the model is down",
    ]
    printed = str(memory.sleep(think=False)).splitlines()
    assert printed[0] == "sleep: nothing was done"
    assert printed[1].startswith("left for the next sleep pass, because no model was to be asked: ")
    world.mind.summary = "Beds were watered"
    assert str(memory.sleep()).startswith("sleep in t: ")


def test_a_second_pass_reports_that_another_is_running(world: "World") -> None:
    memory = world.open()
    memory.add("Rome has trams")
    with_lease = Lease.taken(memory.ports)
    assert with_lease is not None
    assert str(world.open().sleep()) == "sleep: another process runs a sleep pass over this scope; this one did nothing"
    with_lease.given_back()


def test_remaining_work_is_named_in_singular_and_plural() -> None:
    plan = Plan(id="r", scope="t", cause="sleep", at=START)
    left = {"retry": 1, "cascade": 1_204, "expire": 2}
    assert str(SleepReport(plan=plan, left=left)).splitlines()[1] == (
        "left for the next sleep pass: 1 fact that waits for a model, 1,204 stretches of talk to summarise, "
        "2 changes of the stage expire"
    )


def test_a_write_in_several_transactions_is_counted_once(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(hot_words_max=300, immediate_window=1000)
    said = "I bought {0} apples in Porto, and Clara ate {0} pears in Cascais"
    memory.add_messages([Message(role="user", content=said.format(n)) for n in range(3, 620)], "a")
    clock.advance(days=3)
    foreseen, report = memory.sleep(dry_run=True, think=False), memory.sleep(think=False)
    for lines in (str(foreseen).splitlines(), str(report).splitlines()):
        printed = [line for line in lines if "in fewer words" in line or "over a number of hot words" in line]
        counts = [int(line.split()[1].replace(",", "")) for line in printed]
        assert len(printed) == 2
        cold = len(memory.get_all(kinds=["message"], phases=["cold"]))
        assert cold > 500
        assert counts[1] == cold
        assert lines[0].endswith(f" {sum(counts)} changed")


def test_a_dry_run_lists_its_changes_with_reasons_up_to_a_limit(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(category_ttl_days={"observation": 5})
    for number in range(23):
        memory.add(f"Shed {number} holds rakes", category="observation")
    clock.advance(days=6)
    report = memory.sleep(dry_run=True)
    assert "  active → cold (expired): Shed 0 holds rakes\n      because observation: kept until 06 Jan 2026" in str(
        report
    )
    assert str(report).count("because ") == 20
    assert "  and 3 more" in str(report).splitlines()
    assert report.describe(None).count("because ") == 23
    assert "more: " not in report.describe(None)


def test_a_dry_run_names_both_ends_of_a_link(world: "World") -> None:
    memory = world.open()
    for n in range(5):
        memory.add(f"Hike {n} went up the northern trail", kind="episodic", category="observation")
    world.fade(memory)
    assert "— Hike 0 went up the northern trail" in str(memory.sleep(dry_run=True))
