"""What a person took back lasts: no later night does it again, and undoing the undo lets it go."""

import re
from typing import TYPE_CHECKING

import pytest
from tests.conftest import START

from slowwave import AgentMemory, Message
from slowwave.errors import InputError
from slowwave.model.memory import Memory
from slowwave.model.operations import Change
from slowwave.pipelines.planning import single_group_plan, transition

if TYPE_CHECKING:
    from tests.conftest import World

PLACES = ("cellar", "attic", "porch", "tower")


def test_an_undone_comparison_is_not_repeated(world: "World") -> None:
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


def test_the_undo_of_a_sleep_pass_is_one_run_and_undoing_it_restores_the_pass(world: "World") -> None:
    memory = world.open(hot_facts_max=1, dedup_similarity_threshold=0.9)
    for text in ("Matteo owns a red bicycle", "Matteo has a bicycle that is red", "Rome has trams"):
        memory.add(text)
        world.later(days=1)
    night = memory.sleep()
    after = {one.id: one.phase for one in memory.get_all(phases=None)}
    assert len({receipt.cause for receipt in night.receipts if receipt.applied}) > 1
    memory.undo(night.plan.id)
    (undoing,) = memory.undo(night.plan.id)
    named = re.findall(r"`undo` run (\w+)", str(undoing))
    assert len(named) == 1
    for run in named:
        memory.undo(run)
    assert {one.id: one.phase for one in memory.get_all(phases=None)} == after


@pytest.mark.parametrize("removed", ["undo", "delete"])
def test_a_consolidation_says_what_stays_out_and_how_it_comes_back(world: "World", removed: str) -> None:
    memory = world.open(llm=None)
    memory.add_messages([Message("user", "I am allergic to walnuts."), Message("user", "I live in Bern.")], "c")
    done = memory.consolidate("c", force=True)
    texts = {fact.text for fact in done.facts}
    assert len(texts) == 2
    if removed == "undo":
        (receipt,) = memory.undo(done.run_id)
    else:
        receipt = memory.delete([fact.id for fact in done.facts])
        memory.add_message(Message("user", "As I said, I am allergic to walnuts. I live in Bern.", at=START), "d")
    again = memory.consolidate("c" if removed == "undo" else "d", force=True)
    (note,) = again.notes
    assert all(text in note for text in texts)
    assert f"undo the run {receipt.run_id}, or add them again" in note
    assert note in str(again)
    assert again.facts == ()
    memory.undo(receipt.run_id)
    assert {fact.text for fact in memory.get_all()} == texts
    assert memory.consolidate_all(force=True).notes == ()


def test_a_consolidation_does_not_name_what_was_erased(world: "World") -> None:
    memory = world.open(llm=None)
    memory.add_message(Message("user", "I am allergic to walnuts."), "c")
    memory.consolidate("c", force=True)
    memory.erase(id=memory.get_all()[0].id)
    memory.add_message(Message("user", "I am allergic to walnuts.", at=START), "d")
    assert "walnuts" not in str(memory.consolidate_all(force=True).notes)


def test_an_undone_fact_is_recognised_even_if_the_clock_was_set_back(world: "World") -> None:
    memory = world.open()
    fact = memory.add("Rome has trams").ids[0]
    run = memory.delete(fact).run_id
    world.later(days=-30)
    memory.undo(run)
    (again,) = memory.undo(run)
    assert "already undone" in str(again)
    assert memory.get(fact).is_searchable


def test_undo_of_a_sleep_pass_skips_the_part_that_was_erased_since(world: "World") -> None:
    memory = world.open(consolidation_group_size=3, summary_decay_days=1000.0)
    beds = [memory.add(f"Juno painted the {place} stairs", category="observation").ids[0] for place in PLACES]
    other = memory.add("Bob keeps nets at home", category="project").ids[0]
    world.fade(memory)
    night = memory.sleep()
    assert "summary" in {one.kind for one in memory.get_all()}
    memory.erase(id=beds[0])
    receipts = memory.undo(night.plan.id)
    assert "(erase) destroyed since are not restored" in str(receipts[-1])
    assert {one.id for one in memory.get_all()} == {*beds[1:], other}
    world.later(days=1)
    memory.sleep()
    assert {one.id for one in memory.get_all()} == {*beds[1:], other}, "what a person undid is held"
    with pytest.raises(InputError, match="is an erase"):
        memory.undo(next(run.id for run in memory.runs(None) if run.cause == "erase"))


def _summarised(world: "World") -> tuple[AgentMemory, Memory, list[str]]:
    memory = world.open(consolidation_group_size=3, summary_decay_days=1000.0)
    beds = [memory.add(f"Juno painted the {place} stairs", category="observation").ids[0] for place in PLACES]
    world.fade(memory)
    memory.sleep()
    (summary,) = memory.get_all(kinds=["summary"])
    assert set(summary.members) == set(beds)
    return memory, summary, beds


def test_deleting_a_summary_restores_its_members_and_undo_restores_the_summary(world: "World") -> None:
    memory, summary, beds = _summarised(world)
    undoing = str(memory.explain(beds[0]))
    assert f"replaced by the summary {summary.id}: " in undoing
    assert "`revive` restores it" in undoing
    deleted = memory.delete(summary.id)
    assert "its members are in use again: 4 of them" in str(deleted)
    assert {one.id for one in memory.get_all()} == set(beds)
    world.later(days=1)
    memory.sleep()
    assert {one.id for one in memory.get_all()} == set(beds), "what a person brought back is held"
    memory.undo(deleted.run_id)
    assert [one.id for one in memory.get_all()] == [summary.id]
    assert {memory.get(one).superseded_by for one in beds} == {summary.id}


def test_a_member_repeated_meanwhile_is_restored_as_a_duplicate(world: "World") -> None:
    memory, summary, beds = _summarised(world)
    again = memory.add("Juno painted the attic stairs", category="observation")
    assert again.ids
    memory.delete(summary.id)
    attic = memory.get(beds[PLACES.index("attic")])
    assert (attic.phase, attic.reason, attic.superseded_by) == ("superseded", "duplicate", again.ids[0])


def test_a_rejected_summary_names_its_missing_details(world: "World") -> None:
    world.mind.summary = "Juno painted stairs on 7 March 2026 and on 9 March 2026"
    memory = world.open(consolidation_group_size=2, summary_decay_days=1000.0)
    for day in (7, 9):
        memory.add(f"Juno painted stairs on {day} March 2026", category="observation")
    world.fade(memory)
    memory.sleep()
    (summary,) = memory.get_all(kinds=["summary"])
    undoing = memory.update(summary.id, "Juno painted stairs on 7 March 2026")
    assert "no longer contains '9 March 2026'" in str(undoing)
    assert not memory.update(summary.id, "Juno painted stairs on 7 March 2026 and 9 March 2026").notes


def test_health_names_memories_whose_summary_is_gone(world: "World") -> None:
    memory, summary, beds = _summarised(world)
    assert not memory.health().findings
    before = memory.get(summary.id)
    gone = Change(
        before=before, after=transition(before, "retract", memory.ports.config), because="as it once was done"
    )
    memory.ports.store.apply(single_group_plan(memory.ports, "edit", [gone], "deleted", now=world.clock()))
    (hidden,) = [one for one in memory.health().findings if one.kind == "hidden"]
    assert set(hidden.examples) == set(beds)
    memory.revive(beds[0])
    assert memory.health().findings[0].count == len(beds) - 1
