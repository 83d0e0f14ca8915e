from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from slowwave.errors import ModelError
from slowwave.model.mind import Fact, Transcript
from slowwave.pipelines.sleep import unread

if TYPE_CHECKING:
    from conftest import Talk, World
    from slowwave import AgentMemory

PLENTY = tuple(f"The barn on plot {number} is red" for number in range(8))
FEW = PLENTY[:3]


def first_message(transcript: Transcript) -> tuple[Fact, ...]:
    text = transcript.turns[0].memory.text
    return (Fact(text=text, turn=1, quote=text, confidence=0.9),)


def due(memory: "AgentMemory") -> list[str]:
    return memory.ports.store.scopes_due(memory.ports.now(), 10)


def conversations_read(world: "World") -> list[str]:
    return [transcript.conversation for transcript in world.mind.questions("distil")]


def test_a_sleep_pass_reads_what_is_unread_with_the_default_settings(world: "World", talk: "Talk") -> None:
    world.mind.facts = first_message
    memory = world.open()
    memory.add_messages(talk(*PLENTY), "c")
    report = memory.sleep()
    assert memory.status().unread == 0
    assert [fact.text for fact in memory.get_all()] == [PLENTY[0]]
    assert (report.left, report.unread_waiting, report.again) == ({}, 0, None)
    assert due(memory) == []


def test_the_conversation_that_was_idle_longest_is_read_first(world: "World", talk: "Talk") -> None:
    memory = world.open()
    for name in ("old", "middle", "new"):
        memory.add_messages(talk(*PLENTY), name)
        world.later(hours=2)
    memory.sleep()
    assert conversations_read(world) == ["old", "middle", "new"]


def test_a_short_stretch_waits_until_its_conversation_is_idle_for_an_hour(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(*FEW), "c")
    idle_at = world.clock() + timedelta(hours=1)
    report = memory.sleep()
    assert (report.unread_waiting, report.again, report.left) == (3, idle_at, {})
    assert conversations_read(world) == []
    assert due(memory) == []
    world.later(hours=0.9)
    assert memory.sleep().unread_waiting == 3
    world.later(hours=0.1)
    assert due(memory) == ["t"]
    assert memory.sleep().unread_waiting == 0
    assert conversations_read(world) == ["c"]
    assert due(memory) == []


def test_a_conversation_that_ended_does_not_wait(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(*FEW), "c")
    assert memory.end_conversation("c").skipped_reason is None
    assert memory.sleep().unread_waiting == 0


def test_imported_talk_of_last_year_is_idle_at_once(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(*FEW, start=world.clock() - timedelta(days=365)), "c")
    memory.sleep()
    assert memory.status().unread == 0


def test_a_long_conversation_is_read_to_its_end_and_its_last_stretch_waits(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(*(f"Field {number} lies fallow" for number in range(63))), "c")
    report = memory.sleep()
    assert len(world.mind.questions("distil")) == 2
    assert (memory.status().unread, report.unread_waiting) == (3, 3)


def test_the_limit_of_a_pass_leaves_the_rest_due_at_once(
    world: "World", talk: "Talk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "CHUNKS_MAX", 2)
    memory = world.open()
    for name in ("a", "b", "c"):
        memory.add_messages(talk(*PLENTY), name)
        world.later(hours=2)
    assert memory.sleep().left == {"distil": 1}
    assert due(memory) == ["t"]
    assert memory.sleep().left == {}
    assert conversations_read(world) == ["a", "b", "c"]


def test_what_a_mind_failed_to_read_stays_due_and_is_tried_again(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(*PLENTY), "c")
    world.mind.facts = ModelError("the model is down")
    report = memory.sleep()
    assert report.left == {"distil": 1}
    assert any("the model is down" in problem for problem in report.problems)
    assert (memory.status().unread, due(memory)) == (8, [])
    world.later(hours=0.25)
    assert due(memory) == ["t"]
    world.mind.facts = first_message
    assert memory.sleep().left == {}
    assert len(memory.get_all()) == 1


def test_one_conversation_that_always_fails_does_not_block_the_others(world: "World", talk: "Talk") -> None:
    def reads(transcript: Transcript) -> tuple[Fact, ...]:
        if transcript.conversation == "poison":
            raise ModelError("this text is refused")
        return first_message(transcript)

    world.mind.facts = reads
    memory = world.open()
    for name in ("poison", "fine"):
        memory.add_messages(talk(*PLENTY), name)
        world.later(hours=2)
    assert memory.sleep().left == {}
    assert conversations_read(world) == ["poison", "", "fine"], "the second question is whether it answers at all"
    assert memory.status().unread == 8
    assert len(memory.get_all()) == 1


def test_a_model_that_is_down_is_asked_twice_and_not_for_every_conversation(world: "World", talk: "Talk") -> None:
    memory = world.open()
    for number in range(5):
        memory.add_messages(talk(*PLENTY), str(number))
        world.later(hours=2)
    world.mind.facts = ModelError("the model is down")
    assert memory.sleep().left == {"distil": 5}
    assert len(conversations_read(world)) == 2


def test_a_pass_that_asks_no_model_leaves_the_messages_unread(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(*PLENTY), "c")
    assert memory.sleep(think=False).left == {"distil": 1}
    assert (memory.status().unread, conversations_read(world)) == (8, [])


def test_a_dry_run_shows_the_facts_that_the_pass_would_store(world: "World", talk: "Talk") -> None:
    world.mind.facts = first_message
    memory = world.open()
    memory.add_messages(talk(*PLENTY), "c")
    report = memory.sleep(dry_run=True)
    assert f"] {PLENTY[0]}" in str(report)
    assert (memory.status().unread, memory.get_all()) == (8, [])
    memory.apply(report.plan)
    assert [fact.text for fact in memory.get_all()] == [PLENTY[0]]
    assert memory.status().unread == 0


def test_one_undo_takes_back_what_a_pass_read(world: "World", talk: "Talk") -> None:
    world.mind.facts = first_message
    memory = world.open()
    memory.add_messages(talk(*PLENTY), "a")
    memory.add_messages(talk(*PLENTY), "b")
    report = memory.sleep()
    assert memory.status().unread == 0
    memory.undo(report.plan.id)
    assert memory.get_all() == []
    assert memory.status().unread == 16


def test_a_later_conversation_is_compared_with_the_facts_of_an_earlier_one(world: "World", talk: "Talk") -> None:
    world.mind.facts = first_message
    memory = world.open()
    for name in ("a", "b"):
        memory.add_messages(talk(*PLENTY), name)
        world.later(hours=2)
    memory.sleep()
    assert [fact.text for fact in memory.get_all()] == [PLENTY[0]], "the second is the same fact"


def test_every_scope_with_unread_messages_is_slept_when_its_stretch_is_due(world: "World", talk: "Talk") -> None:
    first, second = world.open(scope="t"), world.open(scope="u")
    first.add_messages(talk(*PLENTY), "c")
    second.add_messages(talk(*FEW), "c")
    assert set(first.sleep_due()) == {"t", "u"}
    assert (first.status().unread, second.status().unread) == (0, 3)
    assert first.sleep_due() == {}
    world.later(hours=1)
    assert set(first.sleep_due()) == {"u"}
    assert second.status().unread == 0
