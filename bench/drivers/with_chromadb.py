"""chromadb's PersistentClient: one collection, cosine distance, precomputed vectors."""

from collections.abc import Sequence
from pathlib import Path

import chromadb
from chromadb.config import Settings
from course import run
from stub import embed, vector


class Chroma:
    """One collection in a folder."""

    def __init__(self, folder: Path) -> None:
        self._client = chromadb.PersistentClient(str(folder / "chroma"), Settings(anonymized_telemetry=False))
        self._notes = self._client.get_or_create_collection(
            "bench", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, key: str, text: str) -> None:
        """One add."""
        self.fill([(key, text)])

    def fill(self, pairs: Sequence[tuple[str, str]]) -> None:
        """One add of many."""
        keys, texts = [key for key, _ in pairs], [text for _, text in pairs]
        self._notes.add(ids=keys, documents=texts, embeddings=embed(texts))

    def search(self, text: str, wanted: int) -> list[str]:
        """Approximate search by meaning (HNSW)."""
        return self._notes.query(query_embeddings=[vector(text)], n_results=wanted)["ids"][0]

    def delete(self, key: str) -> None:
        """Delete it, irreversibly."""
        self._notes.delete(ids=[key])

    def close(self) -> None:
        """Stop the client, which closes the files."""
        self._client.close()


if __name__ == "__main__":
    run(Chroma)
