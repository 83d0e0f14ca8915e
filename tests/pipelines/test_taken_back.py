"""Summaries that a person took back: nothing stands on them, no night writes them again, and a command does."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from slowwave import AgentMemory, Message
from slowwave.errors import ConflictError, InputError, NotFoundError
from slowwave.model.plan import Run

if TYPE_CHECKING:
    from tests.conftest import World

SMALL = {"immediate_window": 4, "recent_window": 4, "embedder": "none"}
STRETCHES = [(1, 5), (6, 9), (10, 13), (14, 17)]


def _told(memory: AgentMemory, number: int = 21) -> None:
    beds = [Message(role="user", content=f"I watered the roses of bed {n}") for n in range(1, number + 1)]
    memory.add_messages(beds, conversation="life")


def _spans(memory: AgentMemory, depth: int = 1) -> list[tuple[int, int]]:
    return [one.span for one in memory.summaries("life") if one.span and one.depth == depth]


def _wrote(memory: AgentMemory, span: tuple[int, int]) -> Run:
    """The run that wrote the summary of a stretch."""
    (made,) = [one.id for one in memory.summaries("life") if one.span == span and one.depth == 1]
    run = memory.ports.store.run(memory.ports.scope, memory.history(made)[0].run_id)
    assert run is not None
    return run


def _whole(memory: AgentMemory) -> None:
    """The law of the cascade, and eras that hold every summary between their ends."""
    assert _spans(memory) == STRETCHES
    parts = {one.id: one.span for one in memory.summaries("life") if one.depth == 1}
    (era,) = [one for one in memory.summaries("life") if one.depth == 2]
    assert [parts[member] for member in era.members] == STRETCHES[:-1]
    assert era.span == (1, 13)


def _summarise_in(world: "World", scope: str) -> AgentMemory:
    world.mind.summary = lambda brief: " ".join(brief.memories[-1].text.split()[:6])
    memory = world.open(scope=scope, **SMALL)
    _told(memory)
    memory.sleep()
    return memory


def _summarise(world: "World") -> AgentMemory:
    memory = _summarise_in(world, "t")
    _whole(memory)
    return memory


def test_undone_summaries_are_written_again_by_compact_only(world: "World") -> None:
    memory = _summarise(world)
    night = next(run for run in memory.runs() if run.cause == "sleep")
    notes = " ".join(str(receipt) for receipt in memory.undo(night.id))
    assert "messages 14 to 17 of life are in no summary now" in notes
    assert "compact the conversation" in notes
    memory.sleep()
    assert memory.summaries("life") == []
    assert memory.compact_memories("life").summaries == len(STRETCHES)
    _whole(memory)
    assert memory.compact_memories("life").summaries == 0, "the second finds nothing to do"


def test_undo_names_the_long_term_summary_built_on_a_retracted_part(world: "World") -> None:
    memory = _summarise(world)
    middle, era = _wrote(memory, STRETCHES[1]), _wrote(memory, STRETCHES[3])
    with pytest.raises(ConflictError, match=f"{era.id} .*`cascade`"):
        memory.undo(middle.id)
    memory.undo(middle.id, cascade=True)
    assert (_spans(memory), _spans(memory, 2)) == ([STRETCHES[0], STRETCHES[2]], [])


def test_a_hole_is_filled_by_command_and_spoken_over_by_no_era(world: "World") -> None:
    memory = _summarise(world)
    memory.undo(_wrote(memory, STRETCHES[1]).id, cascade=True)
    world.mind.summary = lambda brief: " ".join(brief.memories[-1].text.split()[:5])
    assert "in no summary, because it was retracted: 6-9" in memory.command("@memory-status life")
    memory.sleep()
    assert _spans(memory) == [STRETCHES[0], *STRETCHES[2:]], "no night fills it"
    _told(memory, 8)
    memory.sleep()
    assert _spans(memory) == [STRETCHES[0], *STRETCHES[2:], (18, 21), (22, 25)]
    assert _spans(memory, 2) == [], "an era would speak of what no summary told"
    memory.compact_memories("life")
    assert _spans(memory) == [*STRETCHES, (18, 21), (22, 25)]
    assert _spans(memory, 2) == [(1, 21)]
    assert "in no summary" not in memory.command("@memory-status life")


def test_a_restored_first_summary_is_added_to_its_long_term_summary(world: "World") -> None:
    memory = _summarise(world)
    memory.undo(_wrote(memory, STRETCHES[0]).id, cascade=True)
    memory.compact_memories("life")
    _whole(memory)


def test_words_stored_again_are_no_longer_suppressed(world: "World") -> None:
    memory = _summarise(world)
    memory.undo(_wrote(memory, STRETCHES[1]).id, cascade=True)
    filled = memory.compact_memories("life")
    memory.undo(filled.run_id, cascade=True)
    assert _spans(memory) == [STRETCHES[0], STRETCHES[2]]
    memory.sleep()
    assert _spans(memory) == [STRETCHES[0], STRETCHES[2]], "taken back is held again"
    memory.compact_memories("life")
    _whole(memory)
    secret = memory.get_all(kinds=["message"])[6]
    memory.erase(id=secret.id)
    memory.sleep()
    assert STRETCHES[2] in _spans(memory), "what an erase took is due again, and nothing holds it"


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(taken=st.lists(st.integers(0, 3), min_size=1, max_size=3), slept=st.booleans())
def test_compact_completes_summaries_after_any_undo(world: "World", taken: list[int], slept: bool) -> None:
    memory = _summarise_in(world, f"t/{taken}{slept}".replace(", ", "").replace("[", "").replace("]", ""))
    for place in taken:
        if STRETCHES[place] in _spans(memory):
            memory.undo(_wrote(memory, STRETCHES[place]).id, cascade=True)
    if slept:
        memory.sleep()
    memory.compact_memories("life")
    _whole(memory)


@pytest.mark.parametrize("wrong", ["", "remember this"])
def test_an_unknown_command_is_refused_with_the_known_ones(world: "World", wrong: str) -> None:
    with pytest.raises(InputError, match="@compact-memories, @memory-status"):
        world.open().command(wrong)


def test_a_command_for_an_unknown_conversation_is_an_error(world: "World") -> None:
    memory = world.open(**SMALL)
    _told(memory, 2)
    assert "no conversation 'nope': there is life" in memory.command("@memory-status nope")
    with pytest.raises(NotFoundError, match="no conversation 'nope': there is life"):
        memory.command("@compact-memories nope")
    for name in ("two\nlines", *"bcdef"):
        memory.add_message(Message(role="user", content="hello"), conversation=name)
    with pytest.raises(NotFoundError, match="and 2 more"):
        memory.compact_memories("nope")
    with pytest.raises(NotFoundError, match="there are two lines and 6 more"):
        memory.compact_memories("two lines")
