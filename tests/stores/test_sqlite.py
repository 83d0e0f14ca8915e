"""The SQLite store against the contract of every store, in RAM and in a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from slowwave.stores.sqlite import SqliteStore
from slowwave.testing.contract import StoreContract
from slowwave.testing.search_contract import SearchContract


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:" if request.param == "memory" else str(tmp_path / "a name, mit Ümlaut.db"))
    yield opened
    opened.close()


class TestSqlite(StoreContract):
    pass


class TestSqliteSearch(SearchContract):
    pass
