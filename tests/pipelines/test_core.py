from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from slowwave import AgentMemory, Config
from slowwave.model.config import RETENTION_POLICIES
from slowwave.model.memory import Memory
from slowwave.model.operations import Add
from slowwave.pipelines.planning import reschedule, single_group_plan
from slowwave.pipelines.recall.core_memory import core
from slowwave.policy.retention.core import rank
from slowwave.testing import FrozenClock

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)

facts = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["semantic", "episodic", "procedural"]),
            "importance": st.sampled_from([0.0, 0.2, 0.5, 1.0]),
            "stability": st.sampled_from([0.1, 0.25, 1.0]),
            "accesses": st.sampled_from([0, 0, 1, 2, 30]),
            "confidence": st.sampled_from([0.5, 1.0]),
            "age": st.sampled_from([-3, 0, 1, 1, 14, 90, 4000]),
            "used": st.sampled_from([None, 0, 7]),
            "phase": st.sampled_from(["active", "active", "core", "cold", "retracted"]),
        }
    ),
    max_size=40,
)


@pytest.fixture
def opened() -> Iterator[Callable[[Config], AgentMemory]]:
    made: list[AgentMemory] = []

    def make(config: Config) -> AgentMemory:
        made.append(AgentMemory.open(":memory:", embedder="none", clock=FrozenClock(NOW), config=config))
        return made[-1]

    yield make
    for memory in made:
        memory.close()


def stored(memory: AgentMemory, given: list[dict[str, object]], config: Config) -> list[Memory]:
    ports = memory.ports
    made = []
    for number, fields in enumerate(given):
        age, used = fields["age"], fields["used"]
        rest = {name: value for name, value in fields.items() if name not in {"age", "used"}}
        one = Memory(
            id=f"f{number:02}",
            scope=ports.scope,
            text=f"fact {number}",
            recorded_at=NOW - age * DAY,
            valid_from=NOW,
            used_at=None if used is None else NOW - used * DAY,
            **rest,
        )
        made.append(reschedule(one, config))
    memory.apply(
        single_group_plan(ports, "add", [Add(memory=one, because="a test") for one in made], "a test", now=NOW)
    )
    return [fact for fact in made if fact.is_searchable]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facts, st.sampled_from(RETENTION_POLICIES), st.integers(0, 12), st.integers(0, 2))
def test_selection_by_decay_class_equals_comparing_all_facts(
    opened: Callable[[Config], AgentMemory], given: list[dict[str, object]], policy: str, top_k: int, least: int
) -> None:
    config = Config(retention_policy=policy)
    memory = opened(config)
    hot = stored(memory, given, config)
    assert memory.core(top_k, least) == rank(hot, config, NOW, top_k=top_k, min_retrievals=least)
    memory.close()


def test_facts_planned_with_other_numbers_are_compared_one_by_one(opened: Callable[[Config], AgentMemory]) -> None:
    config = Config()
    memory = opened(config)
    given = [
        {"kind": "semantic", "age": age, "used": None, "importance": share, "stability": 0.1 + 0.3 * share}
        for age in (1, 30, 60)
        for share in (0.1, 0.9)
    ]
    hot = stored(memory, given, Config(half_life_days=1.0, retention_policy="half_life"))
    assert memory.core(3) == rank(hot, config, NOW, top_k=3)


def test_the_row_limit_applies_to_each_class_separately(
    opened: Callable[[Config], AgentMemory],
) -> None:
    memory = opened(Config())
    stored(memory, [{"kind": "semantic", "age": 1 + n / 1000, "used": None} for n in range(200)], Config())
    asked: list[int] = []
    store = memory.ports.store
    whole = store.facts_in_class
    store.facts_in_class = lambda *given: asked.append(given[-1]) or whole(*given)  # type: ignore[method-assign]
    assert [one.id for one in core(memory.ports, top_k=3)] == ["f00", "f01", "f02"]
    assert asked == [3]


def test_an_add_of_another_handle_is_visible_at_once(tmp_path: Path) -> None:
    config = Config()
    with (
        AgentMemory.open(tmp_path / "m.db", embedder="none", clock=FrozenClock(NOW), config=config) as one,
        AgentMemory.open(tmp_path / "m.db", embedder="none", clock=FrozenClock(NOW), config=config) as other,
    ):
        assert one.core(5) == []
        added = other.add("Mia grows tomatoes on the roof").ids
        assert [memory.id for memory in one.core(5)] == list(added)
        one.delete(added[0])
        assert one.core(5) == other.core(5) == []
