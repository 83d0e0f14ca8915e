"""Finding: filters, the past as it was and as it was known, marks, pairs; and that finding changes nothing."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import InputError
from slowwave.model.mind import Fact

if TYPE_CHECKING:
    from tests.conftest import Says, Talk, Told, World


def _found(memory: AgentMemory, query: str, **filters: object) -> list[str]:
    return [hit.text for hit in memory.search(query, **filters)]


def test_searching_changes_nothing(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    memory.add_messages(talk(), conversation="c")
    before, facts = memory.ports.store.sequence("t"), memory.get_all()
    memory.search("who owns deploys?")
    memory.search("Argon2", deep=True, as_of=world.clock(), known_at=world.clock())
    memory.search_knowledge("deadline")
    memory.context("deadline")
    memory.core()
    memory.explain(facts[0].id)
    memory.status()
    assert (memory.ports.store.sequence("t"), memory.get_all()) == (before, facts)


def test_messages_are_found_at_once_and_name_themselves_as_source(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(), conversation="c")
    hit = memory.search("what salt does Argon2 use?")[0]
    assert hit.text == "Our auth service uses Argon2 with a 12-byte salt."
    assert [str(source) for source in hit.sources] == ["m-3"]
    assert sum(hit.parts.values()) == pytest.approx(hit.score)


def test_a_fact_and_its_message_are_hits_of_their_own(world: "World", talk: "Talk", facts: tuple[Fact, ...]) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    memory.consolidate("c")
    hits = memory.search("who owns the deploy pipeline?")[:2]
    assert {(hit.memory.kind, hit.text) for hit in hits} == {
        ("message", "Alice owns the deploy pipeline."),
        ("semantic", "Alice owns the deploy pipeline"),
    }
    assert {str(source) for hit in hits for source in hit.sources} == {"m-7"}
    alone = memory.search_knowledge("who owns the deploy pipeline?")[0]
    assert (alone.memory.kind, alone.text) == ("semantic", "Alice owns the deploy pipeline")
    assert [str(source) for source in alone.sources] == ["m-7"]
    assert memory.search("deploy", kinds=["semantic"])[0].text == "Alice owns the deploy pipeline"


def test_filters_apply(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline", category="person")
    world.later(days=10)
    memory.add("The deploy pipeline runs on Tuesdays", category="project")
    memory.add_messages(talk("The deploy pipeline broke", start=world.clock()), conversation="c")
    assert _found(memory, "deploy pipeline", categories=["person"]) == ["Alice owns the deploy pipeline"]
    assert _found(memory, "deploy pipeline", conversation="c") == ["The deploy pipeline broke"]
    assert _found(memory, "deploy pipeline", kinds=["message"]) == ["The deploy pipeline broke"]
    first = world.clock() - timedelta(days=5)
    assert _found(memory, "deploy pipeline", until=first) == ["Alice owns the deploy pipeline"]
    assert "Alice owns the deploy pipeline" not in _found(memory, "deploy pipeline", since=first)
    assert len(_found(memory, "deploy pipeline", top_k=1)) == 1
    assert _found(memory, "deploy pipeline", categories=[]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"top_k": 0},
        {"top_k": True},
        {"top_k": 1.5},
        {"kinds": ["fact"]},
        {"kinds": "semantic"},
        {"categories": "person"},
        {"since": "2026-01-01"},
        {"as_of": "yesterday"},
    ],
)
def test_invalid_filters_are_refused(world: "World", wrong: dict[str, object]) -> None:
    memory = world.open()
    with pytest.raises(InputError):
        memory.search("deploys", **wrong)


def test_a_question_must_be_text_and_ask_something(world: "World") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    with pytest.raises(InputError, match=r"is of type .*: pass text"):
        memory.search(7)
    for empty in ("", "  \n"):
        with pytest.raises(InputError, match="the question is empty: give the words"):
            memory.search(empty)
    for odd in ("?", "\x00\ud800", "the of and", "x" * 100_000):
        memory.search(odd)


def test_as_of_returns_what_was_true_then_even_if_superseded_later(world: "World", verdict: "Says") -> None:
    memory = world.open()
    start = world.clock()
    old = memory.add("Matteo lives in Zurich").ids[0]
    world.later(days=30)
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    memory.add("Matteo lives in Bern")
    world.later(days=30)
    memory.delete(memory.get_all()[0].id)
    query = "where does Matteo live?"
    assert _found(memory, query) == []
    assert _found(memory, query, as_of=start + timedelta(days=1)) == ["Matteo lives in Zurich"]
    assert _found(memory, query, as_of=start + timedelta(days=30)) == ["Matteo lives in Bern"]
    assert _found(memory, query, as_of=start + timedelta(days=61)) == []
    assert _found(memory, query, as_of=start - timedelta(days=1)) == []
    assert not memory.search(query, as_of=start)[0].stale
    memory.revive(old)
    assert _found(memory, query, as_of=start + timedelta(days=61)) == ["Matteo lives in Zurich"]


def test_known_at_returns_what_was_known_then_in_the_words_of_then(world: "World") -> None:
    memory = world.open()
    start = world.clock()
    world.later(days=1)
    fact = memory.add("Alice owns the deploy pipeline").ids[0]
    world.later(days=1)
    memory.update(fact, "Bob owns the deploy pipeline")
    world.later(days=1)
    memory.delete(fact)
    query = "who owns the deploy pipeline?"
    assert _found(memory, query, known_at=start) == []
    assert _found(memory, query, known_at=start + timedelta(days=1)) == ["Alice owns the deploy pipeline"]
    assert _found(memory, query, known_at=start + timedelta(days=2)) == ["Bob owns the deploy pipeline"]
    assert _found(memory, query, known_at=start + timedelta(days=3)) == []
    assert _found(memory, query, known_at=start + timedelta(days=3), deep=True) == ["Bob owns the deploy pipeline"]


def test_as_of_and_known_at_can_be_combined(world: "World", verdict: "Says") -> None:
    """He moved on day 10, we heard of it on day 20."""
    memory = world.open()
    start = world.clock()
    memory.add("Matteo lives in Zurich")
    world.later(days=20)
    said = Message(role="user", content="I, Matteo, live in Bern", at=start + timedelta(days=10))
    memory.add_message(said, conversation="c")
    world.mind.facts = [Fact(text="Matteo lives in Bern", turn=1, quote="Matteo, live in Bern")]
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    memory.consolidate("c", force=True)
    day = start + timedelta(days=15)
    query = "where does Matteo live?"
    assert [hit.text for hit in memory.search(query, kinds=["semantic"], as_of=day)] == ["Matteo lives in Bern"]
    then = memory.search(query, kinds=["semantic"], as_of=day, known_at=day)
    assert [hit.text for hit in then] == ["Matteo lives in Zurich"]


def test_deep_search_marks_its_extra_hits_and_lowers_outdated_ones(world: "World", verdict: "Says") -> None:
    memory = world.open(deep_recall_penalty=0.5)
    memory.add("Matteo lives in Zurich by the lake", kind="episodic")
    before = memory.search("Matteo in Zurich by the lake")[0].score
    world.fade(memory, below=0.1)
    memory.sleep()
    assert _found(memory, "Zurich lake") == []
    (cold,) = memory.search("Matteo in Zurich by the lake", deep=True)
    assert (cold.deep, cold.stale, cold.because) == (True, False, "faded")
    assert cold.score == pytest.approx(before), "a phase changes no score"
    memory.revive(cold.memory.id)
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    memory.add("Matteo lives in Bern")
    old = next(hit for hit in memory.search("Matteo in Zurich by the lake", deep=True) if "Zurich" in hit.text)
    assert (old.deep, old.stale, old.because) == (True, True, "replaced")
    assert "outdated" in old.parts


def test_an_outdated_fact_repeated_verbatim_is_not_restored(world: "World", verdict: "Says") -> None:
    memory = world.open(deep_recall_penalty=0.01)
    memory.add("Matteo lives in Zurich by the lake")
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    memory.add("Matteo lives in Bern by the river")
    near, exact = "Does Matteo live in Zurich by the lake?", "matteo lives in  Zurich by the lake."
    assert [hit.text[:22] for hit in memory.search(near, deep=True)] == [
        "Matteo lives in Bern b",
        "Matteo lives in Zurich",
    ]
    (first,) = memory.search(exact, deep=True, top_k=1)
    assert (first.text, first.stale) == ("Matteo lives in Zurich by the lake", True)
    assert "outdated" not in first.parts
    assert [hit.stale for hit in memory.search(exact)] == [False]


def test_the_newer_value_ranks_above_the_marked_older_one(world: "World", improved: "Told") -> None:
    memory = world.open(embedder="none")
    improved(memory)
    hits = memory.search("What is the average response time of the dashboard API?", top_k=2)
    assert [hit.text[-6:] for hit in hits] == ["250ms.", "800ms."]
    assert [hit.stale for hit in hits] == [False, True]
    assert hits[1].because == "A later message says 250ms where this one says 800ms."
    (first,) = memory.search("What is the average response time of the dashboard API?", top_k=1)
    assert first.text.endswith("250ms.")


def test_a_summary_of_a_long_stretch_is_no_older_value(world: "World", talk: "Talk") -> None:
    memory = world.open(immediate_window=1, recent_window=1)
    older = "The dashboard API has an average response time of 800ms."
    newer = "The dashboard API response time recently improved to 250ms."
    memory.add_messages(talk(older, "So it is.", newer, "Now too."), conversation="a")
    memory.sleep()
    hits = memory.search("What is the average response time of the dashboard API?", kinds=["summary"])
    assert sum(older in hit.text for hit in hits) > 0 < sum(newer in hit.text for hit in hits)
    assert not any(hit.stale for hit in hits)


def _contradicting(world: "World", memory: AgentMemory, verdict: "Says") -> None:
    memory.add("Matteo lives in Zurich", category="person")
    world.mind.verdicts = [verdict("LINK", relation="conflict?")]
    memory.add("Rain falls where Matteo sleeps", category="observation")


def test_a_contradiction_is_shown_directly_below(world: "World", verdict: "Says") -> None:
    memory = world.open()
    _contradicting(world, memory, verdict)
    hits = memory.search("who lives in Zurich?", top_k=2)
    assert [hit.text for hit in hits] == ["Matteo lives in Zurich", "Rain falls where Matteo sleeps"]


def test_a_contradiction_obeys_the_filters(world: "World", verdict: "Says") -> None:
    memory = world.open()
    _contradicting(world, memory, verdict)
    shown = _found(memory, "who lives in Zurich?", top_k=5, categories=["person"])
    assert shown == ["Matteo lives in Zurich"]
    other = next(fact for fact in memory.get_all() if fact.text.startswith("Rain"))
    memory.delete(other.id)
    assert _found(memory, "who lives in Zurich?") == ["Matteo lives in Zurich"]
    deep = {hit.text: hit for hit in memory.search("Zurich", top_k=5, deep=True)}
    assert deep["Rain falls where Matteo sleeps"].deep


def test_profiles_rank_by_strength_and_by_importance(world: "World") -> None:
    for profile in ("evidence", "generative_agents", "retention"):
        memory = world.open(ranking_profile=profile, scope=f"t/{profile}")
        memory.add("Alice plays chess on Mondays", importance=0.1, kind="episodic")
        world.later(days=60)
        memory.add("Alice plays chess on Fridays", importance=1.0)
        hits = memory.search("When does Alice play chess?", top_k=2)
        if profile != "evidence":
            assert hits[0].text == "Alice plays chess on Fridays", profile
            assert set(hits[1].parts) - {"lexical", "meaning"}, profile


def test_another_scope_changes_no_score(world: "World") -> None:
    memory = world.open(scope="a")
    memory.add("Alice owns the deploy pipeline")
    before = [(hit.text, hit.score) for hit in memory.search("who owns the deploy pipeline?")]
    other = world.open(scope="a/b")
    for n in range(30):
        other.add(f"The deploy pipeline number {n} is owned by team {n}")
    assert [(hit.text, hit.score) for hit in memory.search("who owns the deploy pipeline?")] == before


def test_an_embedder_that_is_down_costs_the_meaning_and_not_the_answer(world: "World") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    world.embedder.fails = RuntimeError("no network")
    assert _found(memory, "who owns deploys?") == ["Alice owns the deploy pipeline"]


def test_the_user_bonus_applies_if_the_question_says_our_and_names_no_speaker(world: "World") -> None:
    memory = world.open()
    memory.add_message(Message(role="user", content="Alice owns deploys"), conversation="c")
    (hit,) = memory.search("who owns our deploys?")
    assert hit.parts["user"] > 0
    assert "asked" not in hit.parts
    assert sum(hit.parts.values()) == pytest.approx(hit.score)


def test_a_message_without_a_vector_is_found_first_by_its_exact_words(world: "World") -> None:
    world.open(embedder="none").add_message(Message(role="user", content="Juno keeps bees by the north wall"))
    memory = world.open(embedder="static")
    memory.add_message(Message(role="user", content="The bees of Juno sleep by the southern wall"), conversation="d")
    first, second = memory.search("Juno keeps bees by the north wall")
    assert first.text == "Juno keeps bees by the north wall"
    assert first.parts["estimated"] == pytest.approx(0.7 * first.parts["words"])
    assert "meaning" not in first.parts
    assert "estimated" not in second.parts
    memory.reembed()
    assert not any("estimated" in hit.parts for hit in memory.search("Juno keeps bees by the north wall"))


def test_a_memory_erased_during_a_search_is_not_returned(world: "World", monkeypatch: pytest.MonkeyPatch) -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    memory.add("Alice keeps the deploy keys")
    store, found = memory.ports.store, memory.ports.store.search

    def meanwhile(*asked: Any) -> Any:  # noqa: ANN401  # those of the store
        ranked = found(*asked)
        monkeypatch.setattr(store, "search", found)
        memory.erase(id=ranked[0].id)
        return ranked

    monkeypatch.setattr(store, "search", meanwhile)
    assert len(memory.search("deploy")) == 1


def test_a_use_counts_at_once_where_use_ranks(world: "World") -> None:
    memory = world.open(ranking_profile="generative_agents")
    memory.add("Alice owns the deploy pipeline")
    world.clock.advance(days=40)
    before = memory.search("deploy")[0].score
    memory.record_retrieval(memory.get_all())
    assert memory.search("deploy")[0].score > before
