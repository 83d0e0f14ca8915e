"""Slowwave as in its README: messages in a file, hybrid search by words and meaning."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from course import run
from stub import DIM, embed

from slowwave import AgentMemory, Message

START = datetime(2026, 1, 1, tzinfo=UTC)


class Free:
    """The embedder that costs nothing. It works in this process, so that no text is searched for secrets before it gets it."""

    name, dim, is_local = "bench-free-384", DIM, True

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(n, 384) unit rows."""
        return embed(list(texts))


class Slowwave:
    """One scope, one conversation, one durable commit an add (WAL, synchronous=FULL)."""

    def __init__(self, folder: Path) -> None:
        self._memory = AgentMemory.open(folder / "memory.db", embedder=Free(), llm=None)

    def add(self, key: str, text: str) -> None:
        """One message."""
        self._memory.add_message(self._message(key, text), conversation="bench")

    def fill(self, pairs: Sequence[tuple[str, str]]) -> None:
        """A batch of messages."""
        self._memory.add_messages([self._message(key, text) for key, text in pairs], conversation="bench")

    def search(self, text: str, wanted: int) -> list[str]:
        """Hits as the ids of the caller."""
        return [str(source) for hit in self._memory.search(text, top_k=wanted) for source in hit.sources]

    def delete(self, key: str) -> None:
        """Delete it, reversibly. `erase`, which is irreversible, is not compared here."""
        self._memory.delete(self._ids()[key])

    def close(self) -> None:
        """Close the file."""
        self._memory.close()

    def _ids(self) -> dict[str, str]:
        if not hasattr(self, "_known"):
            self._known = {str(m.ref): m.id for m in self._memory.get_all(kinds=["message"])}
        return self._known

    def _message(self, key: str, text: str) -> Message:
        return Message(role="user", content=text, at=START + timedelta(seconds=int(key[1:])), id=key)


if __name__ == "__main__":
    run(Slowwave)
