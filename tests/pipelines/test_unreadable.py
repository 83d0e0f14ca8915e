"""Messages that a model refuses, or about which it cannot be read: they are passed over and keep nothing else from being read."""

from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import ModelError
from slowwave.model.memory import SUMMARY
from slowwave.model.mind import Fact, ReconcileCase, SummaryRequest, Transcript, Verdict
from slowwave.model.pass_record import PAUSES
from slowwave.model.progress import FAILED_CURSOR, UNREADABLE, is_unreadable_by
from slowwave.model.query import Where
from slowwave.pipelines.ingest.chunks import unreadable_messages
from slowwave.pipelines.sleep.unread import BATCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import ScriptedMind, World

BOAT = "I have a boat"


def refusal(*, cut: bool = False) -> ModelError:
    error = ModelError("filtered by the content policy")
    error.refused, error.cut_off = not cut, cut
    return error


def reads(transcript: Transcript, *, cut: bool = False) -> "Sequence[Fact]":
    """Refuses what contains the word, in any of the messages that it is shown, and finds the boat."""
    shown = [*transcript.before, *(turn.memory for turn in transcript.turns)]
    if any("POISON" in memory.text for memory in shown):
        raise refusal(cut=cut)
    return [
        Fact(text="The user has a boat", category="person", turn=turn.number, turns=(turn.number,), quote=BOAT)
        for turn in transcript.turns
        if BOAT in turn.memory.text
    ]


def tell(memory: AgentMemory, world: "World", name: str, *texts: str) -> None:
    memory.add_messages([Message(role="user", content=text, at=world.clock()) for text in texts], name)
    world.later(hours=1)


def marked(memory: AgentMemory) -> list[str]:
    return [one.text for one in unreadable_messages(memory.ports)]


@pytest.fixture
def mind(world: "World") -> "ScriptedMind":
    world.mind.facts = reads
    return world.mind


@pytest.mark.parametrize("run", ["sleep", "consolidate", "consolidate_all"])
@pytest.mark.parametrize("cut", [False, True])
def test_a_refused_message_keeps_no_other_of_its_conversation(
    world: "World", mind: "ScriptedMind", run: str, *, cut: bool
) -> None:
    mind.facts = lambda transcript: reads(transcript, cut=cut)
    memory = world.open()
    texts = [f"I went out, number {number}" for number in range(90)]
    texts[10], texts[80] = "POISON", BOAT
    tell(memory, world, "c", *texts)
    world.later(days=1)
    calls = {
        "sleep": memory.sleep,
        "consolidate": lambda: memory.consolidate("c"),
        "consolidate_all": memory.consolidate_all,
    }
    assert "filtered by the content policy" in str(calls[run]().problems)
    assert [fact.text for fact in memory.get_all()] == ["The user has a boat"]
    assert marked(memory) == ["POISON"]
    assert len(mind.questions("distil")) < 40
    assert memory.status().unread == 1
    assert [finding.count for finding in memory.health().findings if finding.kind == UNREADABLE] == [1]


def test_refused_conversations_keep_no_other_from_being_read(world: "World", mind: "ScriptedMind") -> None:
    memory = world.open()
    for number in range(3):
        tell(memory, world, f"p{number}", *(f"POISON {number} {place}" for place in range(4)))
    tell(memory, world, "good", BOAT, "I went out", "It rained", "I slept")
    world.later(days=1)
    memory.sleep()
    assert [fact.text for fact in memory.get_all()] == ["The user has a boat"]
    assert len(marked(memory)) == 12
    asked = len(mind.questions("distil"))
    for _ in range(3):
        world.later(hours=12)
        memory.sleep()
    assert len(mind.questions("distil")) == asked, "what was refused is not asked about every night"


def test_a_marked_message_is_read_on_demand_or_by_another_model(world: "World", mind: "ScriptedMind") -> None:
    memory = world.open()
    tell(memory, world, "c", "It rained", f"POISON {BOAT}", "I slept", "I went out")
    memory.consolidate("c", force=True)
    assert marked(memory) == [f"POISON {BOAT}"]
    memory.consolidate("c", force=True)
    assert marked(memory) == [f"POISON {BOAT}"], "it was asked again and refused again"
    mind.facts = lambda transcript: [
        Fact(text="The user has a boat", category="person", turn=turn.number, turns=(turn.number,), quote=BOAT)
        for turn in transcript.turns
        if BOAT in turn.memory.text
    ]
    world.later(days=1)
    memory.sleep()
    assert marked(memory) == [f"POISON {BOAT}"], "the same model is not asked by itself"
    mind.name = "another"
    assert not is_unreadable_by(unreadable_messages(memory.ports)[0].flags, mind.name)
    world.later(days=1)
    memory.add("It will snow tomorrow")
    memory.sleep()
    assert marked(memory) == []
    assert "The user has a boat" in {fact.text for fact in memory.get_all()}
    assert memory.status().unread == 0
    mind.name = "scripted"


def test_forcing_reads_a_marked_message_once_its_model_can(world: "World", mind: "ScriptedMind") -> None:
    memory = world.open()
    tell(memory, world, "c", "It rained", "POISON", "I slept", "I went out")
    memory.consolidate_all(force=True)
    assert marked(memory) == ["POISON"]
    mind.facts = ()
    memory.consolidate_all(force=True)
    assert marked(memory) == []


def test_a_model_that_refuses_everything_marks_nothing(world: "World", mind: "ScriptedMind") -> None:
    mind.facts = refusal()
    memory = world.open()
    tell(memory, world, "c", "It rained", "I slept", "I went out", BOAT)
    world.later(days=1)
    assert "filtered" in str(memory.sleep().problems)
    assert marked(memory) == []
    mind.facts = reads
    world.later(days=1)
    memory.sleep()
    assert [fact.text for fact in memory.get_all()] == ["The user has a boat"]


@pytest.mark.parametrize("fails", [ModelError("no connection"), ModelError("the key is wrong")])
def test_other_failures_stop_the_pass_and_mark_nothing(world: "World", mind: "ScriptedMind", fails: ModelError) -> None:
    mind.facts = fails
    memory = world.open()
    for name in "abc":
        tell(memory, world, name, "It rained", "I slept", "I went out")
    world.later(days=1)
    memory.sleep()
    assert (len(mind.questions("distil")), marked(memory)) == (2, [])


def slow(transcript: Transcript) -> "Sequence[Fact]":
    """Fails at the word without saying that it refuses it, as a server that is too slow for long messages."""
    if any("SLOW" in turn.memory.text for turn in transcript.turns):
        raise ModelError("no answer within 60 seconds")
    return reads(transcript)


def tell_slow_and_good(memory: AgentMemory, world: "World") -> None:
    for number in range(3):
        tell(memory, world, f"s{number}", f"SLOW {number}", "I slept", "I went out")
    tell(memory, world, "good", BOAT, "I slept", "I went out")


def asked_about(mind: "ScriptedMind") -> list[str]:
    """The conversations that the mind was asked about since the last call of this, without whether it answers."""
    names = [asked.conversation for asked in mind.questions("distil") if asked.conversation]
    mind.asked.clear()
    return names


def failures(memory: AgentMemory) -> list[int]:
    return [one.cursor(FAILED_CURSOR) for one in memory.ports.store.conversations(memory.ports.scope)]


def test_a_sleep_pass_passes_over_conversations_at_which_the_mind_fails(world: "World", mind: "ScriptedMind") -> None:
    mind.facts = slow
    memory = world.open()
    tell_slow_and_good(memory, world)
    world.later(days=1)
    report = memory.sleep()
    assert [fact.text for fact in memory.get_all()] == ["The user has a boat"]
    assert asked_about(mind) == ["s0", "s1", "s2", "good"]
    assert str(report.problems).count("no answer within 60 seconds") == 3
    assert (marked(memory), memory.status().unread, memory.status().passes.failures) == ([], 9, 0)
    assert report.again == world.clock() + PAUSES[0]
    assert [finding.count for finding in memory.health().findings if finding.kind == "unread"] == [9]


def test_the_pause_of_a_failing_conversation_grows_and_ends_once_it_is_read(
    world: "World", mind: "ScriptedMind"
) -> None:
    mind.facts = slow
    memory = world.open()
    tell_slow_and_good(memory, world)
    world.later(days=1)
    memory.sleep()
    for pause in (*PAUSES, PAUSES[-1]):
        world.later(seconds=pause.total_seconds() - 60)
        mind.asked.clear()
        memory.sleep()
        assert asked_about(mind) == []
        tell(memory, world, "new", *(f"It rained at {world.clock():%H} on day {day}" for day in range(8)))
        world.later(hours=-1, seconds=61)
        memory.sleep()
        assert asked_about(mind) == ["new", "s0", "s1", "s2"], "those that failed come last"
    mind.facts = reads
    world.later(days=1)
    memory.sleep()
    assert memory.status().unread == 0
    assert failures(memory) == [0] * 5


@pytest.mark.parametrize("force", [False, True])
def test_a_consolidation_of_all_passes_over_conversations_at_which_the_mind_fails(
    world: "World", mind: "ScriptedMind", *, force: bool
) -> None:
    mind.facts = slow
    memory = world.open()
    tell_slow_and_good(memory, world)
    world.later(days=1)
    result = memory.consolidate_all(force=force)
    assert result.left == dict.fromkeys(("s0", "s1", "s2"), "no answer within 60 seconds")
    assert (result.conversations, len(result.facts)) == (("good",), 1)
    tell(memory, world, "new", "It rained", "I slept", "I went out")
    asked_about(mind)
    memory.consolidate_all(force=True)
    assert asked_about(mind) == ["new", "s0", "s1", "s2"], "on demand there is no pause"


def test_a_mind_that_goes_away_during_a_run_pauses_no_conversation(world: "World", mind: "ScriptedMind") -> None:
    answers = iter([()])

    def goes(_: Transcript) -> "Sequence[Fact]":
        for facts in answers:
            return facts
        raise ModelError("no connection")

    mind.facts = goes
    memory = world.open()
    for name in "abcd":
        tell(memory, world, name, "It rained", "I slept", "I went out")
    world.later(days=1)
    assert set(memory.consolidate_all(force=True).left) == {"b", "c", "d"}
    memory.sleep()
    assert asked_about(mind) == ["a", "b", "b"]
    assert failures(memory) == [0] * 4


def test_an_undo_ends_a_pause(world: "World", mind: "ScriptedMind") -> None:
    mind.facts = slow
    memory = world.open()
    tell_slow_and_good(memory, world)
    world.later(days=1)
    memory.undo(memory.sleep().plan.id)
    assert failures(memory) == [0] * 4


@pytest.mark.usefixtures("mind")
def test_an_undo_lets_a_marked_message_be_read_again(world: "World") -> None:
    memory = world.open()
    tell(memory, world, "c", "POISON", "I slept")
    result = memory.consolidate("c", force=True)
    assert marked(memory) == ["POISON"]
    assert result.run_id is not None
    memory.undo(result.run_id)
    assert marked(memory) == []
    assert memory.status().unread == 2


def test_a_fact_that_is_refused_keeps_no_other_of_its_batch_waiting(world: "World", mind: "ScriptedMind") -> None:
    def decides(cases: "Sequence[ReconcileCase]") -> list[Verdict]:
        if any("POISON" in case.fact.text for case in cases):
            raise refusal()
        return [Verdict(fact=case.number, op="ADD") for case in cases]

    mind.verdicts = decides
    memory = world.open()
    memory.add("Anna has a red boat in Bern")
    memory.add_all([f"Anna has a {colour} boat in Bern" for colour in ("green", "POISON", "blue", "white")])
    assert [fact.text for fact in memory.get_all() if "unreconciled" in fact.flags] == [
        "Anna has a POISON boat in Bern"
    ]


def test_waiting_facts_that_are_refused_block_no_newer_ones(world: "World", mind: "ScriptedMind") -> None:
    mind.verdicts = ModelError("no connection")
    memory = world.open()
    memory.add("Anna has a red boat in Bern")
    for number in range(BATCH + 5):
        memory.add(
            f"Anna has a POISON boat number {number} in Bern" if number < BATCH else f"Anna has boat {number} in Bern"
        )

    def decides(cases: "Sequence[ReconcileCase]") -> list[Verdict]:
        if any("POISON" in case.fact.text for case in cases):
            raise refusal()
        return [Verdict(fact=case.number, op="ADD") for case in cases]

    mind.verdicts = decides
    for _ in range(2):
        world.later(hours=1)
        memory.sleep()
    waiting = [fact.text for fact in memory.get_all(limit=100) if "unreconciled" in fact.flags]
    assert [text for text in waiting if "POISON" not in text] == []


@pytest.mark.parametrize("silent", [False, True])
def test_a_waiting_fact_without_a_verdict_is_asked_about_once_a_day(
    world: "World", mind: "ScriptedMind", *, silent: bool
) -> None:
    mind.verdicts = ModelError("no connection")
    memory = world.open()
    memory.add("Anna has a red boat in Bern")
    memory.add("Anna has a POISON boat in Bern")
    memory.sleep()
    assert memory.sleep().left == {"retry": 1}, "a mind that cannot be reached pauses no fact"
    mind.verdicts = [] if silent else refusal()
    for day in (1, 2):
        world.later(days=1)
        mind.asked.clear()
        for _ in range(3):
            report = memory.sleep()
            assert (report.left, memory.status().passes.failures) == ({}, 0)
        assert len(mind.questions("decide")) == 1, day
    mind.verdicts, mind.name = None, "another"
    world.open().sleep()
    assert [fact for fact in memory.get_all() if "unreconciled" in fact.flags] == []


def test_a_pair_of_facts_that_is_refused_keeps_no_other_from_being_compared(
    world: "World", mind: "ScriptedMind"
) -> None:
    def decides(cases: "Sequence[ReconcileCase]") -> list[Verdict]:
        if any("POISON" in case.fact.text for case in cases):
            raise refusal()
        return [Verdict(fact=case.number, op="ADD") for case in cases]

    memory = world.open()
    for text in ("POISON is in Bern", "POISON is in Rome", "boats are in Bern", "boats are in Rome"):
        memory.add(text)
    mind.asked.clear()
    mind.verdicts = decides
    report = memory.sleep()
    assert report.left == {}
    asked = [case.fact.text for cases in mind.questions("decide") for case in cases]
    assert {"POISON is in Rome", "boats are in Rome"} <= set(asked)
    mind.asked.clear()
    memory.sleep()
    assert mind.asked == []


def test_a_message_that_is_refused_is_left_out_of_a_summary(world: "World", mind: "ScriptedMind") -> None:
    def sums(brief: SummaryRequest) -> str:
        if any("POISON" in memory.text for memory in brief.memories):
            raise refusal()
        return "; ".join(memory.text for memory in brief.memories)

    mind.summary = sums
    memory = world.open(immediate_window=4, recent_window=10)
    tell(
        memory, world, "c", *("POISON" if number == 3 else f"I walked {number} miles in Bern." for number in range(30))
    )
    world.later(days=1)
    report = memory.sleep()
    everything = Where(kinds=frozenset({SUMMARY}), conversation="c", cascade=True)
    summaries = memory.ports.store.select((memory.ports.scope,), everything)
    assert summaries, report.problems
    assert "I walked 2 miles" in summaries[0].text
    assert "POISON" not in str(summaries)
    assert "left out of a summary" in str(report.problems)


@pytest.mark.parametrize(("untrue", "stored"), [(1, True), (2, False)])
def test_a_sentence_that_no_message_supports_is_left_out_of_a_summary(
    world: "World", mind: "ScriptedMind", untrue: int, *, stored: bool
) -> None:
    told = ["I walked 2 miles in Bern.", "I walked 5 miles in Lisbon.", "I walked 7 miles in Madrid."]
    mind.summary = " ".join(told[: 1 + untrue])
    memory = world.open(immediate_window=4, recent_window=10)
    tell(memory, world, "c", *(f"I walked {number} miles in Bern." for number in range(30)))
    world.later(days=1)
    report = memory.sleep()
    everything = Where(kinds=frozenset({SUMMARY}), conversation="c", cascade=True)
    texts = {one.text for one in memory.ports.store.select((memory.ports.scope,), everything) if one.depth == 1}
    assert texts == ({told[0]} if stored else set())
    assert "Lisbon" in str(report.problems)
