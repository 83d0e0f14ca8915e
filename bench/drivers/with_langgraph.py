"""LangGraph's SqliteStore with its vector index (sqlite-vec), one namespace."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from course import run
from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore
from stub import DIM, embed

SPACE = ("bench",)


def _driver() -> ModuleType:
    """The index is an extension; a Python built without extension loading needs another build of the same module."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    import pysqlite3  # noqa: PLC0415 - see above

    return pysqlite3


class LangGraph:
    """A connection with the settings of `SqliteStore.from_conn_string`."""

    def __init__(self, folder: Path) -> None:
        self._db = _driver().connect(str(folder / "store.db"), check_same_thread=False, isolation_level=None)
        self._store = SqliteStore(
            self._db, index={"dims": DIM, "embed": lambda texts: embed(texts).tolist(), "fields": ["text"]}
        )
        self._store.setup()

    def add(self, key: str, text: str) -> None:
        """One put."""
        self._store.put(SPACE, key, {"text": text})

    def fill(self, pairs: Sequence[tuple[str, str]]) -> None:
        """One batch of puts."""
        self._store.batch([PutOp(SPACE, key, {"text": text}) for key, text in pairs])

    def search(self, text: str, wanted: int) -> list[str]:
        """Search by meaning."""
        return [item.key for item in self._store.search(SPACE, query=text, limit=wanted)]

    def delete(self, key: str) -> None:
        """Delete it, irreversibly."""
        self._store.delete(SPACE, key)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


if __name__ == "__main__":
    run(LangGraph)
