"""Undo takes back every kind of run, with all that rests on it, and what was taken back is held."""

from typing import TYPE_CHECKING, Any

import pytest

from slowwave import AgentMemory, Message, Plan, Receipt, Run
from slowwave.errors import ConflictError, InputError, NotFoundError
from slowwave.model.mind import Fact
from slowwave.model.operations import Suppress
from slowwave.pipelines.ingest.chunks import CURSOR
from slowwave.policy.retention.policies import RESTORED
from slowwave.stores.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.conftest import Only, Says, Talk, Texts, World

HIKES = (
    "User went hiking at Mount Rainier on March 12, 2024",
    "User went kayaking at Lake Washington on March 15, 2024",
    "User ran a 5K in Fremont on March 20, 2024",
    "User went rock climbing at Stone Gardens on March 25, 2024",
    "User joined a cycling club on March 28, 2024",
)


def _last(memory: AgentMemory, cause: str) -> str:
    return next(run.id for run in memory.runs(None) if run.cause == cause)


def test_an_erased_stated_fact_may_be_stated_again(world: "World", texts: "Texts") -> None:
    memory = world.open()
    receipt = memory.add("Alice owns the deploy pipeline")
    (undone,) = memory.undo(receipt.run_id)
    assert undone.cause == "undo"
    assert texts(memory) == set()
    assert not memory.search("deploy pipeline")
    memory.add("Alice owns the deploy pipeline")
    assert texts(memory) == {"Alice owns the deploy pipeline"}


def test_an_undone_fact_was_true_at_no_time(world: "World") -> None:
    memory = world.open()
    receipt = memory.add("Alice owns the deploy pipeline")
    world.later(days=10)
    memory.undo(receipt.run_id)
    assert not memory.search("deploy pipeline", as_of=world.clock())


def test_undoing_an_undo_brings_it_back(world: "World", texts: "Texts") -> None:
    memory = world.open()
    receipt = memory.add("Alice owns the deploy pipeline")
    before = memory.get(receipt.ids[0])
    (first,) = memory.undo(receipt.run_id)
    memory.undo(first.run_id)
    after = memory.get(receipt.ids[0])
    assert (after.phase, after.reason, after.valid_to) == (before.phase, before.reason, before.valid_to)
    assert texts(memory) == {"Alice owns the deploy pipeline"}
    assert memory.search("deploy pipeline")


def test_an_undone_change_of_words_is_found_again(world: "World") -> None:
    """The index entry went with the words, and nothing found the memory any more."""
    memory = world.open()
    fact = memory.add("Alice owns the deploy pipeline").ids[0]
    edit = memory.update(fact, "Bob owns the release train")
    assert memory.search("release train")[0].memory.id == fact
    memory.undo(edit.run_id)
    assert memory.get(fact).text == "Alice owns the deploy pipeline"
    assert memory.search("deploy pipeline")[0].memory.id == fact


def test_an_undone_merge_restores_the_words_of_both(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Matteo likes espresso")
    world.mind.verdicts = [verdict("UPDATE", None, "subsumes")]
    merge = memory.add("Matteo likes espresso with oat milk")
    assert texts(memory) == {"Matteo likes espresso with oat milk"}
    memory.undo(merge.run_id)
    assert texts(memory) == {"Matteo likes espresso"}
    assert memory.search("espresso")


def test_an_undone_contradiction_makes_the_old_true_again(world: "World", verdict: "Says", only: "Only") -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    change = memory.add("Matteo lives in Bern")
    memory.undo(change.run_id)
    old = only(memory)
    assert (old.text, old.valid_to, old.superseded_by, old.reason) == ("Matteo lives in Zurich", None, None, None)
    assert RESTORED in old.flags


def test_deletes_pins_and_revivals_are_undone(world: "World", texts: "Texts", only: "Only") -> None:
    memory = world.open()
    fact = memory.add("Alice owns the deploy pipeline").ids[0]
    pin = memory.pin(fact)
    assert only(memory).pinned
    memory.undo(pin.run_id)
    assert not only(memory).pinned
    gone = memory.delete(fact)
    assert texts(memory) == set()
    revived = memory.revive(fact)
    assert texts(memory) == {"Alice owns the deploy pipeline"}
    memory.undo(revived.run_id)
    memory.undo(gone.run_id, cascade=True)
    assert texts(memory) == {"Alice owns the deploy pipeline"}


def test_undo_of_added_messages_retracts_them(world: "World", talk: "Talk") -> None:
    memory = world.open()
    receipt = memory.add_messages(talk(), conversation="c")
    memory.undo(receipt.run_id)
    assert memory.get_conversation_messages("c") == []
    assert not memory.search("Argon2")
    assert len(memory.get_all(kinds=["message"], phases=["retracted"])) == 8


def test_an_undone_consolidation_suppresses_its_facts_and_rewinds_the_cursor(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts"
) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    result = memory.consolidate("c")
    (receipt,) = memory.undo(result.run_id)
    assert texts(memory) == set()
    assert memory.status().unread == 8
    assert sum(isinstance(one, Suppress) for one in receipt.applied) == 4
    other = Fact(text="Alice owns the pipeline", turn=7, quote="Alice owns the deploy pipeline")
    world.mind.facts = (*facts, other)
    again = memory.consolidate("c")
    assert texts(memory) == {other.text}
    assert [fact.text for fact in again.facts] == [other.text]


def test_an_older_consolidation_is_undone_without_reading_the_newer_messages_again(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts"
) -> None:
    memory = world.open()
    world.mind.facts = facts[:1]
    memory.add_messages(talk(), conversation="c")
    first = memory.consolidate("c")
    memory.add_messages(talk(ids="more"), conversation="c")
    world.mind.facts = facts[3:]
    memory.consolidate("c")
    (receipt,) = memory.undo(first.run_id)
    assert not receipt.dropped
    assert texts(memory) == {facts[3].text}
    assert memory.ports.store.conversation("t", "c").cursor(CURSOR) == 16
    assert any("not read again" in note for note in receipt.notes)


def test_uses_are_undone_exactly_even_after_later_ones(world: "World", only: "Only") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    memory.add("Bob owns the release train")
    world.later(days=3)
    memory.record_retrieval(memory.search_knowledge("who owns what?"))
    first = _last(memory, "use")
    world.later(days=3)
    memory.record_retrieval(memory.search_knowledge("who owns what?"))
    memory.undo(first)
    fact = only(memory, "Alice")
    assert fact.accesses == 1
    assert fact.used_at == world.clock()
    (link,) = [link for link in memory.links(fact.id) if link.kind == "association"]
    assert link.weight == pytest.approx(0.1, abs=0.005), "one join, faded by three days"
    memory.undo(_last(memory, "use"))
    assert only(memory, "Alice").accesses == 0
    assert memory.links(fact.id) == []


def test_an_older_undo_in_a_row_of_undos_is_not_applied_twice(world: "World") -> None:
    memory = world.open()
    fact, other = memory.add_all(["Alice owns the deploy pipeline", "Bob paints canoes"]).ids
    for day in range(3):
        world.later(days=1)
        memory.record_retrieval([fact, other], session=f"s{day}")
    used = _last(memory, "use")

    def counts() -> tuple[int, int, float]:
        weight = sum(link.weight for link in memory.links(fact))
        return (memory.get(fact).accesses, memory.get(fact).sessions, round(weight, 5))

    before = counts()
    (first,) = memory.undo(used)
    without = counts()
    (again,) = memory.undo(first.run_id)
    (last,) = memory.undo(used)
    assert (before[:2], without[:2], counts()) == ((3, 3), (2, 2), without)
    (known,) = memory.undo(again.run_id)
    assert (known.applied, counts()) == ((), without), "the use that it restored is undone"
    assert last.run_id in str(known)
    (restored,) = memory.undo(first.run_id)
    assert counts() == before, "any undo of the use may be undone"
    for done in (last.run_id, first.run_id):
        (known,) = memory.undo(done)
        assert (known.applied, counts()) == ((), before)
        assert restored.run_id in str(known)
    memory.undo(used)
    assert counts() == without


def test_dependent_runs_are_named_and_undone_first(world: "World", verdict: "Says", texts: "Texts") -> None:
    memory = world.open()
    first = memory.add("Matteo lives in Zurich")
    world.mind.verdicts = [verdict("UPDATE", None, "contradictory")]
    second = memory.add("Matteo lives in Bern")
    third = memory.add("Matteo lives in Basel")
    with pytest.raises(ConflictError, match="`cascade` undoes them too") as error:
        memory.undo(first.run_id)
    assert second.run_id in str(error.value)
    assert third.run_id in str(error.value), "what rests on it indirectly too"
    receipts = memory.undo(first.run_id, cascade=True)
    assert [note.split()[2] for receipt in receipts for note in receipt.notes] == [
        third.run_id,
        second.run_id,
        first.run_id,
    ]
    assert texts(memory) == set()
    assert not any(receipt.dropped for receipt in receipts)


def test_one_undo_restores_what_a_cascade_undid(either: AgentMemory) -> None:
    stated = either.add("Alice owns the deploy pipeline")
    edits = [either.update(stated.ids[0], f"Alice owns the build pipeline {n}") for n in range(3)]
    (receipt,) = either.undo(stated.run_id, cascade=True)
    assert [note.split()[2] for note in receipt.notes] == [*(one.run_id for one in reversed(edits)), stated.run_id]
    assert either.get_all() == []
    (same,) = either.undo(stated.run_id, cascade=True)
    assert (same.applied, f"already undone by run {receipt.run_id}" in str(same)) == ((), True)
    (back,) = either.undo(receipt.run_id)
    assert not back.dropped
    assert [one.text for one in either.get_all()] == ["Alice owns the build pipeline 2"]
    either.undo(edits[2].run_id)
    assert [one.text for one in either.get_all()] == ["Alice owns the build pipeline 1"]
    assert either.doctor(deep=True) == []


def test_an_interrupted_cascade_is_finished_by_the_same_call(
    either: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = either.add("Alice owns the deploy pipeline")
    either.update(stated.ids[0], "Alice owns the build pipeline")
    store, plans = either.ports.store, []
    apply = store.apply

    def stop(plan: Plan) -> Receipt:
        plans.append(plan)
        if len(plans) == 3:
            raise KeyboardInterrupt
        return apply(plan)

    with monkeypatch.context() as patch:
        patch.setattr(store, "apply", stop)
        with pytest.raises(KeyboardInterrupt):
            either.undo(stated.run_id, cascade=True)
    assert [one.text for one in either.get_all()] == ["Alice owns the deploy pipeline"]
    assert either.undo(stated.run_id, cascade=True)[0].applied
    assert either.get_all() == []


def test_a_compression_is_undone_and_not_done_again(world: "World", texts: "Texts") -> None:
    memory = world.open()
    for hike in HIKES:
        memory.add(hike, kind="episodic", category="observation")
    world.fade(memory)
    memory.sleep()
    (summary,) = memory.get_all(kinds=["summary"])
    memory.undo(_last(memory, "sleep/compress"))
    assert texts(memory) == set(HIKES)
    assert memory.get(summary.id).phase == "retracted"
    for _ in range(3):
        world.later(days=100)
        memory.sleep()
    assert texts(memory) == set(HIKES), "what an undo restored is left alone"
    assert memory.search("hiking at Mount Rainier")


def test_a_whole_sleep_is_undone_with_all_its_stages(world: "World") -> None:
    memory = world.open()
    memory.add("Working from the airport lounge", category="session_state")
    for hike in HIKES:
        memory.add(hike, kind="episodic", category="observation")
    before = {fact.id: fact for fact in memory.get_all()}
    world.fade(memory)
    report = memory.sleep()
    assert len(report.receipts) >= 2
    night = _last(memory, "sleep")
    receipts = memory.undo(night)
    assert not any(receipt.dropped for receipt in receipts)
    assert {fact.id for fact in memory.get_all()} == set(before)
    assert memory.status().last_sleep is not None


def test_an_undone_cascade_rewinds_its_cursor(world: "World") -> None:
    memory = world.open(immediate_window=4, recent_window=4)
    for n in range(20):
        memory.add_message(Message(role="user", content=f"I watered bed {n}", at=world.clock()), conversation="c")
    memory.sleep()
    spans = [summary.span for summary in memory.summaries("c") if summary.depth == 1]
    assert spans == [(1, 5), (6, 9), (10, 13)]
    memory.undo(_last(memory, "sleep"))
    assert memory.summaries("c") == []
    world.mind.summary = lambda _: "They watered beds"
    memory.sleep()
    assert [summary.span for summary in memory.summaries("c") if summary.depth == 1][:1] == [(1, 5)]


def test_unknown_runs_and_erasures_cannot_be_undone(world: "World") -> None:
    memory = world.open()
    with pytest.raises(NotFoundError, match="no run"):
        memory.undo("nothing")
    added = memory.add("Alice owns the deploy pipeline")
    erased = memory.erase(id=added.ids[0])
    with pytest.raises(InputError, match="erase"):
        memory.undo(erased.run_id)


def test_an_undo_leaves_an_erasure_as_it_is_and_edits_after_it_only_go_with_cascade(
    world: "World", texts: "Texts"
) -> None:
    memory = world.open()
    hikes = [memory.add(hike, kind="episodic", category="observation").ids[0] for hike in HIKES]
    world.fade(memory)
    memory.sleep()
    (summary,) = memory.get_all(kinds=["summary"])
    memory.erase(id=summary.id)
    assert texts(memory) == set(HIKES)
    later = memory.update(hikes[0], "User went hiking on Mount Rainier")
    run = _last(memory, "sleep/compress")
    with pytest.raises(ConflictError, match=f"1 later run depends on {run}: {later.run_id} .* undoes it too"):
        memory.undo(run)
    assert memory.get(hikes[0]).text == "User went hiking on Mount Rainier"
    assert "destroyed since are not restored" in str(memory.undo(run, cascade=True)[-1])
    assert texts(memory) == set(HIKES)


def test_undo_of_messages_names_and_retracts_the_facts_derived_from_them(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts"
) -> None:
    memory = world.open()
    world.mind.facts = facts
    said = memory.add_messages(talk(), conversation="c")
    distilled = memory.consolidate("c")
    assert texts(memory)
    with pytest.raises(ConflictError, match=str(distilled.run_id)):
        memory.undo(said.run_id)
    memory.undo(said.run_id, cascade=True)
    assert texts(memory) == set()
    assert memory.get_conversation_messages("c") == []


def test_messages_are_undone_alone_once_their_facts_were_undone(
    world: "World", talk: "Talk", facts: tuple[Fact, ...], texts: "Texts"
) -> None:
    memory = world.open()
    world.mind.facts = facts
    said = memory.add_messages(talk(), conversation="c")
    memory.undo(memory.consolidate("c").run_id)
    assert len(memory.undo(said.run_id)) == 1
    assert texts(memory) == set()


def test_an_undone_run_cannot_be_undone_again(world: "World", talk: "Talk", texts: "Texts") -> None:
    memory = world.open()
    stated = memory.add("Alice owns the deploy pipeline")
    (first,) = memory.undo(stated.run_id)
    for cascade in (False, True):
        (again,) = memory.undo(stated.run_id, cascade=cascade)
        assert again.applied == ()
        assert f"already undone by run {first.run_id}" in str(again)
    (back,) = memory.undo(first.run_id)
    assert texts(memory) == {"Alice owns the deploy pipeline"}
    assert f"already undone by run {back.run_id}" in str(memory.undo(first.run_id)[0])
    memory.undo(stated.run_id)
    assert texts(memory) == set(), "it stood again, so it could be taken back again"
    said = memory.add_messages(talk(), conversation="c")
    memory.undo(said.run_id)
    assert memory.undo(said.run_id, cascade=True)[0].applied == ()


def test_an_undone_edit_blocks_no_later_undo(world: "World", texts: "Texts") -> None:
    memory = world.open()
    stated = memory.add("Alice owns the deploy pipeline")
    edited = memory.update(stated.ids[0], "Alice owns the build pipeline")
    memory.undo(edited.run_id)
    assert len(memory.undo(stated.run_id)) == 1
    assert texts(memory) == set()


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest, world: "World", tmp_path: "Path") -> "Iterator[AgentMemory]":
    """An empty memory of each backend, with a clock of its own."""
    where = request.getfixturevalue("own") if request.param == "postgres" else tmp_path / "either.db"
    with AgentMemory.open(where, scope="t", llm=None, embedder=None, clock=world.clock) as memory:
        yield memory


def reasons(memory: AgentMemory, *runs: str) -> list[str]:
    return [group.because for run in memory.runs(None) if run.id in runs for group in run.plan.groups]


def test_an_erase_of_a_conversation_keeps_the_undo_of_another_whose_name_ends_alike(either: AgentMemory) -> None:
    mail = [Message(role="user", content=text) for text in ("The first", "The second", "The third")]
    stored = either.add_messages(mail, conversation="mail of 20")
    (undone,) = either.undo(stored.run_id)
    either.add_messages([Message(role="user", content="Another talk")], conversation="20")
    before = either.undo(stored.run_id)
    words = reasons(either, stored.run_id, undone.run_id)
    either.erase(conversation="20")
    assert reasons(either, stored.run_id, undone.run_id) == words
    after = either.undo(stored.run_id)
    assert [receipt.applied for receipt in (*before, *after)] == [(), ()]
    assert [receipt.notes for receipt in after] == [receipt.notes for receipt in before]
    assert undone.run_id in after[0].notes[0]
    assert either.doctor(deep=True) == []


def test_an_erase_of_a_conversation_takes_its_name_out_of_its_runs_and_their_undos(either: AgentMemory) -> None:
    stored = either.add_messages([Message(role="user", content="Hello there")], conversation="mail of 20")
    (undone,) = either.undo(stored.run_id)
    either.erase(conversation="mail of 20")
    runs = [run for run in either.runs(None) if run.id in {stored.run_id, undone.run_id}]
    assert [(group.because, group.conversations) for run in runs for group in run.plan.groups] == [("erased", ())] * 2
    assert [run.undoes for run in runs] == [stored.run_id, None]
    assert either.undo(stored.run_id)[0].applied == (), "the column still says that it was taken back"


def test_the_undo_of_many_edits_of_one_memory_reads_each_run_once(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open()
    stated = memory.add("Odile owns ferry 0")
    for number in range(1, 30):
        memory.update(stated.ids[0], f"Odile owns ferry {number}")
    read: list[str] = []
    runs = Journal._runs

    def counted(journal: Journal, scope: str, rows: "Iterable[Any]") -> list[Run]:
        found = runs(journal, scope, rows)
        read.extend(run.id for run in found)
        return found

    monkeypatch.setattr(Journal, "_runs", counted)
    memory.undo(stated.run_id, cascade=True)
    assert len(read) == len(set(read)) == 30
    assert memory.get_all() == []
