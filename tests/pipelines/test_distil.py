"""Conversations become facts: each message once, each fact supported, a failing model leaves all of it due."""

from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Message, TooFew
from slowwave.errors import ModelError, NotFoundError, PortError
from slowwave.model.mind import Fact, Transcript
from slowwave.model.operations import MoveCursor, RejectFact
from slowwave.model.plan import Receipt
from slowwave.pipelines.ingest.chunks import CURSOR

if TYPE_CHECKING:
    from tests.conftest import Says, Talk, Texts, World

DOWN = ModelError("model down")


def _cursor(memory: AgentMemory, name: str = "c") -> int:
    return memory.ports.store.conversation("t", name).cursor(CURSOR)


def _lines(count: int) -> list[Message]:
    return [
        Message(role="user" if n % 2 else "assistant", content=f"I planted tree number {n}")
        for n in range(1, count + 1)
    ]


def test_facts_name_their_source_messages(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts"
) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    result = memory.consolidate("c")
    assert texts(memory) == {fact.text for fact in facts}
    assert result.skipped_reason is None
    assert [str(fact.sources[0]) for fact in result.facts] == ["m-1", "m-3", "m-5", "m-7"]
    assert result.facts[1].sources[0].quote == "Argon2 with a 12-byte"
    assert result.facts[0].valid_from == talk()[0].at
    assert result.cost.calls == 1
    assert memory.runs(1)[0].cause == "consolidate"


def test_the_same_messages_are_never_distilled_twice(world: "World", talk: "Talk", facts: tuple[Fact, ...]) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    memory.consolidate("c")
    assert memory.consolidate("c", force=True).skipped_reason == "no new messages"
    memory.add_messages(talk(), conversation="c")
    assert memory.consolidate("c", force=True).skipped_reason == "no new messages"
    assert len(world.mind.questions("distil")) == 1


def test_few_messages_wait_unless_forced(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk("Hello there", "Good morning"), conversation="c")
    waits = memory.consolidate("c")
    assert waits.too_few == TooFew(unread=2, minimum=6)
    assert "2 unread messages of a conversation that goes on, fewer than min_messages=6" in str(waits.skipped_reason)
    assert world.mind.asked == []
    assert memory.end_conversation("c").skipped_reason is None
    assert _cursor(memory) == 2


def test_few_messages_of_a_conversation_that_is_idle_are_read(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk("Hello there", "Good morning"), conversation="c")
    world.later(hours=1)
    assert memory.consolidate("c").skipped_reason is None
    assert _cursor(memory) == 2


def test_a_note_is_placed_under_the_fact_it_is_about(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], verdict: "Says"
) -> None:
    memory = world.open()
    memory.add("Alice never owns the deploy pipeline", category="person")
    memory.add_messages(talk(), conversation="c")
    world.mind.facts = facts
    world.mind.verdicts = [verdict("UPDATE", fact=4, memory=1, relation="contradictory")]
    result = memory.consolidate("c")
    note = "replaced 'Alice never owns the deploy pipeline'"
    assert dict(result.about) == {result.facts[-1].id: (note,)}
    assert str(result).splitlines()[-1] == f"    {note}"
    assert "waiting" not in str(result)


def test_waiting_facts_name_what_they_wait_for(world: "World", talk: "Talk", facts: tuple[Fact, ...]) -> None:
    memory = world.open()
    memory.add("Alice owns the build pipeline", category="person")
    memory.add_messages(talk(), conversation="c")
    world.mind.facts, world.mind.verdicts = facts, ModelError("down")
    result = memory.consolidate("c")
    assert str(result).splitlines()[0] == "4 facts, 0 refused; 1 of them wait for a model, sleep asks again"
    assert "1 fact waiting for a model" in str(memory.status())


def test_long_conversations_are_read_in_chunks_of_thirty_without_gap(world: "World") -> None:
    memory = world.open()
    memory.add_messages(_lines(75), conversation="c")
    memory.consolidate("c")
    asked: list[Transcript] = world.mind.questions("distil")
    assert [len(one.turns) for one in asked] == [30, 30, 15]
    assert [turn.memory.seq for one in asked for turn in one.turns] == list(range(1, 76))
    assert [memory.seq for memory in asked[1].before] == list(range(1, 31)), "rules that read for nothing see a hundred"


def test_a_consolidation_of_several_chunks_is_one_run_that_undo_takes_back(world: "World", texts: "Texts") -> None:
    memory = world.open()
    memory.add_messages(_lines(75), conversation="c")
    world.mind.facts = [Fact(text="Tree number 1 was planted", turn=1, quote="I planted tree number 1", confidence=0.9)]
    result = memory.consolidate("c")
    assert {
        run.parent for run in memory.runs(parts="all") if run.cause == "consolidate" and run.id != result.run_id
    } == {result.run_id}
    assert len(memory.ports.store.children("t", str(result.run_id))) == len(result.receipts) == 3
    assert texts(memory)
    memory.undo(str(result.run_id))
    assert not texts(memory)
    assert _cursor(memory) == 0


def test_a_consolidation_of_one_chunk_is_a_run_of_its_own(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(), conversation="c")
    result = memory.consolidate("c", force=True)
    assert memory.ports.store.run("t", str(result.run_id)).parent is None
    assert memory.ports.store.children("t", str(result.run_id)) == []


def test_the_cap_and_the_threshold_apply_and_the_rest_is_listed(
    world: "World", talk: "Talk", facts: tuple[Fact, ...]
) -> None:
    memory = world.open(max_facts_per_pass=2, confidence_threshold=0.6)
    unsure = Fact(text="Alice owns the pipeline", confidence=0.5, turn=7, quote="Alice owns the deploy pipeline")
    world.mind.facts = [unsure, *facts]
    memory.add_messages(talk(), conversation="c")
    result = memory.consolidate("c")
    assert [fact.text for fact in result.facts] == [fact.text for fact in facts[:2]]
    assert [one.reason for one in result.rejected] == ["confidence 0.50 is below 0.60"] + [
        "over the 2 facts of one pass"
    ] * 2
    kept = [one for one in memory.runs(1)[0].plan.operations if isinstance(one, RejectFact)]
    assert [one.reason for one in kept] == [one.reason for one in result.rejected]


def test_a_fact_that_its_quote_does_not_support_is_refused_with_a_reason(
    world: "World", talk: "Talk", texts: "Texts"
) -> None:
    memory = world.open()
    world.mind.facts = [
        Fact(text="John Doe lives in Springfield", turn=2, quote="John Doe lives in Springfield"),
        Fact(text="Alice owns 4711 pipelines", turn=7, quote="Alice owns the deploy pipeline"),
    ]
    memory.add_messages(talk(), conversation="c")
    result = memory.consolidate("c")
    assert texts(memory) == set()
    assert len(result.rejected) == 2
    assert all(one.reason for one in result.rejected)


def test_a_failing_model_leaves_the_messages_due(world: "World", talk: "Talk", facts: tuple[Fact, ...]) -> None:
    memory = world.open()
    world.mind.facts = DOWN
    memory.add_messages(talk(), conversation="c")
    result = memory.consolidate("c")
    assert (result.skipped_reason, result.facts, result.problems) == ("model down", (), ("model down",))
    assert _cursor(memory) == 0
    assert memory.status().unread == 8
    world.mind.facts = facts
    assert len(memory.consolidate("c").facts) == 4


def test_a_model_that_fails_in_the_middle_keeps_what_is_done(world: "World") -> None:
    memory = world.open()
    memory.add_messages(_lines(75), conversation="c")

    def fails_later(transcript: Transcript) -> list[Fact]:
        if transcript.turns[0].memory.seq > 30:
            raise DOWN
        return [Fact(text="Tree number 1 was planted", turn=1, quote="I planted tree number 1")]

    world.mind.facts = fails_later
    result = memory.consolidate("c")
    assert (len(result.facts), result.skipped_reason) == (1, "model down")
    assert _cursor(memory) == 30
    world.mind.facts = ()
    memory.consolidate("c")
    assert _cursor(memory) == 75


def test_strict_raises_and_loses_nothing(world: "World", talk: "Talk", facts: tuple[Fact, ...]) -> None:
    memory = world.open(strict=True)
    memory.add_messages(talk(), conversation="c")
    world.mind.facts = DOWN
    with pytest.raises(PortError, match="model down"):
        memory.consolidate("c")
    world.mind.facts = facts
    assert len(memory.consolidate("c").facts) == 4


def test_injected_contexts_are_not_distilled(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    block = str(memory.context("who owns deploys?"))
    assert "Alice owns the deploy pipeline" in block
    memory.add_messages(talk(block, f"Before. {block} After."), conversation="c")
    memory.consolidate("c", force=True)
    (asked,) = world.mind.questions("distil")
    assert [(turn.number, turn.memory.text) for turn in asked.turns] == [(2, "Before.  After.")]
    assert _cursor(memory) == 2


def test_a_conversation_of_injected_contexts_only_calls_no_model(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    memory.add_messages(talk(str(memory.context("deploys"))), conversation="c")
    memory.consolidate("c", force=True)
    assert world.mind.asked == []
    assert _cursor(memory) == 1


def test_two_processes_distil_a_message_once(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts"
) -> None:
    first, second = world.open(), world.open()
    first.add_messages(talk(), conversation="c")

    def overtaken(_: Transcript) -> tuple[Fact, ...]:
        world.mind.facts = facts
        second.consolidate("c")
        return facts

    world.mind.facts = overtaken
    result = first.consolidate("c")
    assert result.facts == ()
    assert result.notes == ("another process distilled these messages",)
    assert texts(first) == {fact.text for fact in facts}
    moves = [one for run in first.runs() for one in run.plan.operations if isinstance(one, MoveCursor)]
    assert len(moves) == 1


def test_a_conflict_on_one_fact_is_reconciled_again_without_distilling_again(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts"
) -> None:
    first, second = world.open(), world.open()
    first.add_messages(talk(), conversation="c")

    def overtaken(_: Transcript) -> tuple[Fact, ...]:
        second.add(facts[3].text)
        return facts

    world.mind.facts = overtaken
    result = first.consolidate("c")
    assert texts(first) == {fact.text for fact in facts}
    assert len(world.mind.questions("distil")) == 1
    assert len(result.facts) == 3
    assert next(fact for fact in first.get_all() if fact.text == facts[3].text).accesses == 1


def test_no_conversation_means_the_one_written_to_last(world: "World", talk: "Talk") -> None:
    memory = world.open()
    assert memory.consolidate().skipped_reason == "no new messages"
    memory.add_messages(talk(), conversation="a")
    memory.add_messages(talk(), conversation="b")
    memory.consolidate()
    assert (_cursor(memory, "a"), _cursor(memory, "b")) == (0, 8)
    with pytest.raises(NotFoundError, match="there are b, a"):
        memory.consolidate("nobody")


def test_retracted_messages_are_not_distilled(world: "World", talk: "Talk") -> None:
    memory = world.open()
    receipt = memory.add_messages(talk(), conversation="c")
    memory.delete(receipt.ids[0])
    memory.consolidate("c")
    (asked,) = world.mind.questions("distil")
    assert [turn.number for turn in asked.turns] == [2, 3, 4, 5, 6, 7, 8]
    assert len(memory.get_conversation_messages("c")) == 7


# ---- automatic distilling


def _say(memory: AgentMemory, world: "World", text: str, role: str = "user") -> Receipt:
    return memory.add_message(Message(role=role, content=text, at=world.clock()), conversation="c")


def test_a_complete_turn_distils_inside_the_add_that_completes_it(world: "World", texts: "Texts") -> None:
    memory = world.open(consolidate_every_turns=1, min_messages=2)
    world.mind.facts = [Fact(text="Alice owns the pipeline", turn=1, quote="Alice owns the pipeline")]
    _say(memory, world, "Alice owns the pipeline")
    assert world.mind.asked == []
    receipt = _say(memory, world, "Noted.", role="assistant")
    assert receipt.notes == ("distilled 1 facts",)
    assert texts(memory) == {"Alice owns the pipeline"}


def test_its_failure_is_in_the_receipt_and_the_message_is_stored(world: "World") -> None:
    memory = world.open(consolidate_every_turns=1, min_messages=2)
    world.mind.facts = DOWN
    _say(memory, world, "Alice owns the pipeline")
    receipt = _say(memory, world, "Noted.", role="assistant")
    assert receipt.problems == ("model down",)
    assert len(memory.get_conversation_messages("c")) == 2
    assert memory.status().unread == 2


def test_the_cool_down_buffers_and_sleep_reads_the_rest(world: "World") -> None:
    memory = world.open(consolidate_every_turns=1, extraction_cooldown_seconds=120, min_messages=2)
    for turn in range(4):
        _say(memory, world, f"Turn {turn} of the talk")
        _say(memory, world, "Noted.", role="assistant")
        world.later(seconds=10)
    assert len(world.mind.questions("distil")) == 1
    world.later(seconds=120)
    _say(memory, world, "Turn 4 of the talk")
    _say(memory, world, "Noted.", role="assistant")
    assert len(world.mind.questions("distil")) == 2
    _say(memory, world, "The last words")
    _say(memory, world, "Noted.", role="assistant")
    memory.sleep()
    read = [turn.memory.seq for one in world.mind.questions("distil") for turn in one.turns]
    assert read == list(range(1, 13))


def test_a_run_in_the_future_does_not_delay_distilling(world: "World") -> None:
    memory = world.open(consolidate_every_turns=1, extraction_cooldown_seconds=120, min_messages=2)
    world.later(days=3650)
    _say(memory, world, "Said in the future")
    _say(memory, world, "Noted.", role="assistant")
    world.later(days=-3650)
    _say(memory, world, "Said today")
    _say(memory, world, "Noted.", role="assistant")
    assert len(world.mind.questions("distil")) == 2


def test_messages_that_a_failing_model_could_not_read_stay_unread(world: "World") -> None:
    memory = world.open(consolidate_every_turns=5, min_messages=2)
    _say(memory, world, "Alice owns the pipeline")
    _say(memory, world, "Noted.", role="assistant")
    world.mind.facts = DOWN
    report = memory.sleep()
    assert (report.left, report.problems) == ({"distil": 1}, ("model down",))
    assert memory.sleep(think=False).left == {"distil": 1}
    world.mind.facts = ()
    assert not memory.sleep().left
    assert memory.status().unread == 0
