"""What a person took back lasts: no later night does it again, and undoing the undo lets it go."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import World


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
