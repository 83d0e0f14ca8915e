"""What a person took back lasts: no later night does it again, and undoing the undo lets it go."""

import re
from typing import TYPE_CHECKING

import pytest

from slowwave.errors import InputError

if TYPE_CHECKING:
    from tests.conftest import World

PLACES = ("cellar", "attic", "porch", "tower")


def test_a_comparison_that_a_person_took_back_is_not_made_again(world: "World") -> None:
    memory = world.open(dedup_similarity_threshold=0.9)
    one = memory.add("Matteo owns a red bicycle").ids[0]
    world.later(days=1)
    memory.add("Matteo has a bicycle that is red")
    memory.sleep()
    run = next(run for run in memory.runs(None) if run.cause == "sleep/duplicates")
    assert memory.explain(one).links
    (undone,) = memory.undo(run.id)
    assert not memory.explain(one).links
    asked = len(world.mind.questions("decide"))
    world.later(days=1)
    memory.sleep()
    assert not memory.explain(one).links
    assert len(world.mind.questions("decide")) == asked
    memory.undo(undone.run_id)
    assert memory.explain(one).links


def test_the_undos_of_a_night_are_all_named_and_following_them_brings_it_back(world: "World") -> None:
    memory = world.open(hot_facts_max=1, dedup_similarity_threshold=0.9)
    for text in ("Matteo owns a red bicycle", "Matteo has a bicycle that is red", "Rome has trams"):
        memory.add(text)
        world.later(days=1)
    night = memory.sleep()
    after = {one.id: one.phase for one in memory.get_all(phases=None)}
    assert len({receipt.cause for receipt in night.receipts if receipt.applied}) > 1
    memory.undo(night.plan.id)
    (told,) = memory.undo(night.plan.id)
    named = re.findall(r"slowwave undo (\w+)", str(told))
    assert len(named) > 1
    for run in named:
        memory.undo(run)
    assert {one.id: one.phase for one in memory.get_all(phases=None)} == after


def test_what_was_taken_back_is_known_though_the_clock_was_set_back(world: "World") -> None:
    memory = world.open()
    fact = memory.add("Rome has trams").ids[0]
    run = memory.delete(fact).run_id
    world.later(days=-30)
    memory.undo(run)
    (again,) = memory.undo(run)
    assert "already taken back" in str(again)
    assert memory.get(fact).hot


def test_a_night_of_which_a_part_was_erased_since_is_taken_back_but_for_that(world: "World") -> None:
    memory = world.open(consolidation_group_size=3, summary_decay_days=1000.0)
    beds = [memory.add(f"Juno painted the {place} stairs", category="observation").ids[0] for place in PLACES]
    other = memory.add("Bob keeps nets at home", category="project").ids[0]
    world.fade(memory)
    night = memory.sleep()
    assert "summary" in {one.kind for one in memory.get_all()}
    memory.erase(id=beds[0])
    receipts = memory.undo(night.plan.id)
    assert "(erase) destroyed since stays gone" in str(receipts[-1])
    assert {one.id for one in memory.get_all()} == {*beds[1:], other}
    world.later(days=1)
    memory.sleep()
    assert {one.id for one in memory.get_all()} == {*beds[1:], other}, "what a person undid is held"
    with pytest.raises(InputError, match="is an erase"):
        memory.undo(next(run.id for run in memory.runs(None) if run.cause == "erase"))
