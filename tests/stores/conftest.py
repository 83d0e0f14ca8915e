"""A fixture with a Postgres store that is empty for each test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest

from slowwave.stores.migrations import migrations
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer

TABLES = (
    *("scopes", "embedders", "memories", "entries", "gists", "conversations", "cursors"),
    *("leases", "links", "held", "runs", "journal", "snapshots", "due", "access_keys", "answers"),
    *(f"search_{name}" for name in ("state", "taken", "places", "postings", "terms", "rests", "talks", "speakers")),
)


@pytest.fixture(scope="session")
def address(shared_postgres: PostgresServer) -> str:
    """A database that the tests of this process share."""
    return shared_postgres.database()


@pytest.fixture
def emptied(address: str) -> Callable[[], None]:
    """Take everything out of it."""

    def truncate() -> None:
        with psycopg.connect(address) as db:
            db.execute(f"TRUNCATE {', '.join(f'slowwave.{name}' for name in TABLES)}".encode())

    return truncate


@pytest.fixture
def in_postgres(address: str, emptied: Callable[[], None]) -> Iterator[PostgresStore]:
    """An empty store in Postgres."""
    opened = PostgresStore(address, connections=4, busy_seconds=10)
    emptied()
    yield opened
    opened.close()


@contextmanager
def older_store(address: str, steps: int) -> Iterator[PostgresStore]:
    """A store after the first migrations. While the block runs it has the columns that every write needs."""
    opened = PostgresStore(address, steps=migrations("postgres")[:steps])
    with psycopg.connect(address) as db:
        db.execute("ALTER TABLE slowwave.runs ADD undoes text, ADD details text NOT NULL DEFAULT '[]'")
        db.execute("ALTER TABLE slowwave.conversations ADD title text")
    yield opened
    opened.close()
    with psycopg.connect(address) as db:
        db.execute("ALTER TABLE slowwave.runs DROP undoes, DROP details")
        db.execute("ALTER TABLE slowwave.conversations DROP title")
