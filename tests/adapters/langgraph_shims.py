"""What LangGraph's own tests of stores construct, made of the adapter. `test_langgraph.py` copies it beside those tests."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.store.base import IndexConfig, TTLConfig

from slowwave import AgentMemory
from slowwave.adapters.langgraph import SlowwaveStore


class InMemoryStore(SlowwaveStore):
    """`InMemoryStore()` opens a memory in RAM."""

    def __init__(self, *, index: IndexConfig | None = None) -> None:
        with warnings.catch_warnings(action="ignore"):  # their configurations have an embedder
            super().__init__(AgentMemory.in_memory(), index=index)


class SqliteStore(SlowwaveStore):
    """`SqliteStore.from_conn_string(path)` opens a file; their tests give it an empty one, which is no store of Slowwave."""

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, path: str, index: dict[str, Any] | None = None, ttl: TTLConfig | None = None
    ) -> Iterator["SqliteStore"]:
        """Open a store until the end of the block. `text_fields` is their name for the fields of the index."""
        file = Path(path)
        if file.exists() and not file.stat().st_size:
            file.unlink()
        fields = {"fields": index["text_fields"]} if index and index.get("text_fields") else {}
        with AgentMemory.open(path, llm=None) as memory, warnings.catch_warnings(action="ignore"):
            yield cls(memory, index={**index, **fields} if index else None, ttl=ttl)

    def setup(self) -> None:
        """Nothing is to be created."""
