"""What a person does by hand, and what using a memory does to it."""

from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import ConflictError, InputError, NotFoundError
from slowwave.model.mind import Fact
from slowwave.model.plan import GROUP_MAX
from slowwave.policy.retention.policies import RESTORED
from slowwave.testing import builders

if TYPE_CHECKING:
    from tests.conftest import Only, Says, Talk, World


def _cold(world: "World", memory: AgentMemory, *texts: str) -> list[str]:
    ids = [memory.add(text, kind="episodic", category="observation").ids[0] for text in texts]
    world.fade(memory, below=0.1)
    memory.sleep()
    assert all(memory.get(one).phase == "cold" for one in ids)
    return ids


# ---- use


def test_a_use_moves_the_anchor_and_counts_and_makes_no_version(world: "World", only: "Only") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    world.later(days=30)
    before = only(memory)
    assert memory.strength(before.id) < 1
    assert memory.record_retrieval(memory.search("deploys")) == 1
    after = only(memory)
    assert (after.accesses, after.sessions, after.used_at) == (1, 1, world.clock())
    assert after.version == before.version
    assert after.stability > before.stability
    assert memory.strength(after.id) == 1.0
    assert after.due_at > before.due_at


def test_uses_of_one_day_are_one_session_unless_named(world: "World", only: "Only") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    for _ in range(2):
        memory.record_retrieval(memory.search("deploys"))
    assert only(memory).sessions == 1
    world.later(days=1)
    memory.record_retrieval(memory.search("deploys"))
    assert only(memory).sessions == 2
    memory.record_retrieval(memory.search("deploys"), session="chat-7")
    memory.record_retrieval(memory.search("deploys"), session="chat-7")
    assert only(memory).sessions == 3


def test_frequent_use_over_time_makes_core_and_core_never_fades(world: "World", only: "Only") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    for _ in range(10):
        world.later(days=14)
        memory.record_retrieval(memory.search("deploys"))
    memory.sleep()
    assert only(memory).phase == "core"
    world.later(days=5000)
    memory.sleep()
    assert only(memory).phase == "core"
    assert memory.core()[0].text == "Alice owns the deploy pipeline"


def test_the_first_three_used_come_back_from_the_cold_and_fade_again(world: "World") -> None:
    memory = world.open()
    ids = _cold(
        world, memory, *(f"{name} walked along river {len(name)}" for name in ("Ann", "Bert", "Cecilia", "Dan", "Eve"))
    )
    hits = memory.get_all(phases=["cold"])
    assert memory.record_retrieval(hits) == 5
    assert [memory.get(one).phase for one in ids] == ["active"] * 3 + ["cold"] * 2
    assert memory.get(ids[0]).due_at is not None, "what came back fades again one day"
    world.fade(memory, below=0.1)
    memory.sleep()
    assert memory.get(ids[0]).phase != "active"


def test_a_use_does_not_restore_an_expired_memory(world: "World") -> None:
    memory = world.open()
    fact = memory.add("Working from the airport lounge", category="session_state").ids[0]
    world.later(hours=30)
    memory.sleep()
    assert memory.record_retrieval(memory.search("airport", deep=True)) == 1
    assert (memory.get(fact).phase, memory.get(fact).accesses) == ("cold", 1)


def test_superseded_and_retracted_memories_are_not_strengthened(world: "World", verdict: "Says") -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    memory.add("Matteo lives in Bern")
    old = memory.get_all(phases=["superseded"])
    assert memory.record_retrieval(old) == 0
    assert memory.record_retrieval([]) == 0


def test_facts_used_together_are_linked_and_raise_each_others_score(world: "World", only: "Only") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    memory.add("Bob owns the release train")
    for _ in range(4):
        world.later(days=7)
        assert memory.record_retrieval(memory.search_knowledge("who owns what?")) == 2
    alice, bob = only(memory, "Alice"), only(memory, "Bob")
    (link,) = memory.links(alice.id)
    assert (link.kind, link.weight) == ("association", pytest.approx(0.357, abs=0.001))  # a week fades 7 %
    world.later(days=7)
    memory.record_retrieval([alice])
    lifted = only(memory, "Bob")
    assert lifted.stability > bob.stability
    assert (lifted.accesses, lifted.used_at) == (bob.accesses, bob.used_at)


def test_a_use_blocks_only_an_archiving_planned_before_it_and_that_is_planned_again(world: "World") -> None:
    memory = world.open()
    memory.add("Working from the airport lounge", category="session_state")
    world.later(hours=30)
    plan = memory.sleep(dry_run=True).plan
    memory.record_retrieval(memory.get_all())
    assert any(receipt.dropped for receipt in memory.apply(plan))
    assert memory.get_all()
    memory.sleep()
    assert memory.get_all() == []


def test_a_use_names_a_context_hits_memories_or_ids(world: "World") -> None:
    memory = world.open()
    alice = memory.add("Alice owns the deploy pipeline").ids[0]
    bob = memory.add("Bob waters the tulips").ids[0]
    context = memory.context("who owns the deploy pipeline and who waters the tulips?")
    hits = memory.search("who owns the deploy pipeline?", top_k=1)
    assert {shown.id for shown in context.memories} == {alice, bob}
    assert memory.record_retrieval(context) == 2
    for used in (hits, hits[0], hits[0].memory, alice, [alice], iter(hits), [hits[0], alice]):
        assert memory.record_retrieval(used) == 1
    assert (memory.get(alice).accesses, memory.get(bob).accesses) == (8, 1)
    with pytest.raises(NotFoundError):
        memory.record_retrieval(["nosuch"])
    for wrong in (42, [None], [[alice]]):
        with pytest.raises(InputError):
            memory.record_retrieval(wrong)
    assert memory.get(alice).accesses == 8


def test_a_context_shows_the_facts_in_the_line_of_a_message_too(world: "World") -> None:
    memory = world.open()
    quote = "Alice owns the deploy pipeline"
    said = memory.add_messages([Message(role="user", content=f"{quote} since May.", id="m-1")], "c").ids[0]
    world.mind.facts = [Fact(text=quote, turn=1, quote=quote, category="person", confidence=0.9)]
    memory.consolidate("c", force=True)
    fact = memory.get_all()[0].id
    context = memory.context("who owns the deploy pipeline?", conversation="other")
    assert said in {shown.id for shown in context.memories}
    assert memory.record_retrieval(context) == len(context.memories)
    assert memory.record_retrieval(memory.search("who owns the deploy pipeline?")) == 2
    assert memory.get(fact).accesses >= 1


# ---- update


def test_new_words_are_found_and_the_old_ones_stay_in_the_history(world: "World", only: "Only") -> None:
    memory = world.open()
    fact = memory.add("Alice owns the deploy pipeline").ids[0]
    memory.update(fact, "  Alice owns the release train ")
    assert only(memory).text == "Alice owns the release train"
    assert memory.search("release train")[0].memory.id == fact
    changes = [event.operation for event in memory.history(fact)]
    assert changes[-1].before.text == "Alice owns the deploy pipeline"
    assert not memory.update(fact, "Alice owns the release train").applied


def test_words_without_a_source_count_as_stated_by_hand(world: "World", only: "Only") -> None:
    memory = world.open()
    quote = "Alice owns the deploy pipeline"
    said = memory.add_messages([Message(role="user", content=f"{quote} since May.", id="m-1")], "c").ids[0]
    world.mind.facts = [Fact(text=quote, turn=1, quote=quote, category="person", confidence=0.9)]
    memory.consolidate("c", force=True)
    fact = only(memory).id
    memory.update(fact, "Alice owns the pipeline")
    assert only(memory).sources[0].memory == said
    done = memory.update(fact, "Tea is served at 16:00", category="project")
    assert only(memory).sources == ()
    assert only(memory).category == "project"
    assert memory.history(fact)[-1].operation.because == "stated by hand"
    memory.undo(done.run_id)
    assert (only(memory).sources[0].memory, only(memory).category) == (said, "person")
    memory.update(fact, "Tea is served at 16:00")
    erased = memory.erase(source="m-1")
    assert erased.verified
    assert fact in erased.destroyed  # its history quotes what was said


def test_an_edited_memory_is_due_again(world: "World", only: "Only") -> None:
    memory = world.open()
    fact = memory.add("Alice owns the deploy pipeline", kind="episodic").ids[0]
    memory.undo(memory.delete(fact).run_id)
    assert RESTORED in only(memory).flags
    memory.update(fact, "Alice owns the release train")
    assert RESTORED not in only(memory).flags
    world.fade(memory, below=0.1)
    memory.sleep()
    assert memory.get(fact).phase == "cold"


def test_two_live_facts_never_have_the_same_words(world: "World") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    other = memory.add("Bob likes tea").ids[0]
    with pytest.raises(ConflictError, match="says the same already"):
        memory.update(other, "alice owns the deploy pipeline.")
    memory.delete(other)
    memory.add("Bob likes tea")
    with pytest.raises(ConflictError, match="says the same already"):
        memory.revive(other)


def test_messages_are_stored_verbatim(world: "World", talk: "Talk") -> None:
    memory = world.open()
    message = memory.add_messages(talk(), conversation="c").ids[0]
    with pytest.raises(InputError, match="text of a message cannot be changed"):
        memory.update(message, "something else")


@pytest.mark.parametrize("verb", ["update", "delete", "pin", "unpin", "revive", "strength", "history", "explain"])
def test_unknown_ids_are_not_found(world: "World", verb: str) -> None:
    memory = world.open()
    with pytest.raises(NotFoundError, match="no memory 'nothing'"):
        getattr(memory, verb)("nothing", *(["words"] if verb == "update" else []))


def test_other_scopes_are_not_found_and_ancestors_are_read_but_not_written(world: "World") -> None:
    above, beside = world.open(scope="acme"), world.open(scope="acme/bob")
    mine = world.open(scope="acme/alice", inherit=True)
    shared, other = above.add("The office opens at 8").ids[0], beside.add("Bob likes tea").ids[0]
    assert mine.get(shared).text == "The office opens at 8"
    assert mine.history(shared)[0].cause == "add"
    assert mine.explain(shared).history
    with pytest.raises(NotFoundError):
        mine.update(shared, "The office opens at 9")
    with pytest.raises(NotFoundError):
        mine.get(other)


# ---- delete, pin, revive


def test_deleting_is_retraction_with_a_closed_time(world: "World") -> None:
    memory = world.open()
    fact = memory.add("Alice owns the deploy pipeline").ids[0]
    world.later(days=1)
    memory.delete(fact)
    gone = memory.get(fact)
    assert (gone.phase, gone.valid_to) == ("retracted", world.clock())
    assert not memory.search("deploys")
    (hit,) = memory.search("deploys", deep=True)
    assert (hit.stale, hit.deep) == (True, True)
    assert not memory.delete(fact).applied


def test_a_pinned_memory_is_exempt_from_everything_and_unpinned_it_is_not(world: "World", only: "Only") -> None:
    memory = world.open()
    fact = memory.add("Working from the airport lounge", category="session_state").ids[0]
    memory.pin(fact)
    assert not memory.pin(fact).applied
    world.later(days=4000)
    memory.sleep()
    assert only(memory).pinned
    assert only(memory).due_at is None
    memory.unpin(fact)
    memory.sleep()
    assert memory.get(fact).reason == "expired"


def test_a_revived_memory_is_exempt_until_it_is_used(world: "World") -> None:
    memory = world.open()
    (fact,) = _cold(world, memory, "Walk 1 went along river 17")
    memory.revive(fact)
    memory.sleep()
    world.later(days=1000)
    memory.sleep()
    assert memory.get(fact).phase == "active"
    memory.record_retrieval([memory.get(fact)])
    world.fade(memory, below=0.1)
    memory.sleep()
    assert memory.get(fact).phase == "cold"
    assert not memory.revive(memory.add("Hot").ids[0]).applied


def test_more_memories_than_a_group_holds_can_be_used_at_once(world: "World") -> None:
    memory = world.open()
    facts = [builders.fact(f"Fact {n}", scope="t") for n in range(GROUP_MAX + 1)]
    for part in (facts[:GROUP_MAX], facts[GROUP_MAX:]):
        memory.ports.store.apply(builders.plan(*map(builders.add, part), scope="t"))
    assert memory.record_retrieval(facts) == GROUP_MAX + 1
    assert {fact.accesses for fact in memory.get_all(limit=None)} == {1}


def test_a_correction_of_an_event_keeps_its_day(world: "World") -> None:
    memory = world.open(llm=None)
    memory.add_message(Message(role="user", content="I met Bob in Porto yesterday."), "c")
    memory.consolidate_all(force=True)
    (before,) = memory.get_all()
    assert before.kind == "episodic"
    world.later(days=30)
    memory.update(before.id, "The user met Carla in Lisbon")
    after = memory.get(before.id)
    assert (after.sources, after.valid_from) == ((), before.valid_from)
