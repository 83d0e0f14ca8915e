"""Every write of a fact meets what is known: each operation, and everything a mind may say wrongly."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import InputError, ModelError
from slowwave.model.mind import Fact, ReconcileCase, Verdict
from slowwave.model.plan import Receipt
from slowwave.pipelines.ingest.add import add_facts
from slowwave.pipelines.ingest.reconcile import reconcile

if TYPE_CHECKING:
    from tests.conftest import Only, Says, Talk, Texts, World

DOWN = ModelError("model down")


def test_a_fact_without_similar_facts_is_added_without_a_call_of_the_mind(world: "World") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    memory.add("Invoices go out on Tuesdays")
    assert len(memory.get_all()) == 2
    assert world.mind.asked == []


def test_texts_that_differ_in_case_and_end_punctuation_are_one_memory(world: "World", only: "Only") -> None:
    memory = world.open()
    first = memory.add("Alice owns the deploy pipeline")
    second = memory.add("alice  OWNS the deploy pipeline.")
    assert second.ids == ()
    fact = only(memory)
    assert (fact.id, fact.accesses, fact.text) == (first.ids[0], 1, "Alice owns the deploy pipeline")
    assert world.mind.asked == []


def test_a_repeated_cold_fact_becomes_hot(world: "World", only: "Only") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline", kind="episodic")
    world.fade(memory, below=0.1)
    memory.sleep()
    assert not memory.get_all()
    memory.add("Alice owns the deploy pipeline")
    fact = only(memory)
    assert fact.reason is None
    assert memory.strength(fact.id) == 1.0
    assert fact.due_at is not None, "it fades again one day"


def test_an_expired_fact_stated_again_gets_the_lifetime_of_a_new_one(world: "World", only: "Only") -> None:
    memory = world.open()
    memory.add("Working from the airport lounge", category="session_state")
    world.later(hours=30)
    memory.sleep()
    assert not memory.get_all()
    memory.add("Working from the airport lounge", category="session_state")
    world.later(hours=20)
    memory.sleep()
    assert only(memory).category == "session_state"
    world.later(hours=5)
    memory.sleep()
    assert not memory.get_all()


def test_a_later_change_supersedes_a_state_that_expired(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    old = memory.add("The cellar of the barn is half dug", category="project_status").ids[0]
    world.later(days=40)
    memory.sleep()
    assert memory.get(old).reason == "expired"
    world.mind.verdicts = [verdict("UPDATE", "The cellar of the barn is fully dug", "subsumes")]
    new = memory.add("The cellar of the barn is fully dug", category="project_status").ids[0]
    ended = memory.get(old)
    assert (ended.phase, ended.superseded_by, ended.valid_to) == ("superseded", new, memory.get(new).valid_from)
    assert texts(memory) == {"The cellar of the barn is fully dug"}


def test_a_state_that_expired_can_be_retracted_and_other_cold_facts_are_not_met(
    world: "World", verdict: "Says"
) -> None:
    memory = world.open()
    old = memory.add("The cellar of the barn is half dug", category="project_status").ids[0]
    faded = memory.add("The cellar of the barn has a red door", kind="episodic").ids[0]
    world.fade(memory, below=0.1)
    memory.sleep()
    assert {memory.get(old).reason, memory.get(faded).reason} == {"expired", "faded"}
    world.mind.verdicts = [verdict("ADD", None, "compatible"), verdict("DELETE", None, "contradictory")]
    memory.add("The cellar of the barn is no longer half dug")
    assert [candidate.memory.id for candidate in world.mind.asked[-1][1][0].candidates] == [old]
    assert memory.get(old).phase == "retracted"


def test_a_repeated_superseded_fact_is_added_again(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo lives in Bern")
    world.mind.verdicts = [verdict("UPDATE", "Matteo lives in Rome", "contradictory")]
    memory.add("Matteo lives in Rome")
    world.mind.verdicts = [verdict("UPDATE", "Matteo lives in Bern", "contradictory")]
    memory.add("Matteo lives in Bern")
    assert texts(memory) == {"Matteo lives in Bern"}
    assert len(memory.get_all(phases=["superseded"])) == 2


def test_a_contradiction_supersedes_the_old_fact_and_sets_its_end(
    world: "World", verdict: "Says", only: "Only"
) -> None:
    memory = world.open()
    old = memory.add("Matteo lives in a large flat near the lake in Zurich").ids[0]
    world.later(days=30)
    world.mind.verdicts = [verdict("UPDATE", "Matteo lives in Bern", "contradictory", because="he moved")]
    memory.add("Matteo lives in Bern")
    new = only(memory)
    gone = memory.get(old)
    assert (gone.phase, gone.reason, gone.superseded_by) == ("superseded", "replaced", new.id)
    assert gone.valid_to == world.clock()
    assert new.text == "Matteo lives in Bern"
    assert any("he moved" in event.operation.because for event in memory.history(old))


@pytest.mark.parametrize(
    ("wording", "rests_on"),
    [
        ("Alice owns the deploy pipeline since 2019, with Bert", {"a-1", "b-1"}),
        ("Alice owns the deploy pipeline with Bert", {"b-1"}),
    ],
)
def test_a_replacement_rests_on_the_messages_that_prove_its_details(
    world: "World", talk: "Talk", verdict: "Says", only: "Only", wording: str, rests_on: set[str]
) -> None:
    memory = world.open()
    first, then = "Alice owns the deploy pipeline alone since 2019", "Alice owns the deploy pipeline with Bert now"
    world.mind.facts = (Fact(text=first, category="person", turn=1, quote=first),)
    memory.add_messages(talk(first, ids="a"), conversation="a")
    memory.consolidate("a", force=True)
    world.later(days=30)
    world.mind.facts = (Fact(text=then, category="person", turn=1, quote=then),)
    world.mind.verdicts = [verdict("UPDATE", wording, "contradictory")]
    memory.add_messages(talk(then, ids="b", start=world.clock()), conversation="b")
    memory.consolidate("b", force=True)
    fact = only(memory)
    assert fact.text == wording
    assert {source.ref for source in fact.sources} == rests_on


def test_a_compatible_update_merges_in_place_and_keeps_all_sources(
    world: "World", verdict: "Says", only: "Only"
) -> None:
    memory = world.open()
    first = memory.add("Matteo likes espresso").ids[0]
    world.mind.verdicts = [verdict("UPDATE", "Matteo likes espresso with oat milk", "subsumes")]
    receipt = memory.add("Matteo likes espresso with oat milk")
    fact = only(memory)
    assert (fact.id, fact.text, fact.version) == (first, "Matteo likes espresso with oat milk", 2)
    assert receipt.ids == ()
    assert memory.search("oat milk")[0].memory.id == first, "the new words are indexed"


def test_a_merge_that_loses_a_detail_is_refused(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo pays 300 francs rent to Anna")
    world.mind.verdicts = [verdict("UPDATE", "Matteo pays rent", "compatible")]
    receipt = memory.add("Matteo pays 500 francs rent to Bert")
    assert texts(memory) == {"Matteo pays 300 francs rent to Anna", "Matteo pays 500 francs rent to Bert"}
    assert receipt.problems
    assert [link.kind for link in memory.links(receipt.ids[0])] == ["close"]


def test_an_update_with_invented_words_keeps_the_original_text(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    world.mind.verdicts = [verdict("UPDATE", "Matteo lives in Springfield with John Doe", "contradictory")]
    assert memory.add("Matteo lives in Bern").problems
    assert texts(memory) == {"Matteo lives in Bern"}


@pytest.mark.parametrize("words", ["Matteo lives in Zurich", "  ", "Matteo"])
def test_a_contradiction_never_loses_the_new_fact_to_other_words(
    world: "World", verdict: "Says", texts: "Texts", words: str
) -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    world.mind.verdicts = [verdict("UPDATE", words, "contradictory")]
    memory.add("Matteo lives in Bern")
    assert texts(memory) == {"Matteo lives in Bern"}


def test_a_merged_text_that_a_third_memory_has_is_not_stored_twice(
    world: "World", verdict: "Says", texts: "Texts"
) -> None:
    memory = world.open()
    memory.add("Matteo likes tea")
    memory.add("Matteo likes tea and cake")
    world.mind.verdicts = lambda cases: [
        verdict("UPDATE", "Matteo likes tea and cake", "compatible", memory=number)
        for number in (c.number for c in cases[0].candidates if c.memory.text == "Matteo likes tea")
    ]
    memory.add("Matteo likes cake")
    assert texts(memory) == {"Matteo likes tea", "Matteo likes tea and cake", "Matteo likes cake"}


def test_delete_retracts_and_keeps_the_new_fact(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    old = memory.add("Matteo uses a standing desk").ids[0]
    world.later(days=1)
    world.mind.verdicts = [verdict("DELETE", relation="contradictory")]
    memory.add("Matteo switched back to sitting")
    assert texts(memory) == {"Matteo switched back to sitting"}
    assert (memory.get(old).phase, memory.get(old).valid_to) == ("retracted", world.clock())


def test_noop_reinforces_the_known_fact(world: "World", verdict: "Says", only: "Only") -> None:
    memory = world.open()
    memory.add("Matteo is allergic to shellfish")
    world.later(days=10)
    world.mind.verdicts = [verdict("NOOP", relation="subsumed")]
    receipt = memory.add("Matteo can't eat prawns because of a shellfish allergy")
    fact = only(memory)
    assert (fact.accesses, fact.used_at) == (1, world.clock())
    assert fact.valid_from == world.clock(), "an older message does not replace what was said again since"
    assert receipt.notes == ("already known: 'Matteo is allergic to shellfish'",)


def test_a_fact_that_says_more_takes_its_newer_date_and_an_event_keeps_its_day(
    world: "World", verdict: "Says", only: "Only"
) -> None:
    memory = world.open()
    memory.add("Matteo skis")
    world.later(days=10)
    world.mind.verdicts = [verdict("UPDATE", "Matteo skis on telemark skis", "subsumes")]
    memory.add("Matteo skis on telemark skis")
    assert only(memory).valid_from == world.clock()
    world.mind.verdicts = [verdict("ADD", memory=None)]
    event = memory.add("Matteo won the harbour race", kind="episodic").ids[0]
    began = world.clock()
    world.later(days=10)
    memory.add("Matteo won the harbour race", kind="episodic")
    assert memory.get(event).valid_from == began
    world.later(days=10)
    fuller = "Matteo won the harbour race in a blue boat"
    world.mind.verdicts = [verdict("UPDATE", fuller, "subsumes")]
    memory.add(fuller, kind="episodic")
    assert (memory.get(event).text, memory.get(event).valid_from) == (fuller, began)


def test_a_noop_that_loses_a_detail_stores_both_facts(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo pays 300 francs rent")
    world.mind.verdicts = [verdict("NOOP", relation="subsumed")]
    receipt = memory.add("Matteo pays 500 francs rent")
    assert texts(memory) == {"Matteo pays 300 francs rent", "Matteo pays 500 francs rent"}
    assert "does not say '500'" in receipt.problems[0]


def test_two_names_of_one_subject_do_not_count_as_a_missing_detail(
    world: "World", verdict: "Says", only: "Only"
) -> None:
    memory = world.open()
    memory.add("The user prefers oat milk", subject="the user")
    world.mind.verdicts = [verdict("NOOP", relation="subsumed")]
    memory.add("Matteo prefers oat milk", subject="Matteo")
    assert only(memory).accesses == 1


def test_a_link_verdict_stores_both_facts_and_links_them(world: "World", verdict: "Says") -> None:
    memory = world.open()
    memory.add("Matteo runs 5 km")
    world.mind.verdicts = [verdict("LINK", relation="value changed?")]
    new = memory.add("Matteo runs 10 km").ids[0]
    assert len(memory.get_all()) == 2
    assert [link.kind for link in memory.links(new)] == ["value changed?"]


def test_one_fact_may_replace_one_memory_and_retract_another(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    memory.add("Matteo works at Acme")
    world.mind.verdicts = [
        verdict("UPDATE", "Matteo left Zurich and Acme", "contradictory", memory=1),
        verdict("DELETE", relation="contradictory", memory=2),
    ]
    memory.add("Matteo left Zurich and Acme")
    assert texts(memory) == {"Matteo left Zurich and Acme"}


def test_contradicting_verdicts_on_one_memory_are_one_change(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    world.mind.verdicts = [
        verdict("UPDATE", "Matteo lives in Bern", "contradictory"),
        verdict("DELETE", relation="contradictory"),
        verdict("UPDATE", "Matteo lives in Bern", "contradictory"),
    ]
    memory.add("Matteo lives in Bern")
    assert texts(memory) == {"Matteo lives in Bern"}


def test_verdicts_on_unknown_numbers_change_nothing_else(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    world.mind.verdicts = [verdict("DELETE", memory=99), verdict("UPDATE", "x", memory=None), verdict("NOOP", fact=7)]
    memory.add("Matteo lives in Bern")
    assert texts(memory) == {"Matteo lives in Zurich", "Matteo lives in Bern"}


def _stated(memory: AgentMemory, *texts: str) -> Receipt:
    """One batch of facts, applied."""
    return add_facts(memory.ports, tuple(Fact(text=text) for text in texts))


def test_equal_facts_of_one_batch_are_stored_once(world: "World", texts: "Texts") -> None:
    memory = world.open()
    _stated(memory, "Alice owns the pipeline", "alice owns the pipeline!")
    assert texts(memory) == {"Alice owns the pipeline"}


def test_a_verdict_on_a_fact_of_the_batch_applies_to_the_memory_that_holds_it(
    world: "World", verdict: "Says", texts: "Texts"
) -> None:
    """A verdict on it used to name a memory that was never stored, and the batch was refused."""
    memory = world.open()
    memory.add("Matteo likes espresso")

    def says(cases: Sequence[ReconcileCase]) -> list[Verdict]:
        second = next(c.number for c in cases[1].candidates if c.memory.text == "Matteo enjoys espresso")
        return [
            verdict("NOOP", relation="subsumed"),
            verdict("UPDATE", "Matteo likes espresso and cake", "subsumes", fact=2, memory=second),
        ]

    world.mind.verdicts = says
    _stated(memory, "Matteo enjoys espresso", "Matteo likes espresso and cake")
    assert texts(memory) == {"Matteo likes espresso and cake"}


def test_a_verdict_on_a_refused_fact_of_the_batch_changes_nothing(world: "World", verdict: "Says") -> None:
    memory = world.open()
    memory.delete(memory.add("Matteo hates rain").ids[0])
    world.mind.verdicts = lambda cases: [
        verdict("UPDATE", "Matteo hates rain and snow", "subsumes", fact=case.number, memory=case.candidates[0].number)
        for case in cases
    ]
    made = reconcile(
        memory.ports,
        [Fact(text="Matteo hates rain"), Fact(text="Matteo hates rain and snow")],
        now=world.clock(),
        stated=False,
    )
    assert [fact.text for fact in made.facts] == ["Matteo hates rain and snow"]


def test_a_deleted_fact_stays_suppressed_until_a_person_states_it_again(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts"
) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    memory.consolidate("c")
    gone = next(fact for fact in memory.get_all() if fact.category == "person")
    memory.delete(gone.id)
    memory.add_messages(talk(ids="again"), conversation="d")
    result = memory.consolidate("d")
    assert gone.text not in texts(memory)
    assert not any(fact.text == gone.text for fact in result.facts)
    memory.add(gone.text)
    assert gone.text in texts(memory)
    memory.add_messages(talk(ids="third"), conversation="e")
    memory.consolidate("e")
    assert gone.text in texts(memory)


@pytest.mark.parametrize("removal", ["delete", "undo", "erase"])
def test_a_new_message_of_a_person_returns_what_was_removed_and_old_messages_do_not(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts", removal: str
) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    run = memory.consolidate("c")
    gone = next(fact for fact in memory.get_all() if fact.category == "person")
    world.later(days=1)
    match removal:
        case "delete":
            memory.delete(gone.id)
        case "undo":
            memory.undo(run.run_id)
        case "erase":
            memory.erase(id=gone.id)
    world.later(days=1)
    memory.add_messages(talk(ids="old"), conversation="d")
    memory.consolidate("d")
    assert gone.text not in texts(memory), "the messages carry the time before the removal"
    memory.add_messages(talk(ids="new", start=world.clock()), conversation="e")
    memory.consolidate("e")
    assert gone.text in texts(memory)


def test_an_assistant_does_not_return_what_a_person_deleted(world: "World", texts: "Texts") -> None:
    memory = world.open()
    memory.delete(memory.add("Alice owns the deploy pipeline").ids[0])
    world.later(days=1)
    said = [Message(role="assistant", content="Alice owns the deploy pipeline.", at=world.clock())]
    quote = "Alice owns the deploy pipeline"
    world.mind.facts = (Fact(text=quote, category="person", turn=1, quote=quote),)
    memory.add_messages(said, conversation="c")
    memory.consolidate("c", force=True)
    assert texts(memory) == set()


def test_a_distilled_fact_is_linked_with_a_pinned_memory_and_does_not_change_it(
    world: "World", talk: "Talk", verdict: "Says", texts: "Texts"
) -> None:
    memory = world.open()
    pinned = memory.add("Matteo lives in Zurich").ids[0]
    memory.pin(pinned)
    world.mind.facts = [Fact(text="Matteo lives in Bern", turn=1, quote="I, Matteo, live in Bern")]
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory"), verdict("DELETE", relation="contradictory")]
    memory.add_messages(talk("I, Matteo, live in Bern now", "Good."), conversation="c")
    result = memory.consolidate("c", force=True)
    assert texts(memory) == {"Matteo lives in Zurich", "Matteo lives in Bern"}
    assert [link.kind for link in memory.links(pinned)] == ["conflict?"]
    assert not result.problems


def test_a_repeated_pinned_memory_is_reinforced(world: "World", talk: "Talk", verdict: "Says", only: "Only") -> None:
    memory = world.open()
    memory.pin(memory.add("Matteo lives in Zurich").ids[0])
    world.mind.facts = [Fact(text="Matteo is living in Zurich", turn=1, quote="Matteo, live in Zurich")]
    world.mind.verdicts = [verdict("NOOP")]
    memory.add_messages(talk("I, Matteo, live in Zurich", "Good."), conversation="c")
    memory.consolidate("c", force=True)
    assert only(memory).accesses == 1


def test_a_person_who_replaces_a_pinned_memory_keeps_the_pin(world: "World", verdict: "Says", only: "Only") -> None:
    memory = world.open()
    memory.pin(memory.add("Matteo lives in Zurich").ids[0])
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    memory.add("Matteo lives in Bern")
    assert (only(memory).text, only(memory).pinned) == ("Matteo lives in Bern", True)


@pytest.mark.parametrize(("op", "relation"), [("DELETE", "contradictory"), ("UPDATE", "subsumes")])
def test_a_mind_alone_neither_rewords_nor_retracts_what_a_person_stated(
    world: "World", talk: "Talk", verdict: "Says", texts: "Texts", op: str, relation: str
) -> None:
    memory = world.open()
    memory.add("Matteo likes espresso")
    world.mind.facts = [Fact(text="Matteo likes espresso and cake", turn=1, quote="Matteo, like espresso and cake")]
    world.mind.verdicts = [verdict(op, relation=relation)]
    memory.add_messages(talk("I, Matteo, like espresso and cake", "Good."), conversation="c")
    memory.consolidate("c", force=True)
    assert texts(memory) == {"Matteo likes espresso", "Matteo likes espresso and cake"}


def test_a_scope_never_changes_its_ancestors(world: "World", verdict: "Says", texts: "Texts") -> None:
    above = world.open(scope="acme")
    above.add("Matteo lives in Zurich")
    below = world.open(scope="acme/alice", inherit=True)
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    below.add("Matteo lives in Bern")
    assert texts(above) == {"Matteo lives in Zurich"}
    assert texts(below) == {"Matteo lives in Bern"}
    assert {hit.text for hit in below.search("where does Matteo live?")} == texts(above) | texts(below)


def test_a_fact_is_stored_without_vectors_if_the_embedder_fails(world: "World") -> None:
    memory = world.open()
    world.embedder.fails = RuntimeError("no network")
    receipt = memory.add("Alice owns the deploy pipeline")
    assert "no network" in receipt.problems[0]
    assert memory.search("who owns deploys?")[0].text == "Alice owns the deploy pipeline"
    assert memory.status().unembedded == 1
    world.embedder.fails = None
    memory.sleep()
    assert memory.status().unembedded == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": ""},
        {"text": 7},
        {"text": "x", "kind": "message"},
        {"text": "x", "category": ""},
        {"text": "x", "category": None},
        {"text": "x", "importance": float("nan")},
        {"text": "x", "importance": True},
        {"text": "x", "importance": "high"},
        {"text": "x", "metadata": {"n": {1: 2}}},
        {"text": "x", "metadata": ["n"]},
        {"text": "x", "subject": " "},
    ],
)
def test_an_invalid_fact_is_refused_and_nothing_is_stored(world: "World", wrong: dict[str, Any]) -> None:
    memory = world.open()
    with pytest.raises(InputError):
        memory.add(wrong.pop("text"), **wrong)
    assert memory.runs() == []
