"""mem0 with its default vector store (Qdrant on disk, in process) and history, `infer=False`: no model is called."""

import os
from collections.abc import Sequence
from pathlib import Path

os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "unused"}

from course import run
from stub import DIM, vector

WHO = {"user_id": "bench"}


class Free:
    """The interface of an embedder of mem0."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002 - mem0's signature
        """384 numbers."""
        return vector(text).tolist()

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:  # noqa: ARG002
        """384 numbers a text."""
        return [vector(text).tolist() for text in texts]


class Mem0:
    """Keys are stored as metadata, since mem0 creates its own ids."""

    def __init__(self, folder: Path) -> None:
        os.environ["MEM0_DIR"] = str(folder)
        from mem0 import Memory  # noqa: PLC0415 - it reads MEM0_DIR at import

        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": str(folder / "qdrant"),
                        "on_disk": True,
                        "embedding_model_dims": DIM,
                        "collection_name": "bench",
                    },
                },
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = Free()
        self._ids: dict[str, str] = {}

    def add(self, key: str, text: str) -> None:
        """One message, stored verbatim."""
        made = self._memory.add(text, infer=False, metadata={"key": key}, **WHO)
        self._ids[key] = made["results"][0]["id"]

    def fill(self, pairs: Sequence[tuple[str, str]]) -> None:
        """One by one: with infer=False a list of messages is stored one by one as well."""
        for key, text in pairs:
            self.add(key, text)

    def search(self, text: str, wanted: int) -> list[str]:
        """Search by meaning; the keyword search needs spaCy's model, which is a download."""
        found = self._memory.search(text, top_k=wanted, filters=WHO)["results"]
        return [one["metadata"]["key"] for one in found]

    def delete(self, key: str) -> None:
        """Delete it; the history keeps its text."""
        self._memory.delete(self._ids[key])

    def close(self) -> None:
        """Release the lock on the folder."""
        self._memory.vector_store.client.close()
        self._memory.close()


if __name__ == "__main__":
    run(Mem0)
