"""A fixture with a Postgres store that is empty for each test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from slowwave.stores.migrations import migrations
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer

TABLES = (
    *("scopes", "embedders", "memories", "entries", "gists", "conversations", "cursors"),
    *("leases", "links", "held", "runs", "journal", "snapshots", "due", "pending_proofs", "access_keys", "answers"),
    *("model_use", "model_pauses"),
    *(f"search_{name}" for name in ("state", "taken", "places", "postings", "terms", "rests", "talks", "speakers")),
)


@pytest.fixture(scope="session")
def address(shared_postgres: PostgresServer) -> str:
    """A database that the tests of this process share."""
    return shared_postgres.database()


@pytest.fixture(scope="session")
def sweepers(address: str) -> Iterator[list["psycopg.Connection[Any]"]]:
    """A connection to it, as the last of the list: a new one reads the catalogue of all tables again."""
    made = [psycopg.connect(address, autocommit=True)]
    yield made
    made[-1].close()


@pytest.fixture
def emptied(address: str, sweepers: list["psycopg.Connection[Any]"]) -> Callable[[], None]:
    """Take everything out of it."""

    def empty() -> None:
        try:
            truncate(sweepers[-1])
        except psycopg.OperationalError:  # a test has ended all connections to the database
            sweepers.append(psycopg.connect(address, autocommit=True))
            truncate(sweepers[-1])

    return empty


def truncate(db: "psycopg.Connection[Any]") -> None:
    """Take all rows out of a store in Postgres. To truncate a table takes longer than to see that it has no rows."""
    seen = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM slowwave.{name})" for name in TABLES)
    filled = [f"slowwave.{name}" for (name,) in db.execute(seen.encode())]
    if filled:
        db.execute(f"TRUNCATE {', '.join(filled)}".encode())


@pytest.fixture
def in_postgres(address: str, emptied: Callable[[], None]) -> Iterator[PostgresStore]:
    """An empty store in Postgres."""
    opened = PostgresStore(address, connections=4, busy_seconds=10)
    emptied()
    yield opened
    opened.close()


@contextmanager
def older_store(address: str, steps: int) -> Iterator[PostgresStore]:
    """A store after the first migrations. While the block runs it has what every write and every copy needs."""
    opened = PostgresStore(address, steps=migrations("postgres")[:steps])
    with psycopg.connect(address) as db:
        db.execute("ALTER TABLE slowwave.runs ADD undoes text, ADD details text NOT NULL DEFAULT '[]', ADD seal bigint")
        db.execute("ALTER TABLE slowwave.conversations ADD title text")
        db.execute("ALTER TABLE slowwave.memories ADD zone text")
        db.execute("CREATE FUNCTION slowwave.refuse_newer(integer) RETURNS void LANGUAGE sql AS ''")
        db.execute("CREATE FUNCTION slowwave.unnamed(text) RETURNS text LANGUAGE sql RETURN $1")
    yield opened
    opened.close()
    with psycopg.connect(address) as db:
        db.execute("ALTER TABLE slowwave.runs DROP undoes, DROP details, DROP seal")
        db.execute("ALTER TABLE slowwave.memories DROP zone")
        db.execute("DROP FUNCTION slowwave.refuse_newer(integer), slowwave.unnamed(text)")
        db.execute("ALTER TABLE slowwave.conversations DROP title")
