"""The facts about one topic become summaries when a person asks for it."""

from collections.abc import Callable, Iterator

import pytest

from slowwave import AgentMemory
from slowwave.errors import InputError
from slowwave.testing import FrozenClock, ScriptedLLM

Opened = Callable[..., AgentMemory]
DEPLOYS = ("The deploys run on Hephaestus in Oslo", "Deploys are frozen on Fridays", "Ada reviews all deploys by 17:00")
ADDED = {"fact": 1, "op": "ADD", "memory": None, "text": None, "relation": "compatible", "because": "new"}


@pytest.fixture
def opened() -> Iterator[Opened]:
    memories: list[AgentMemory] = []

    def make(embedder: str = "none", llm: ScriptedLLM | None = None) -> AgentMemory:
        clock = FrozenClock()
        memories.append(AgentMemory.open(":memory:", llm=llm, embedder=embedder, clock=clock))
        for text in (*DEPLOYS, "Rome has trams"):
            memories[-1].add(text, category="project")
            clock.advance(hours=1)
        return memories[-1]

    yield make
    for memory in memories:
        memory.close()


@pytest.mark.parametrize("embedder", ["none", "static"])
def test_facts_about_a_topic_become_one_summary_that_undo_reverses(opened: Opened, embedder: str) -> None:
    memory = opened(embedder)
    done = memory.compact("deploys")
    assert (done.found, done.left, done.problems) == (3, 0, ())
    (summary,) = memory.get_all(kinds=["summary"])
    assert all(name in summary.text for name in ("Hephaestus", "Oslo", "Fridays", "Ada", "17:00"))
    assert {memory.get(one).text for one in summary.members} == set(DEPLOYS)
    assert {memory.get(one).superseded_by for one in summary.members} == {summary.id}
    assert "Rome has trams" in [one.text for one in memory.get_all()]
    assert "3 memories about 'deploys' of category project became one summary" in str(done)
    assert str(done).startswith("1 summary of 'deploys', of 3 facts about it")
    memory.undo(done.run_id)
    assert {one.text for one in memory.get_all()} == {*DEPLOYS, "Rome has trams"}


def test_a_dry_run_stores_nothing_and_its_plan_can_be_applied(opened: Opened) -> None:
    memory = opened()
    foreseen = memory.compact("deploys", dry_run=True)
    assert foreseen.run_id == ""
    assert "would write 1 summary of 'deploys'" in str(foreseen)
    assert len(memory.get_all()) == 4
    memory.apply(foreseen.plan)
    assert len(memory.get_all()) == 2


def test_pinned_and_single_memories_are_not_compressed(opened: Opened) -> None:
    memory = opened()
    for one in memory.get_all()[:2]:
        memory.pin(one.id)
    done = memory.compact("deploys")
    assert (done.found, done.run_id) == (1, "")
    assert str(done) == "nothing to compact about 'deploys': 1 facts about it that may be merged"
    assert len(memory.get_all()) == 4


@pytest.mark.parametrize("answer", ["Deploys happen.", ConnectionError("down")])
def test_a_summary_that_loses_something_or_a_model_that_fails_changes_nothing(opened: Opened, answer: object) -> None:
    memory = opened(llm=ScriptedLLM(reconcile={"verdicts": [ADDED]}, summarise=answer))
    done = memory.compact("deploys")
    assert done.run_id == ""
    assert "problem: " in str(done)
    assert done.cost.calls
    assert memory.runs()[0].cause == "compact", "what it cost is journaled"
    assert {one.text for one in memory.get_all()} >= set(DEPLOYS)


def test_a_blank_topic_is_an_error(opened: Opened) -> None:
    with pytest.raises(InputError, match="no topic"):
        opened().compact("  ")
