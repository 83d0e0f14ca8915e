"""A fact that no mind could decide about is stored and waits, and is decided in place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from slowwave.errors import ModelError
from slowwave.model.memory import UNRECONCILED
from slowwave.model.mind import ReconcileCase, Verdict

if TYPE_CHECKING:
    from tests.conftest import Only, Says, Texts, World

DOWN = ModelError("model down")


def test_a_failing_mind_loses_nothing_and_the_fact_is_decided_in_place(
    world: "World", verdict: "Says", texts: "Texts"
) -> None:
    memory = world.open()
    memory.add("Matteo uses a standing desk")
    world.mind.verdicts = DOWN
    receipt = memory.add("Matteo switched back to sitting")
    new = receipt.ids[0]
    assert (receipt.waiting, receipt.problems) == (1, ("model down",))
    assert UNRECONCILED in memory.get(new).flags
    assert memory.search("sitting")[0].memory.id == new
    assert memory.status().waiting == 1
    assert memory.sleep().problems == ("model down",)
    assert memory.sleep().left["retry"] == 1, "a handle does not rest while a fact waits"
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    memory.sleep()
    assert texts(memory) == {"Matteo switched back to sitting"}
    assert memory.get(new).flags == frozenset()
    assert memory.status().waiting == 0


def test_a_fact_without_a_verdict_waits(world: "World") -> None:
    memory = world.open()
    memory.add("Matteo uses a standing desk")
    world.mind.verdicts = []
    assert memory.add("Matteo switched back to sitting").waiting == 1


@pytest.mark.parametrize("op", ["NOOP", "UPDATE"])
def test_a_waiting_fact_may_become_part_of_a_known_one(world: "World", verdict: "Says", only: "Only", op: str) -> None:
    """Its own words, taken over by the known memory, used to collide with itself every night."""
    memory = world.open()
    memory.add("Matteo is allergic to shellfish")
    world.mind.verdicts = DOWN
    waiting = memory.add("Matteo is allergic to shellfish and cannot eat prawns").ids[0]
    world.mind.verdicts = [verdict(op, "Matteo is allergic to shellfish and cannot eat prawns", "subsumes")]
    report = memory.sleep()
    assert not report.left
    fact = only(memory)
    assert UNRECONCILED not in fact.flags
    if op == "UPDATE":
        assert fact.text == "Matteo is allergic to shellfish and cannot eat prawns"
    else:
        assert (memory.get(waiting).phase, memory.get(waiting).reason) == ("superseded", "duplicate")


def test_waiting_facts_that_contain_each_other_merge_into_one(world: "World", verdict: "Says", only: "Only") -> None:
    memory = world.open()
    memory.add("Matteo has pets")
    world.mind.verdicts = DOWN
    memory.add("Matteo has a cat")
    memory.add("Matteo has a cat and a dog")

    def says(cases: Sequence[ReconcileCase]) -> list[Verdict]:
        said = []
        for case in cases:
            other = next(c.number for c in case.candidates if c.memory.text.startswith("Matteo has a cat"))
            text = "Matteo has a cat and a dog"
            said.append(verdict("UPDATE", text, "subsumes", fact=case.number, memory=other))
        return said

    world.mind.verdicts = says
    memory.sleep()
    assert only(memory, "Matteo has a cat").text == "Matteo has a cat and a dog"
    assert memory.status().waiting == 0


def test_a_retracted_waiting_fact_stays_retracted(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    world.mind.verdicts = DOWN
    waiting = memory.add("Matteo lives in Bern").ids[0]
    memory.delete(waiting)
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    memory.sleep()
    assert texts(memory) == {"Matteo lives in Zurich"}
    assert memory.status().waiting == 0
