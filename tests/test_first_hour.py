"""What a new user tries in the first hour, from the first guess at a call to the first look at a result."""

import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, InputError, Message, NotFoundError, Slowwave
from slowwave.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator

TODAY = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def memory() -> "Iterator[AgentMemory]":
    with AgentMemory.open(":memory:", llm=None, embedder="none", clock=FrozenClock(TODAY)) as opened:
        yield opened


@pytest.mark.skipif(os.name != "posix", reason="permissions are others elsewhere")
def test_a_store_that_a_program_creates_is_private_whatever_the_umask(tmp_path: Path) -> None:
    former = os.umask(0o022)
    try:
        with Slowwave.open(tmp_path / "agent.db", llm=None, embedder="none") as store:
            store.within("alice").add("Alice likes tea")
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
            store.backup(tmp_path / "copy.db")
    finally:
        os.umask(former)
    assert modes["agent.db"] == 0o600
    assert set(modes.values()) == {0o600}  # the log and the shared memory too
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600


def test_a_fact_that_is_merged_names_the_memory_and_both_metadata_stay() -> None:
    memory = AgentMemory.open(":memory:", llm=None, embedder="static", clock=FrozenClock(TODAY))
    first = memory.add("Likes hiking", metadata={"from": "form"})
    second = memory.add("Likes hiking in the Alps", metadata={"page": 2})
    again = memory.add("Likes hiking in the Alps")
    (fact,) = memory.get_all()
    assert first.ids == (fact.id,)
    assert [(one.operation, one.memory_id) for one in second.outcomes] == [("UPDATE", fact.id)]
    assert [(one.operation, one.memory_id) for one in again.outcomes] == [("NOOP", fact.id)]
    assert fact.metadata == {"from": "form", "page": 2}


def test_a_use_is_recorded_of_a_context_of_hits_of_memories_and_of_ids(memory: AgentMemory) -> None:
    memory.add("Alice owns the deploy pipeline")
    (fact,) = memory.get_all()
    hits = memory.search("who owns the deploy pipeline?")
    context = memory.context("who owns the deploy pipeline?")
    assert fact.text in str(context)
    used = (context, hits, hits[0], fact, fact.id, [fact.id])
    assert [memory.record_retrieval(one) for one in used] == [1] * len(used)
    assert memory.get(fact.id).accesses == len(used)
    with pytest.raises(NotFoundError):
        memory.record_retrieval("nosuch")


def test_messages_are_taken_one_or_many_as_objects_or_mappings(memory: AgentMemory) -> None:
    memory.add_messages({"role": "user", "content": "one mapping"}, "c")
    memory.add_messages([{"role": "user", "content": "a list of mappings"}], "c")
    memory.add_messages(Message(role="user", content="one object"), "c")
    assert [one.content for one in memory.messages("c")] == ["one mapping", "a list of mappings", "one object"]


@pytest.mark.parametrize(
    "messages",
    ["hello there", [{"role": "user", "content": "hi"}, "text"], 5, [Message("user", "x", at="2026-01-01")]],  # type: ignore[arg-type]
)
def test_what_is_no_message_is_refused_and_nothing_of_it_is_stored(memory: AgentMemory, messages: object) -> None:
    with pytest.raises(InputError):
        memory.add_messages(messages)  # type: ignore[arg-type]
    assert memory.conversations() == []


def test_messages_passed_as_facts_are_refused_with_the_method_that_takes_them(memory: AgentMemory) -> None:
    with pytest.raises(InputError, match="add_messages"):
        memory.add([{"role": "user", "content": "hi"}])  # type: ignore[arg-type]
    assert memory.status().counts == {}


def test_an_undone_import_is_neither_unread_nor_read(memory: AgentMemory, tmp_path: Path) -> None:
    lines = [{"role": "user", "content": f"I like tree {n}.", "conversation": f"c{n % 3}"} for n in range(30)]
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    done = memory.import_(path)
    assert (memory.status().unread, memory.runs()[0].part_count) == (30, 3)
    (undo,) = memory.undo(str(done.run_id))
    assert (memory.status().unread, memory.conversations()) == (0, [])
    assert memory.consolidate_all(force=True).conversations == ()
    memory.undo(undo.run_id)
    assert memory.status().unread == 30


def test_every_user_of_a_mem0_export_gets_a_scope(tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    rows = [("1", "Lives in Oslo", "nora"), ("2", "Works at IKEA", "bob")]
    path.write_text(json.dumps([{"id": id_, "memory": text, "user_id": user} for id_, text, user in rows]), "utf-8")
    with Slowwave.open(":memory:", llm=None, embedder="none") as store:
        with pytest.raises(InputError, match="bob, nora"):
            store.within("all").import_(path, format="mem0")
        assert store.within("all").get_all() == []
        for _, _, user in rows:
            store.within(user).import_(path, format="mem0", user=user)
        assert [[fact.text for fact in store.within(user).get_all()] for _, _, user in rows] == [
            [text] for _, text, _ in rows
        ]
