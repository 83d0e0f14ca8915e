"""Plots of whole memories: what is drawn is what happened."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from slowwave.errors import InputError
from slowwave.model.mind import Verdict
from slowwave.pipelines.admin.plot import plot

if TYPE_CHECKING:
    from tests.conftest import World

    from slowwave import AgentMemory


def lived(world: "World") -> "AgentMemory":
    memory = world.open(embedder="static", retention_policy="half_life", half_life_days=14)
    tea = memory.add("Mia loves tea").ids[0]
    for n in range(6):
        memory.add(f"Hike {n} went up the long northern trail", kind="episodic", category="observation")
    for _ in range(60):
        world.later(days=1)
        if world.clock().day % 10 == 0:
            memory.record_retrieval([memory.get(tea)])
        memory.sleep()
    return memory


def test_forgetting_shows_uses_as_jumps_and_the_future_without_any(world: "World") -> None:
    memory = lived(world)
    picture = plot(memory.ports, "forgetting")
    (tea,) = [one for one in picture.series if one.name == "Mia loves tea"]
    assert len(tea.dots) == 6
    assert all(
        before >= after for (x, before), (_, after) in zip(tea.points, tea.points[1:], strict=False) if x > picture.now
    )
    now = min((abs(x - picture.now), y) for x, y in tea.points)[1]
    assert now == pytest.approx(memory.strength(memory.search("tea", kinds=["semantic"])[0].memory.id), abs=0.05)
    assert picture.series[0].name == "Mia loves tea", "what was used comes first"


def test_the_growth_chart_starts_at_zero_and_ends_at_the_present_count(world: "World") -> None:
    memory = lived(world)
    series = {one.name: [y for _, y in one.points] for one in plot(memory.ports, "growth").series}
    assert series["hot"][-1] == len(memory.get_all())
    assert series["superseded or retracted"][-1] == len(memory.get_all(phases=["superseded", "retracted"])) == 6
    assert all(values[0] == 0 for values in series.values())
    assert min(min(values) for values in series.values()) == 0


def test_nights_show_what_each_stage_did(world: "World") -> None:
    memory = lived(world)
    done = {one.name: sum(y for _, y in one.points) for one in plot(memory.ports, "sleep").series}
    assert done["compress"] == 7, "six members and their summary"


@pytest.mark.parametrize("kind", ["forgetting", "growth", "sleep"])
def test_every_kind_is_drawn_for_empty_and_full_memories(world: "World", kind: str) -> None:
    assert "nothing to show yet" in world.open(scope="empty").plot(kind) or kind == "growth"
    memory = lived(world)
    assert memory.plot(kind).startswith("<svg ")
    assert len(memory.plot(kind, text=True).splitlines()) > 3


def test_an_unknown_kind_is_refused(world: "World") -> None:
    with pytest.raises(InputError, match="forgetting, growth, sleep"):
        world.open().plot("pie")


def test_a_night_that_only_linked_is_shown(world: "World") -> None:
    memory = world.open()
    memory.add("Walks are good")
    memory.add("Walks are fine")
    world.mind.verdicts = lambda cases: [Verdict(fact=case.number, op="ADD") for case in cases]
    report = memory.sleep()
    done = [type(one).__name__ for receipt in report.receipts for one in receipt.applied]
    assert "Link" in done
    assert "Change" not in done
    assert [series.name for series in plot(memory.ports, "sleep").series] == ["duplicates"]


@pytest.mark.parametrize("kind", ["forgetting", "growth", "sleep"])
def test_a_plot_ends_with_the_last_year_that_there_is(world: "World", kind: str) -> None:
    world.clock.now = datetime.max.replace(tzinfo=UTC) - timedelta(days=2)
    memory = world.open()
    memory.add("Walks are good")
    memory.sleep()
    assert memory.plot(kind).startswith("<svg ")
