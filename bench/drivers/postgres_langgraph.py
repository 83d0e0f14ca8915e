"""LangGraph's PostgresStore with its HNSW index, as in its documentation."""

from collections.abc import Sequence
from contextlib import ExitStack

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore
from on_postgres import run
from stub import DIM, embed


class LangGraph:
    """One connection, one statement an operation."""

    def __init__(self, url: str) -> None:
        self._open = ExitStack()
        index = {"dims": DIM, "embed": lambda texts: embed(texts).tolist(), "fields": ["text"]}
        self._store = self._open.enter_context(PostgresStore.from_conn_string(url, index=index))
        self._store.setup()

    def fill(self, space: str, pairs: Sequence[tuple[str, str]]) -> None:
        """One batch of puts."""
        self._store.batch([PutOp((space,), key, {"text": text}) for key, text in pairs])

    def add(self, space: str, key: str, text: str) -> None:
        """One put."""
        self._store.put((space,), key, {"text": text})

    def search(self, space: str, text: str, wanted: int) -> list[str]:
        """Search by meaning."""
        return [item.key for item in self._store.search((space,), query=text, limit=wanted)]

    def close(self) -> None:
        """Close the connection."""
        self._open.close()


if __name__ == "__main__":
    run(LangGraph)
