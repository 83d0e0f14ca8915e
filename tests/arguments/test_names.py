"""Names of sessions, conversations, messages and scopes: what is accepted, and how it is stored."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import InputError
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
    with pytest.raises(InputError, match="is not a scope" if isinstance(scope, str) else "scope=.*: pass text"):
        AgentMemory.open(tmp_path / "a.db", scope=scope, llm=None, embedder="none")
