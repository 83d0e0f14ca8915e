"""The facade: opening and closing, scopes, reads, and the messages of errors."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import ClosedError, ConflictError, InputError, ModelError, NotFoundError, PortError, SettingsError
from slowwave.minds.offline.mind import OfflineMind
from slowwave.model.mind import Fact
from slowwave.testing.clock import FrozenClock

if TYPE_CHECKING:
    from tests.conftest import Talk, World


def test_a_reopened_memory_has_the_same_content(world: "World", talk: "Talk", facts: tuple[Fact, ...]) -> None:
    world.mind.facts = facts
    with world.open() as memory:
        memory.add_messages(talk(), conversation="c")
        memory.consolidate("c")
        memory.record_retrieval(memory.search("Argon2"))
        memory.pin(memory.get_all()[0].id)
        before = memory.get_all(kinds=["message", "semantic"]), memory.status()
    with world.open() as memory:
        assert (memory.get_all(kinds=["message", "semantic"]), memory.status()) == before


def test_a_closed_memory_raises_and_can_be_closed_again(world: "World") -> None:
    memory = world.open()
    memory.close()
    memory.close()
    with pytest.raises(ClosedError, match="open it again"):
        memory.search("x")


@pytest.mark.parametrize("scope", ["", " ", "a//b", "/a", "a/../b", "a b", "a/" * 200])
def test_an_invalid_scope_is_refused(world: "World", scope: str) -> None:
    with pytest.raises(InputError, match="is not a scope"):
        world.open(scope=scope)


@pytest.mark.parametrize("store", ["", "  "])
def test_an_empty_store_path_is_refused(store: str) -> None:
    with pytest.raises(InputError, match="names no file"):
        AgentMemory.open(store, llm=None, embedder="none")


def test_omitted_arguments_come_from_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_STORE", str(tmp_path / "set.db"))
    monkeypatch.setenv("SLOWWAVE_SCOPE", "acme/alice")
    monkeypatch.setenv("SLOWWAVE_EMBEDDER", "none")
    monkeypatch.delenv("SLOWWAVE_LLM", raising=False)
    with AgentMemory.open() as memory:
        memory.add("Alice owns the deploy pipeline")
        assert memory.status().embedder is None
        assert isinstance(memory.ports.mind, OfflineMind)
    with AgentMemory.open(tmp_path / "set.db", scope="acme/alice", embedder="none") as memory:
        assert len(memory.get_all()) == 1


def test_an_unknown_kind_of_store_or_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError):
        AgentMemory.open("mongodb://x", embedder="none")
    with pytest.raises(SettingsError, match=r"\.complete\("):
        AgentMemory.open(tmp_path / "m.db", llm=object(), embedder="none")


def test_sibling_scopes_cannot_read_each_other(world: "World", talk: "Talk") -> None:
    alice, bob = world.open(scope="acme/alice"), world.open(scope="acme/bob", inherit=True)
    fact = alice.add("Alice's bank PIN hint is her first bicycle").ids[0]
    alice.add_messages(talk(), conversation="c")
    assert bob.search("bank PIN hint bicycle", deep=True) == []
    assert bob.get_all() == bob.runs() == bob.core() == bob.summaries() == []
    assert bob.get_conversation_messages("c") == []
    with pytest.raises(NotFoundError, match="there is none yet"):
        bob.consolidate("c")
    assert bob.record_retrieval(alice.get_all()) == 0
    for verb in (bob.get, bob.delete, bob.history, bob.explain, bob.links, bob.undo):
        with pytest.raises(LookupError):
            verb(fact)
    assert bob.status().counts == {}


def test_a_known_message_id_is_not_stored_twice_and_other_content_is_a_conflict(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_messages(talk(), conversation="c")
    again = memory.add_messages(talk(), conversation="c")
    assert (again.ids, str(again).count("8 already known")) == ((), 0)
    mixed = [*talk()[:3], Message(role="user", content="One more", id="m-9")]
    assert len(memory.add_messages(mixed, conversation="c").ids) == 1
    with pytest.raises(ConflictError, match="m-1"):
        memory.add_message(Message(role="user", content="Other words", id="m-1"), conversation="c")
    assert len(memory.get_conversation_messages("c")) == 9
    assert [message.id for message in memory.get_conversation_messages("c")] == [f"m-{n}" for n in range(1, 10)]
    memory.add_message(Message(role="user", content="Other words", id="m-1"), conversation="d")


def test_messages_go_to_the_conversation_written_to_last(world: "World", talk: "Talk") -> None:
    memory = world.open()
    memory.add_message(Message(role="user", content="hello"))
    assert [message.content for message in memory.get_conversation_messages("default")] == ["hello"]
    memory.add_messages(talk(), conversation="c")
    memory.add_message(Message(role="user", content="and more"))
    assert memory.conversation.get_messages()[-1].content == "and more"
    assert len(memory.get_conversation_messages("c")) == 9


def test_a_strict_memory_raises_problems_after_the_fact_is_stored(world: "World") -> None:
    memory = world.open(strict=True)
    memory.add("Matteo lives in Zurich")
    world.mind.verdicts = ModelError("model down")
    with pytest.raises(PortError, match="model down"):
        memory.add("Matteo lives in Bern")
    assert memory.status().waiting == 1


def test_unknown_kinds_and_phases_are_refused(world: "World") -> None:
    memory = world.open()
    with pytest.raises(InputError, match="unknown kinds fact"):
        memory.get_all(kinds=["fact"])
    with pytest.raises(InputError, match="unknown phases hot"):
        memory.get_all(phases=["hot"])


def test_get_all_leaves_out_messages_and_cascade_summaries(world: "World") -> None:
    memory = world.open(immediate_window=4, recent_window=4)
    for n in range(12):
        memory.add_message(Message(role="user", content=f"I watered bed {n}"), conversation="c")
    memory.add("Alice owns the deploy pipeline")
    memory.sleep()
    assert [fact.text for fact in memory.get_all()] == ["Alice owns the deploy pipeline"]
    assert len(memory.get_all(kinds=["message"])) == 12
    assert [summary.span for summary in memory.summaries("c") if summary.depth == 1] == [(1, 5)]


def test_an_explanation_contains_strength_sources_and_history(
    world: "World", talk: "Talk", facts: tuple[Fact, ...]
) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    memory.consolidate("c")
    world.later(days=300)
    fact = memory.get_all()[-1]
    explained = str(memory.explain(fact.id))
    for words in ("Alice owns the deploy pipeline", "strength 0.", "fades on", "source: 2026-03-01", "consolidate"):
        assert words in explained, words
    memory.pin(fact.id)
    assert "never fades: it is pinned" in str(memory.explain(fact.id))
    memory.delete(fact.id)
    gone = str(memory.explain(fact.id))
    assert " now: " not in gone
    assert "if it were in use, which it is not (retracted" in gone
    assert "never fades" not in gone


def test_receipts_and_status_are_readable_as_text(world: "World") -> None:
    memory = world.open()
    receipt = memory.add("Alice owns the deploy pipeline")
    assert str(receipt).splitlines()[0] == "add in t: 1 added"
    assert f"run {receipt.run_id}, which `undo` reverses" in str(receipt)
    assert "1 active" in str(memory.status())
    assert repr(memory).startswith("AgentMemory(")


@pytest.mark.parametrize(
    ("call", "explained"),
    [
        (lambda memory: memory.context(None), "query=None is of type NoneType: pass text"),
        (lambda memory: memory.context("x", conversation=" "), "use 1 to 512 characters"),
        (lambda memory: memory.context("x", budget_tokens=-5), "give at least 64"),
        (lambda memory: memory.context("x", profile=["agent"]), "profile=.* is of type list: pass text"),
        (lambda memory: memory.search(None), "query=None is of type NoneType: pass text"),
        (lambda memory: memory.search("x", top_k=0), "at least one hit"),
        (lambda memory: memory.search("x", top_k=-1), "at least one hit"),
        (lambda memory: memory.open(":memory:", max_facts_per_pass=0), r"pass config=Config\(max_facts_per_pass=0\)"),
        (lambda memory: memory.open(":memory:", modle="x"), "no argument modle: use store, scope, inherit, llm"),
    ],
)
def test_an_invalid_argument_raises_an_error_that_says_what_to_do(
    world: "World", call: Callable[[AgentMemory], object], explained: str
) -> None:
    with pytest.raises(InputError, match=explained):
        call(world.open())


def test_limits_may_exceed_the_content(world: "World") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    assert len(memory.search("deploys", top_k=10**30)) == 1
    assert "Alice" in str(memory.context("deploys", budget_tokens=10**400))


def test_consolidating_an_unknown_conversation_lists_the_existing_ones(world: "World") -> None:
    memory = world.open()
    assert memory.consolidate().skipped_reason == "no new messages"
    with pytest.raises(NotFoundError, match=r"no conversation 'nosuch': there is none yet"):
        memory.consolidate("nosuch")
    for n in range(12):
        memory.add_message(Message(role="user", content=f"Note {n}"), conversation=f"talk {n}")
    with pytest.raises(NotFoundError, match=r"there are talk \d+, .* and 7 more"):
        memory.end_conversation("nosuch")
    assert str(memory.context("note 7", conversation="tomorrow's first")) != ""


def test_a_closed_memory_cannot_be_entered(world: "World") -> None:
    memory = world.open()
    memory.close()
    with pytest.raises(ClosedError), memory:
        pass


def test_a_receipt_counts_the_messages_with_replaced_characters(world: "World") -> None:
    memory = world.open()
    odd = [Message(role="user", content=text) for text in ("a\x00b", "c" + chr(0xD83D), "plain")]
    (note,) = memory.add_messages(odd, conversation="c").notes
    assert note == "NUL or lone surrogates, which no store can hold, became U+FFFD in 2 messages"


def test_now_is_the_time_of_the_clock_that_the_memory_was_opened_with() -> None:
    clock = FrozenClock()
    with AgentMemory.open(":memory:", llm=None, embedder=None, clock=clock) as memory:
        clock.advance(days=3)
        assert memory.now() == clock.now
