"""What a person is told of one memory: when it fades, by which rule, and what would keep it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Config
from slowwave.testing import FrozenClock

if TYPE_CHECKING:
    from tests.conftest import World

Opened = Callable[..., tuple[AgentMemory, FrozenClock]]
RULES = (
    ({"retention_policy": "half_life"}, "strength below 0.1", "strength 0.0"),
    ({"retention_policy": "relevance"}, "relevance below 0.2", "the rule: relevance below 0.2"),
    (
        {"retention_policy": "relevance", "archive_max_idle_days": 20},
        "unused for more than 20 days, at relevance 0.5 or less",
        "the rule: unused for more than 20 days",
    ),
    (
        {"retention_policy": "graduated"},
        "unused for more than 90 days, the last stage of category person, at relevance 0.5 or less",
        "the last stage of category person",
    ),
)


@pytest.fixture
def opened() -> Iterator[Opened]:
    memories: list[AgentMemory] = []

    def make(**settings: object) -> tuple[AgentMemory, FrozenClock]:
        clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
        memories.append(AgentMemory.open(":memory:", llm=None, embedder="none", clock=clock, config=Config(**settings)))
        return memories[-1], clock

    yield make
    for memory in memories:
        memory.close()


@pytest.mark.parametrize(("settings", "rule", "because"), RULES, ids=lambda one: str(one)[:60])
def test_explain_names_the_fade_date_its_rule_and_what_prevents_it(
    opened: Opened, settings: dict[str, object], rule: str, because: str
) -> None:
    memory, clock = opened(**settings)
    (one,) = memory.add("Ada owns the deploy pipeline", category="person").ids
    explained = memory.explain(one)
    assert explained.fades_at is not None
    assert explained.rule == rule
    assert f"fades on {explained.fades_at:%Y-%m-%d} ({rule}), unless it is used (10 uses keep it) or pinned" in str(
        explained
    ), explained
    clock.now = explained.fades_at
    memory.sleep()
    assert memory.get(one).phase == "cold", "and on that day it does"
    assert because in str(memory.explain(one))


def test_an_almost_flat_curve_is_reported_as_never_reaching_the_threshold(opened: Opened) -> None:
    memory, _ = opened(retention_policy="power")
    explained = memory.explain(memory.add("Ada owns the deploy pipeline", category="person").ids[0])
    assert explained.fades_at is None
    assert "does not fade: not before the year 9999 by the policy power" in str(explained)


def test_a_strength_that_does_not_change_names_no_days(opened: Opened) -> None:
    memory, _ = opened()
    explained = memory.explain(memory.add("Answer in bullet points", kind="procedural").ids[0])
    assert explained.parts["tau_days"] == float("inf")
    assert "strength 1.00 now: last said or used 0.0 days ago\n  does not fade" in str(explained)


def test_an_explanation_names_the_time_to_live(opened: Opened) -> None:
    memory, _ = opened(category_ttl_days={"observation": 30})
    explained = memory.explain(memory.add("Rome has trams", category="observation").ids[0])
    assert "expires after 2026-01-31, unless it is pinned" in str(explained)
    assert explained.kept_because is None


def test_equal_reasons_of_a_run_are_reported_once(world: "World") -> None:
    memory = world.open()
    for n in range(5):
        memory.add(f"Hike {n} went up the northern trail", kind="episodic", category="observation")
    one = memory.get_all()[0].id
    world.fade(memory)
    memory.sleep()
    explained = str(memory.explain(one))
    assert explained.count("sleep/compress: ") == 1
