from collections.abc import Callable

import pytest

from slowwave import AgentMemory
from slowwave.model.status import LinkRow
from slowwave.testing import FrozenClock

Opened = Callable[..., AgentMemory]
FACTS = (
    "The Lisbon office opens at nine",
    "Bring the blue badge",
    "Parking costs four euros",
    "The canteen serves soup",
)


def stored_ids(memory: AgentMemory) -> list[str]:
    return [memory.add(text).ids[0] for text in FACTS]


def together(memory: AgentMemory, clock: FrozenClock, ids: list[str], times: int) -> None:
    for _ in range(times):
        clock.advance(hours=1)
        memory.record_retrieval([memory.get(one) for one in ids])


def ranked(memory: AgentMemory, question: str = "When does the Lisbon office open?") -> list[tuple[str, float]]:
    return [(hit.memory.id, hit.score) for hit in memory.search(question, top_k=3)]


def test_facts_used_together_help_each_other_by_one_hop_and_say_so(opened: Opened, clock: FrozenClock) -> None:
    memory = opened()
    office, badge, *_ = ids = stored_ids(memory)
    before = dict(ranked(memory))
    together(memory, clock, [office, badge], times=5)
    (first, second, *_) = memory.search("When does the Lisbon office open?", top_k=3)
    assert (first.memory.id, second.memory.id) == (office, badge)
    assert first.score == before[office]
    assert second.parts["associated"] == pytest.approx(0.05, abs=0.001)
    assert second.score == pytest.approx(sum(second.parts.values()))
    assert set(ids) >= {hit.memory.id for hit in memory.search("badge")}


def test_a_weak_or_faded_join_changes_nothing(opened: Opened, clock: FrozenClock) -> None:
    memory = opened()
    office, badge, *_ = stored_ids(memory)
    before = ranked(memory)
    together(memory, clock, [office, badge], times=2)
    assert ranked(memory) == before
    together(memory, clock, [office, badge], times=3)
    assert ranked(memory) != before
    clock.advance(days=90)
    assert ranked(memory) == before


def test_a_join_fades_before_it_is_renewed(opened: Opened, clock: FrozenClock) -> None:
    memory = opened()
    office, badge, *_ = stored_ids(memory)
    together(memory, clock, [office, badge], times=10)
    clock.advance(days=900)
    together(memory, clock, [office, badge], times=1)
    (link,) = memory.links(office)
    assert link.weight == pytest.approx(0.1, abs=0.001)


def test_cold_or_filtered_memories_are_not_added_by_association(opened: Opened, clock: FrozenClock) -> None:
    memory = opened()
    office, badge, *_ = stored_ids(memory)
    together(memory, clock, [office, badge], times=5)
    memory.delete(badge)
    assert badge not in dict(ranked(memory))
    assert memory.search("When does the Lisbon office open?", categories=["goal"]) == []


def test_a_link_that_a_damaged_index_returns_for_another_memory_changes_nothing(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    stored_ids(memory)
    before = ranked(memory)
    foreign = LinkRow(source="x", target="y", kind="association", weight=9.0, at=memory.ports.now())
    monkeypatch.setattr(memory.ports.store, "links", lambda *_: [foreign])
    assert ranked(memory) == before
