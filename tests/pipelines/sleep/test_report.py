from collections.abc import Callable
from typing import TYPE_CHECKING

from slowwave import AgentMemory
from slowwave.testing import FrozenClock

if TYPE_CHECKING:
    from tests.conftest import World

Opened = Callable[..., AgentMemory]
FADING = ("Rome has trams", "Oslo has ferries", "Kyiv has domes", "Lima has fog", "Riga has bridges")


def faded(opened: Opened, clock: FrozenClock, number: int) -> AgentMemory:
    memory = opened(retention_policy="half_life", half_life_days=14.0)
    for text in FADING[:number]:
        memory.add(text, kind="episodic", category="observation")
    clock.advance(days=100)
    return memory


def test_a_night_says_what_faded_and_how_to_take_it_back(opened: Opened, clock: FrozenClock) -> None:
    memory = faded(opened, clock, 5)
    report = memory.sleep()
    assert str(report).splitlines() == [
        "sleep in default: 5 changed",
        "  fade: 5 faded",
        *(f"    - {text}" for text in FADING[:3]),
        "    and 2 more",
        f"  run {report.plan.id}, undo all of it with `slowwave undo {report.plan.id}`",
    ]
    memory.undo(report.plan.id)
    assert {fact.text for fact in memory.get_all()} == set(FADING)


def test_few_are_told_without_a_count_and_a_long_one_is_cut(opened: Opened, clock: FrozenClock) -> None:
    memory = faded(opened, clock, 0)
    memory.add("Rome\nhas trams " + "and trams " * 20, kind="episodic", category="observation")
    clock.advance(days=100)
    lines = str(memory.sleep()).splitlines()
    assert lines[2].startswith("    - Rome has trams and trams")
    assert lines[2].endswith("…")
    assert len(lines) == 4


def test_a_night_that_only_looked_at_a_memory_has_no_news(opened: Opened, clock: FrozenClock) -> None:
    memory = faded(opened, clock, 0)
    memory.add("Rome has trams", kind="episodic", category="observation")
    clock.advance(days=40)
    report = memory.sleep()
    assert report.receipts[-1].cause == "sleep/refresh"
    assert str(report) == "sleep: nothing due"


def test_a_summary_is_told_before_what_it_was_made_of(world: "World") -> None:
    memory = world.open()
    for n in range(5):
        memory.add(f"Hike {n} went up the northern trail", kind="episodic", category="observation")
    world.fade(memory)
    lines = str(memory.sleep()).splitlines()
    assert "5 changed, 1 added" in lines[0]
    place = next(n for n, line in enumerate(lines) if line.startswith("  compress: "))
    assert lines[place + 1].startswith("    + Hike")
    assert lines[place + 2].startswith("    - Hike")


def test_what_was_overtaken_is_told_as_not_done(world: "World") -> None:
    memory, other = world.open(), world.open()
    for n in range(5):
        memory.add(f"Hike {n} went up the northern trail", kind="episodic", category="observation")
    world.fade(memory)

    def overtaken(brief: object) -> str:
        other.pin(other.get_all()[0].id)
        return "; ".join(one.text for one in brief.memories)  # type: ignore[attr-defined]

    world.mind.summary = overtaken
    told = str(memory.sleep())
    assert "  compress: not done: " in told
    assert "  compress: 5" not in told
