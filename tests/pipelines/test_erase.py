"""Erase: whatever was derived goes, what was only stood for returns, and no byte stays."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import InputError, NotFoundError
from slowwave.model.memory import KINDS, PHASES
from slowwave.model.mind import Fact, Verdict
from slowwave.model.query import Where
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing import Failpoint, Injected
from slowwave.testing.builders import every_field

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import World

CANARY = "Zq7canaryXv3plmokn9ijbuhvygctfxrdzeswaqy"
FILLER = "The ferry to the island leaves at noon"


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def holding(world: "World", needle: str = CANARY) -> list[str]:
    return [name for name, data in bytes_of(world.path.parent).items() if needle.encode() in data]


def everything(memory: AgentMemory) -> list[Any]:
    store = memory.ports.store
    return store.select((memory.ports.scope,), Where(kinds=frozenset(KINDS), phases=frozenset(PHASES), cascade=None))


def spoken(memory: AgentMemory, *texts: str, conversation: str = "c1", **fields: str) -> list[str]:
    receipt = memory.add_messages(
        [Message(role="user", content=text, id=f"{conversation}-{n}", **fields) for n, text in enumerate(texts)],
        conversation,
    )
    return list(receipt.ids)


def distilled(world: "World", *facts: Fact) -> None:
    world.mind.facts = facts


def poison(world: "World", memory: AgentMemory) -> None:
    """The canary in messages, facts, waiting and refused facts, summaries, journal, names, metadata."""
    distilled(
        world,
        Fact(text=f"User keeps the word {CANARY}", turn=1, quote=f"word {CANARY}", confidence=0.9),
        Fact(text=f"Nobody said this of {CANARY}", turn=2, quote="never said", confidence=0.9),
    )
    spoken(memory, f"My word is {CANARY}, keep it", "Thanks for that", *[f"{FILLER} {n}" for n in range(6)])
    memory.consolidate("c1", force=True)
    memory.add(f"The old code of the gate was {CANARY}")
    world.mind.verdicts = lambda cases: [Verdict(fact=c.number, op="ADD", because=f"it says {CANARY}") for c in cases]
    memory.add(f"The gate of the yard is green, says {CANARY}")
    world.mind.verdicts = RuntimeError("down")
    world.mind.verdicts = None
    gate = memory.add("Gate seven is closed", metadata={"note": CANARY}, subject=f"gate {CANARY}").ids[0]
    memory.update(gate, "Gate seven is open")
    world.mind.facts = ()
    spoken(memory, "Hello from the road", conversation=f"talk {CANARY}")
    spoken(memory, "I am the speaker", conversation="c3", speaker=f"Ann {CANARY}")
    memory.update(memory.add("Locker four is blue").ids[0], f"Locker four is blue and {CANARY}")
    for n in range(12):
        memory.add(f"Hike {n} went to the peak {n} {CANARY if n == 3 else ''}", kind="episodic", category="observation")


def test_a_canary_in_every_place_leaves_no_byte_and_is_not_found_again(world: "World") -> None:
    memory = world.open(min_messages=2, immediate_window=2, recent_window=3)
    world.mind.summary = lambda brief: "; ".join(m.text for m in brief.memories)
    poison(world, memory)
    world.fade(memory)
    memory.sleep()
    assert any(CANARY in one.text for one in memory.summaries("c1")), "a cascade summary holds it"
    assert any(CANARY in one.text and one.members for one in memory.get_all(kinds=["summary"])), "so does a cluster"
    other = world.open(scope="other")
    other.add("The neighbours keep the word Quokka-of-the-other-scope-0123456789")
    assert holding(world)
    receipt = memory.erase(text=CANARY.upper())
    assert receipt.verified, receipt
    assert holding(world) == []
    assert not [one for one in everything(memory) if CANARY in every_field(one)]
    assert not [hit for hit in memory.search(CANARY, deep=True, top_k=50) if CANARY in every_field(hit)]
    assert CANARY not in every_field(memory.runs(None))
    assert not any(CANARY in (name.name or "") for name in memory.ports.store.conversations("t"))
    assert len(other.get_all()) == 1, "another scope stays as it was"
    assert memory.doctor(deep=True) == []
    hikes = [one for one in memory.get_all() if one.text.startswith("Hike")]
    assert len(hikes) == 11
    assert all(one.phase == "active" for one in hikes), "members of an erased summary return"


def test_members_return_in_the_transaction_that_takes_their_summary(world: "World") -> None:
    memory = world.open()
    for n in range(12):
        memory.add(f"Hike {n} went to the peak {n}", kind="episodic", category="observation")
    world.fade(memory)
    memory.sleep()
    (summary,) = memory.get_all(kinds=["summary"])
    receipt = memory.erase(id=summary.id)
    run = memory.ports.store.run("t", receipt.run_id)
    group = next(g for g in run.plan.groups if any(getattr(o, "memory", None) == summary.id for o in g.operations))
    restored = {o.before.id for o in group.operations if type(o).__name__ == "Change"}
    assert restored == set(receipt.restored) == {one.id for one in memory.get_all()}
    assert len(restored) == 12


def test_a_member_with_the_words_of_its_summary_returns_too(world: "World") -> None:
    memory = world.open()
    for n in range(5):
        memory.add(f"Hike {n} went up", kind="episodic", category="observation")
    world.mind.summary = lambda _: "Hike 0 went up. Hike 1 went up. Hike 2 went up. Hike 3 went up. Hike 4 went up"
    world.fade(memory)
    memory.sleep()
    (summary,) = memory.get_all(kinds=["summary"])
    world.mind.summary = None
    twin = memory.add("Hike 2 went up", kind="episodic", category="observation")
    live = memory.get_all(kinds=["episodic"])
    receipt = memory.erase(id=summary.id)
    assert receipt.verified, receipt
    assert sorted(one.text for one in memory.get_all()) == [f"Hike {n} went up" for n in range(5)]
    assert twin.ids
    assert len(live) == 1, "the fact that was said again stands; its old twin stays behind it"


def test_a_fact_with_other_sources_keeps_only_those(world: "World") -> None:
    memory = world.open(min_messages=1)
    distilled(world, Fact(text="Alice owns the deploy pipeline", turn=1, quote="Alice owns the deploy pipeline"))
    (first,) = spoken(memory, "Alice owns the deploy pipeline, whispered Zebulon Quartermaine", conversation="a")
    memory.consolidate("a", force=True)
    (second,) = spoken(memory, "I heard that Alice owns the deploy pipeline", conversation="b")
    memory.consolidate("b", force=True)
    (fact,) = memory.get_all()
    assert {one.memory for one in fact.sources} == {first, second}
    receipt = memory.erase(source="a-0")
    assert receipt.verified, receipt
    (again,) = memory.get_all()
    assert (again.text, [one.memory for one in again.sources]) == (fact.text, [second])
    assert again.id in receipt.restored
    assert fact.id in receipt.destroyed
    assert "Quartermaine" not in every_field(memory.history(again.id))
    assert holding(world, "Quartermaine") == []
    assert memory.erase(source="b-0").restored == ()
    assert memory.get_all() == []


def test_an_undone_version_of_a_fact_is_erased_with_the_message_it_rested_on(world: "World") -> None:
    memory = world.open(min_messages=1)
    spoken(memory, "Ottilie likes hiking")
    distilled(world, Fact(text="Ottilie likes hiking", turn=1, quote="Ottilie likes hiking"))
    memory.consolidate("c1", force=True)
    world.later(days=1)
    spoken(memory, f"Ottilie likes hiking near {CANARY}.", conversation="c2")
    said = f"Ottilie likes hiking near {CANARY}"
    distilled(world, Fact(text=said, turn=1, quote=said))
    world.mind.verdicts = [Verdict(fact=1, op="UPDATE", memory=1, text=said, relation="subsumes")]
    updated = memory.consolidate("c2", force=True)
    (known,) = memory.get_all()
    assert (known.text, known.version) == (said, 2)
    memory.undo(str(updated.run_id))
    assert holding(world), "the journal has the undone version"
    receipt = memory.erase(conversation="c2")
    assert receipt.verified
    assert holding(world) == []
    (fact,) = memory.get_all()
    assert (fact.text, fact.recorded_at) == ("Ottilie likes hiking", known.recorded_at)
    assert (known.id in receipt.destroyed, receipt.restored) == (True, (fact.id,))
    assert CANARY not in every_field(memory.history(fact.id)) + every_field(memory.runs())


def test_a_fact_that_only_the_erased_message_supports_is_erased(world: "World") -> None:
    memory = world.open(min_messages=1)
    distilled(world, Fact(text="Alice owns the deploy pipeline", turn=1, quote="owns the deploy pipeline"))
    spoken(memory, "Alice owns the deploy pipeline", "Nice weather today")
    memory.consolidate(force=True)
    memory.erase(conversation="c1")
    assert memory.get_all() == []
    assert everything(memory) == []
    assert memory.ports.store.conversations("t") == []


def test_choosing_a_fact_includes_the_facts_merged_into_it(world: "World") -> None:
    memory = world.open()
    memory.add("Mia loves tea")
    world.mind.verdicts = [Verdict(fact=1, op="UPDATE", memory=1, text="Mia loves green tea", relation="subsumes")]
    memory.add("Mia loves green tea")
    (fact,) = memory.get_all()
    memory.erase(id=fact.id)
    assert everything(memory) == []


def test_a_replaced_fact_stays_replaced_when_its_successor_is_erased(world: "World") -> None:
    memory = world.open()
    memory.add("Mia lives in Zurich")
    world.mind.verdicts = [Verdict(fact=1, op="UPDATE", memory=1, text="Mia lives in Bern", relation="contradictory")]
    memory.add("Mia lives in Bern")
    (fact,) = memory.get_all()
    memory.erase(id=fact.id)
    (old,) = everything(memory)
    assert (old.phase, old.superseded_by) == ("superseded", None)


def test_tombstones_prevent_a_second_import(world: "World", tmp_path: Path) -> None:
    memory = world.open(min_messages=1)
    distilled(world, Fact(text="The vault word is Marzipan", turn=1, quote="vault word is Marzipan"))
    spoken(memory, "The vault word is Marzipan", "And thanks")
    memory.consolidate(force=True)
    memory.add("Cellar door sticks")
    memory.export(tmp_path / "before.jsonl")
    memory.erase(text="Marzipan")
    (tmp_path / "later").mkdir()
    again = memory.import_(tmp_path / "before.jsonl")
    assert "Marzipan" not in every_field(everything(memory))
    assert again.skipped["erased earlier"] == 2
    spoken(memory, "The vault word is Marzipan")
    assert "Marzipan" not in every_field(everything(memory)), "the same message of the same id is not taken in again"
    distilled(world, Fact(text="The vault word is Marzipan", turn=1, quote="word is Marzipan"))
    spoken(memory, "Guess what, the vault word is Marzipan", conversation="c2")
    memory.consolidate("c2", force=True)
    assert [one.text for one in memory.get_all()] == ["Cellar door sticks"], "not distilled again either"


def test_short_words_may_be_repeated(world: "World") -> None:
    memory = world.open()
    spoken(memory, "Yes, thank you")
    memory.erase(conversation="c1")
    spoken(memory, "Yes, thank you", conversation="c2")
    assert len(memory.get_conversation_messages("c2")) == 1


def test_undo_rewinds_cursors_and_the_next_sleep_pass_writes_the_rest_again(world: "World") -> None:
    memory = world.open(immediate_window=2, recent_window=3)
    world.mind.summary = lambda brief: "; ".join(m.text for m in brief.memories)
    spoken(memory, *[f"Entry {n} of the garden book" for n in range(12)])
    memory.sleep()
    spans = [one.span for one in memory.summaries("c1") if one.depth == 1]
    receipt = memory.erase(source="c1-4")
    assert receipt.due == ("summaries of c1 from message 5 on",)
    memory.sleep()
    assert [one.span for one in memory.summaries("c1") if one.depth == 1] == spans
    assert not any("Entry 4" in one.text for one in memory.summaries("c1"))


def test_all_of_a_scope(world: "World") -> None:
    memory, other = world.open(), world.open(scope="u")
    poison(world, memory)
    other.add("Untouched Quagga")
    receipt = memory.erase(scope=True)
    assert receipt.verified, receipt
    assert everything(memory) == []
    assert holding(world) == []
    assert [one.text for one in other.get_all()] == ["Untouched Quagga"]
    assert memory.erase(scope=True).destroyed == ()


def test_a_change_larger_than_one_transaction_is_split(world: "World") -> None:
    memory = world.open(embedder="none")
    spoken(memory, *[f"{CANARY} line {n}" for n in range(700)])
    receipt = memory.erase(conversation="c1")
    assert receipt.verified
    assert len(receipt.destroyed) == 700
    assert holding(world) == []


@pytest.mark.parametrize("at", range(1, 5))
def test_cut_off_between_two_transactions_the_same_request_finishes(world: "World", at: int) -> None:
    memory = world.open(min_messages=1, immediate_window=2, recent_window=3, embedder="none")
    world.mind.summary = lambda brief: "; ".join(m.text for m in brief.memories)[:400]
    distilled(world, Fact(text="User keeps the secret of the lake", turn=1, quote="the secret of the lake"))
    spoken(memory, f"{CANARY} and the secret of the lake", *[f"{CANARY} line {n}" for n in range(600)])
    memory.consolidate(force=True)
    memory.sleep()
    memory.close()
    broken = world.open(embedder="none")
    broken.ports.store._reached = Failpoint("apply.begun", at=at)
    try:
        broken.erase(text=CANARY)
        done = True
    except Injected:
        done = False
    broken.ports.store._reached = None
    assert done is (broken.ports.store.mentions("t", CANARY) == [])
    if not done:
        assert broken.erase(text=CANARY).verified
    assert everything(broken) == []
    assert holding(world) == []


def test_an_erase_reports_another_reader_and_can_be_finished_later(world: "World") -> None:
    memory = world.open()
    memory.close()
    store = SqliteStore(str(world.path), busy_seconds=0.05)
    from dataclasses import replace  # noqa: PLC0415

    memory = AgentMemory(ports=replace(world.open().ports, store=store))
    memory.add(f"The word is {CANARY}")
    script = (
        "import apsw,sys; db=apsw.Connection(sys.argv[1]); db.execute('BEGIN');"
        "db.execute('SELECT count(*) FROM memories').fetchall(); print('ready',flush=True); sys.stdin.readline()"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", script, str(world.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout.readline() == "ready\n"
    receipt = memory.erase(text=CANARY)
    assert not receipt.verified
    assert "another process" in str(receipt)
    assert memory.get_all() == []
    reader.communicate("done\n")
    again = memory.erase(text=CANARY)
    assert again.verified
    assert again.destroyed == ()
    assert holding(world) == []
    by_id = memory.erase(id=receipt.destroyed[0])
    assert by_id.verified
    memory.close()


def test_new_words_that_come_in_while_erasing_are_erased_too(world: "World", monkeypatch: pytest.MonkeyPatch) -> None:
    memory = world.open()
    identity = memory.add(f"The word is {CANARY}").ids[0]
    from slowwave.pipelines.admin import erase as erasing  # noqa: PLC0415

    applied: Callable[..., object] = erasing._apply
    calls = []

    def late(*arguments: object) -> object:
        if not calls:
            memory.update(identity, f"The better word is {CANARY}")
        calls.append(1)
        return applied(*arguments)

    # Someone changes the memory between planning and applying: an erase needs no version, it takes it all the same.
    monkeypatch.setattr(erasing, "_apply", late)
    assert memory.erase(text=CANARY).verified
    assert holding(world) == []


def test_a_refused_fact_is_erased_with_its_conversation(world: "World") -> None:
    memory = world.open(min_messages=1)
    distilled(world, Fact(text=f"Somebody named {CANARY} called", turn=1, quote="nobody said this", confidence=0.9))
    spoken(memory, "The phone rang", "Nobody was there")
    assert memory.consolidate(force=True).rejected
    assert holding(world)
    memory.erase(conversation="c1")
    assert holding(world) == []


@pytest.mark.parametrize(
    "ways", [{}, {"id": "a", "text": "b"}, {"text": "  "}, {"scope": True, "conversation": "c1"}], ids=str
)
def test_one_way_of_choosing(world: "World", ways: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        world.open().erase(**ways)


@pytest.mark.parametrize("ways", [{"id": "nobody"}, {"text": "unheard of"}, {"conversation": "none"}, {"source": "x"}])
def test_nothing_that_matches_is_an_error(world: "World", ways: dict[str, Any]) -> None:
    memory = world.open()
    memory.add("Mia loves tea")
    with pytest.raises(NotFoundError):
        memory.erase(**ways)
    assert len(memory.get_all()) == 1


def test_an_unknown_target_is_an_error_even_if_another_was_erased(world: "World") -> None:
    memory = world.open()
    memory.add(f"The word is {CANARY}")
    memory.add("Mia loves tea")
    memory.erase(text=CANARY)
    for _ in range(2):
        with pytest.raises(NotFoundError):
            memory.erase(text="Tpyo that never was")
        with pytest.raises(NotFoundError):
            memory.erase(conversation="none")
    assert memory.erase(text=CANARY.lower()).destroyed == (), "the same may be asked for again"
    assert len(memory.get_all()) == 1


@pytest.mark.parametrize("payload", ['{"text":["a","b"],"sources":["x', '{"sources":null,"members":7}', '["sources"]'])
def test_a_message_can_be_erased_although_a_change_of_another_memory_is_damaged(world: "World", payload: str) -> None:
    memory = world.open()
    (said,) = spoken(memory, f"My word is {CANARY}, keep it")
    (other,) = memory.add("Ada rows").ids
    memory.update(other, "Ada rows at dawn")
    memory.close()
    db = apsw.Connection(str(world.path))
    db.execute("UPDATE journal SET payload = ? WHERE memory = ? AND op = 'change'", (payload, other))
    db.close()
    memory = world.open()
    receipt = memory.erase(id=said)
    assert [one.id for one in memory.get_all()] == [other]
    assert not holding(world)
    assert receipt.destroyed == (said,)
    world.close()
    world.path.unlink()  # its journal was damaged: it does not tell what the tables hold


def test_a_message_can_be_erased_if_a_damaged_journal_does_not_have_the_fact_drawn_from_it(world: "World") -> None:
    memory = world.open()
    distilled(world, Fact(text=f"User keeps the word {CANARY}", turn=1, quote=f"word {CANARY}", confidence=0.9))
    (said,) = spoken(memory, f"My word is {CANARY}, keep it")
    memory.consolidate("c1", force=True)
    (fact,) = memory.get_all()
    memory.close()
    db = apsw.Connection(str(world.path))
    db.execute("DELETE FROM journal WHERE memory = ?", (fact.id,))
    db.close()
    memory = world.open()
    memory.erase(id=said)
    assert memory.get_all() == []
    world.close()
    world.path.unlink()  # its journal was damaged: it does not tell what the tables hold


def test_words_that_only_the_journal_contains_can_be_erased(world: "World") -> None:
    memory = world.open(min_messages=1)
    distilled(world, Fact(text=f"Somebody named {CANARY} called", turn=1, quote="nobody said this", confidence=0.9))
    spoken(memory, "The phone rang", "Nobody was there")
    assert memory.consolidate(force=True).rejected
    for _ in range(2):
        assert memory.erase(text=CANARY).verified
        assert holding(world) == []


def test_a_receipt_names_the_messages_that_still_contain_an_erased_fact(world: "World") -> None:
    memory = world.open(min_messages=1)
    distilled(world, Fact(text="The user is allergic to walnuts", turn=1, quote="I am allergic to walnuts"))
    first, _ = spoken(memory, "I'm Matteo and I am allergic to walnuts.", "Noted")
    memory.consolidate(force=True)
    (fact,) = memory.get_all()
    receipt = memory.erase(id=fact.id)
    assert receipt.verified
    assert receipt.still == (first,)
    assert "no trace" not in str(receipt)
    assert "1 memory of this scope still says it" in str(receipt)
    assert f"still said by {first}" in str(receipt)
    receipt = memory.erase(id=first)
    assert receipt.still == ()
    assert "no trace is left in this scope; other scopes were left alone" in str(receipt)


def test_a_receipt_names_at_most_ten_messages_that_still_contain_it(world: "World") -> None:
    memory = world.open()
    spoken(memory, *[f"Mia loves green tea, said number {n}" for n in range(12)])
    receipt = memory.erase(id=memory.add("Mia loves green tea").ids[0])
    assert len(receipt.still) == 12
    assert str(receipt).count("still said by") == 10
    assert "and by 2 more" in str(receipt)


def test_many_are_erased_by_as_few_statements_as_one(world: "World") -> None:
    memory = world.open(embedder="none")
    asked: list[str] = []
    for name, number in (("short", 3), ("long", 300)):
        spoken(memory, *[f"{FILLER} {name} {n}" for n in range(number)], conversation=name)
        memory.ports.store._db.exec_trace = lambda _, sql, __: asked.append(sql) or True
        assert memory.erase(conversation=name).verified
        memory.ports.store._db.exec_trace = None
        statements = [sql for sql in asked if sql.startswith(("DELETE", "SELECT"))]
        assert len(statements) < 120, [name, len(statements)]
        asked.clear()


def test_an_erase_keeps_conversations_whose_names_contain_the_erased_name(world: "World") -> None:
    memory = world.open(embedder="none", min_messages=2)
    for name in ("trip", "trip to Rome", "a trip"):
        spoken(memory, f"{FILLER} says {name}", "Thanks for that", conversation=name)
        memory.consolidate(name, force=True)
    memory.erase(conversation="trip")
    statements = every_field(memory.runs(None))
    assert "of trip to Rome" in statements
    assert "of a trip" in statements
    assert "of trip " not in statements.replace("of trip to Rome", "")
    memory.erase(scope=True)
    assert "trip" not in every_field(memory.runs(None))


def test_due_work_of_a_conversation_is_unaffected_by_one_with_a_similar_name(world: "World") -> None:
    memory = world.open(immediate_window=2, recent_window=3)
    world.mind.summary = lambda brief: "; ".join(m.text for m in brief.memories)
    entries = [f"Entry {n} of the garden book" for n in range(12)]
    spoken(memory, *entries[:4], f"{CANARY} here", *entries[5:], conversation="mail of 20")
    memory.sleep()
    spoken(memory, f"{CANARY} there", conversation="20")
    receipt = memory.erase(text=CANARY)
    assert [found.name for found in memory.ports.store.conversations("t")] == ["mail of 20"]
    assert receipt.due == ("summaries of mail of 20 from message 5 on",)
