"""Public arguments with unusual values: each call works as documented or raises a SlowwaveError; the store stays sound."""

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import InputError, SlowwaveError
from slowwave.testing import FrozenClock

NUL, LONE, PAIR = "a\x00b", "a\ud800b", "\ud83d\ude00"
ODD: dict[str, Any] = {
    "int": 42,
    "zero": 0,
    "huge int": 10**400,
    "float": 1.5,
    "NaN": float("nan"),
    "True": True,
    "False": False,
    "bytes": b"chat",
    "lone surrogate": LONE,
    "surrogate pair": PAIR,
    "NUL": NUL,
    "empty": "",
    "blank": " ",
    "long": "x" * 513,
    "list": ["chat"],
    "dict": {},
    "None": None,
}
NAMES = {"int": "42", "zero": "0"}
"""Values that are accepted as the name of a conversation or session, and the stored name."""

Call = Callable[[AgentMemory, Any], object]
CALLS: dict[str, Call] = {
    "add_message conversation": lambda m, v: m.add_message(Message("user", "Hello"), v),
    "add_messages conversation": lambda m, v: m.add_messages([Message("user", "Hello"), Message("user", "You")], v),
    "add_messages messages": lambda m, v: m.add_messages(v),
    "add_messages message": lambda m, v: m.add_messages([Message("user", "Hello"), v]),
    "message role": lambda m, v: m.add_message(Message(v, "Hello")),
    "message content": lambda m, v: m.add_message(Message("user", v)),
    "message speaker": lambda m, v: m.add_message(Message("user", "Hello", speaker=v)),
    "message id": lambda m, v: m.add_message(Message("user", "Hello", id=v)),
    "message at": lambda m, v: m.add_message(Message("user", "Hello", at=v)),
    "add text": lambda m, v: m.add(v),
    "add category": lambda m, v: m.add("Bob owns the cache", category=v),
    "add kind": lambda m, v: m.add("Bob owns the cache", kind=v),
    "add subject": lambda m, v: m.add("Bob owns the cache", subject=v),
    "add importance": lambda m, v: m.add("Bob owns the cache", importance=v),
    "add metadata": lambda m, v: m.add("Bob owns the cache", metadata=v),
    "add metadata value": lambda m, v: m.add("Bob owns the cache", metadata={"a": v}),
    "message metadata": lambda m, v: m.add_message(Message("user", "Hello", metadata=v)),
    "update metadata": lambda m, v: m.update(fact_id(m), metadata=v),
    "note name": lambda m, v: m.note(v),
    "note text": lambda m, v: m.note("a", v),
    "note folder": lambda m, v: m.note("a", folder=v),
    "note data": lambda m, v: m.note("a", data=v),
    "note data value": lambda m, v: m.note("a", data={"a": [v]}),
    "note metadata": lambda m, v: m.note("a", metadata=v),
    "note expires_at": lambda m, v: m.note("a", expires_at=v),
    "read_note": lambda m, v: m.read_note(v),
    "read_note folder": lambda m, v: m.read_note("a", folder=v),
    "notes folder": lambda m, v: m.notes(v),
    "notes after": lambda m, v: m.notes(after=v),
    "notes limit": lambda m, v: m.notes(limit=v),
    "notes where": lambda m, v: m.notes(where=v),
    "remove_note": lambda m, v: m.remove_note(v),
    "put_notes": lambda m, v: m.put_notes([v]),
    "put_notes remove": lambda m, v: m.put_notes([], remove=[v]),
    "search where": lambda m, v: m.search("pipeline", where=v),
    "search where value": lambda m, v: m.search("pipeline", where={"a": v}),
    "search folder": lambda m, v: m.search("pipeline", folder=v),
    "get_all where": lambda m, v: m.get_all(where=v),
    "consolidate conversation": lambda m, v: m.consolidate(v),
    "end_conversation": lambda m, v: m.end_conversation(v),
    "update id": lambda m, v: m.update(v, "Bob owns it"),
    "update text": lambda m, v: m.update(fact_id(m), v),
    "update category": lambda m, v: m.update(fact_id(m), "Bob owns it", category=v),
    "delete": lambda m, v: m.delete(v),
    "pin": lambda m, v: m.pin(v),
    "unpin": lambda m, v: m.unpin(v),
    "revive": lambda m, v: m.revive(v),
    "release": lambda m, v: m.release(v),
    "reject": lambda m, v: m.reject(v),
    "record_retrieval session": lambda m, v: m.record_retrieval(m.get_all(), session=v),
    "record_retrieval hits": lambda m, v: m.record_retrieval([v]),
    "search query": lambda m, v: m.search(v),
    "search top_k": lambda m, v: m.search("pipeline", top_k=v),
    "search categories": lambda m, v: m.search("pipeline", categories=v),
    "search category": lambda m, v: m.search("pipeline", categories=[v]),
    "search kinds": lambda m, v: m.search("pipeline", kinds=v),
    "search kind": lambda m, v: m.search("pipeline", kinds=[v]),
    "search conversation": lambda m, v: m.search("pipeline", conversation=v),
    "search since": lambda m, v: m.search("pipeline", since=v),
    "context query": lambda m, v: m.context(v),
    "context conversation": lambda m, v: m.context("pipeline", conversation=v),
    "context budget": lambda m, v: m.context("pipeline", budget_tokens=v),
    "context profile": lambda m, v: m.context("pipeline", profile=v),
    "core top_k": lambda m, v: m.core(v),
    "core min_retrievals": lambda m, v: m.core(min_retrievals=v),
    "get": lambda m, v: m.get(v),
    "get_all kinds": lambda m, v: m.get_all(kinds=v),
    "get_all category": lambda m, v: m.get_all(categories=[v]),
    "get_all phases": lambda m, v: m.get_all(phases=v),
    "get_all limit": lambda m, v: m.get_all(limit=v),
    "get_conversation_messages": lambda m, v: m.get_conversation_messages(v),
    "strength": lambda m, v: m.strength(v),
    "summaries": lambda m, v: m.summaries(v),
    "explain": lambda m, v: m.explain(v),
    "history": lambda m, v: m.history(v),
    "refused": lambda m, v: m.refused(v),
    "links": lambda m, v: m.links(v),
    "runs": lambda m, v: m.runs(v),
    "cost": lambda m, v: m.cost(v),
    "estimate": lambda m, v: m.estimate(v),
    "undo": lambda m, v: m.undo(v),
    "compact_memories": lambda m, v: m.compact_memories(v),
    "compact": lambda m, v: m.compact(v),
    "command": lambda m, v: m.command(v),
    "erase id": lambda m, v: m.erase(id=v),
    "erase source": lambda m, v: m.erase(source=v),
    "erase conversation": lambda m, v: m.erase(conversation=v),
    "erase text": lambda m, v: m.erase(text=v),
    "sleep_due limit": lambda m, v: m.sleep_due(limit=v),
    "open scope": lambda m, v: AgentMemory.open(m.ports.store.name, scope=v, llm=None, embedder="none").close(),
}


def fact_id(memory: AgentMemory) -> str:
    return memory.get_all()[0].id


def fill(memory: AgentMemory) -> AgentMemory:
    memory.add("Alice owns the deploy pipeline", category="person")
    memory.add_message(Message("user", "The database is Postgres.", id="m-1"), "monday")
    return memory


def readable(memory: AgentMemory) -> None:
    """Every memory can be read, and a replay of the journal equals the tables."""
    memory.get_all(kinds=["message", "semantic"], phases=["active", "core", "cold", "retracted"])
    memory.search("who owns the pipeline?", deep=True)
    memory.context("who owns the pipeline?")
    for run in memory.runs(limit=None):
        assert str(run.plan) is not None
    assert memory.doctor(deep=True) == []


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[AgentMemory]:
    clock = FrozenClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    with AgentMemory.open(tmp_path / "a.db", llm=None, embedder="static", clock=clock) as memory:
        yield fill(memory)


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_accepts_or_refuses_an_unusual_value(filled: AgentMemory, name: str) -> None:
    for value in ODD.values():
        with contextlib.suppress(SlowwaveError):
            CALLS[name](filled, value)
    readable(filled)
    filled.close()


def test_postgres_accepts_or_refuses_an_unusual_value(memory: AgentMemory) -> None:
    fill(memory)
    for name in ("add_message conversation", "message id", "record_retrieval session", "search conversation", "get"):
        for value in ODD.values():
            with contextlib.suppress(SlowwaveError):
                CALLS[name](memory, value)
    readable(memory)


@pytest.mark.parametrize("value", sorted(ODD))
def test_a_session_is_text_or_a_whole_number(filled: AgentMemory, value: str) -> None:
    if value == "None":
        return
    hits = filled.get_all()
    if value in NAMES:
        assert filled.record_retrieval(hits, session=ODD[value]) == 1
        assert filled.record_retrieval(hits, session=NAMES[value]) == 1
        (used,) = filled.get_all()
        assert (used.accesses, used.sessions, used.last_session) == (2, 1, NAMES[value])
    else:
        with pytest.raises(InputError, match="session="):
            filled.record_retrieval(hits, session=ODD[value])
        assert filled.get_all() == hits
    readable(filled)


@pytest.mark.parametrize("value", sorted(ODD))
def test_a_conversation_is_text_or_a_whole_number(filled: AgentMemory, value: str) -> None:
    if value == "None":
        return
    message = Message("user", "Hello there")
    before = filled.get_all(kinds=["message"])
    if value in NAMES:
        filled.add_message(message, ODD[value])
        assert [message.content for message in filled.get_conversation_messages(ODD[value])] == ["Hello there"]
        assert filled.get_conversation_messages(NAMES[value]) == filled.get_conversation_messages(ODD[value])
        assert filled.search("hello", conversation=ODD[value])[0].memory.conversation == NAMES[value]
        assert filled.estimate(ODD[value]).messages == 1
        assert len(filled.erase(conversation=ODD[value]).destroyed) == 1
    else:
        with pytest.raises(InputError, match="conversation="):
            filled.add_message(message, ODD[value])
    assert filled.get_all(kinds=["message"]) == before
    readable(filled)


@pytest.mark.parametrize("bad", [{"id": LONE}, {"id": NUL}, {"id": 7}, {"speaker": LONE}, {"speaker": b"x"}])
def test_a_batch_with_an_invalid_name_is_not_stored(filled: AgentMemory, bad: dict[str, Any]) -> None:
    before = filled.get_all(kinds=["message"])
    with pytest.raises(InputError, match="message 1 has the"):
        filled.add_messages([Message("user", "One"), Message("user", "Two", **bad), Message("user", "Three")])
    assert filled.get_all(kinds=["message"]) == before
    readable(filled)


@pytest.mark.parametrize("argument", ["category", "subject"])
@pytest.mark.parametrize("value", [LONE, NUL, 42, b"x", True])
def test_a_category_or_subject_that_a_store_cannot_hold_is_refused(
    filled: AgentMemory, argument: str, value: object
) -> None:
    with pytest.raises(InputError, match=f"{argument}="):
        filled.add("Bob owns the cache", **{argument: value})
    assert len(filled.get_all()) == 1


@pytest.mark.parametrize("scope", ["a/b\ud800", "a\x00", 42, b"a", None.__class__])
def test_a_scope_that_a_store_cannot_hold_is_refused(tmp_path: Path, scope: Any) -> None:  # noqa: ANN401 - what is refused
    with pytest.raises(InputError, match="is not a scope"):
        AgentMemory.open(tmp_path / "a.db", scope=scope, llm=None, embedder="none")
