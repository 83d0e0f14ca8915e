"""A history is read from one committed state, whatever another connection writes meanwhile."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory


def interrupted(memory: AgentMemory, monkeypatch: pytest.MonkeyPatch, statement: str, write: Callable[[], Any]) -> None:
    """Let another connection write once, directly after `memory` has run this statement."""
    store: Any = memory.ports.store
    read = store._all
    pending = [write]

    def then_written(name: str, values: object) -> list[Any]:
        rows: list[Any] = read(name, values)
        if name == statement and pending:
            pending.pop()()
        return rows

    monkeypatch.setattr(store, "_all", then_written)


def test_a_history_is_read_while_the_memory_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, other = (AgentMemory.open(tmp_path / "memory.db", llm=None, embedder="none") for _ in range(2))
    with memory, other:
        (identity,) = memory.add("Alice owns the deploy pipeline").ids
        interrupted(memory, monkeypatch, "memory_rows", lambda: other.pin(identity))
        assert len(memory.history(identity)) == 1
        assert len(memory.history(identity)) == 2
