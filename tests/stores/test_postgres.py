"""The Postgres store against the contract of every store."""

from collections.abc import Iterator

import psycopg
import pytest

from slowwave.stores.postgres import PostgresStore
from slowwave.testing.contract import StoreContract
from slowwave.testing.postgres import PostgresServer
from slowwave.testing.search_contract import SearchContract


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    return postgres.database()


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(address, connections=4)
    with psycopg.connect(address) as db:
        db.execute(
            "TRUNCATE slowwave.scopes, slowwave.embedders, slowwave.memories, slowwave.entries, slowwave.gists, "
            "slowwave.conversations, slowwave.cursors, slowwave.leases, slowwave.links, slowwave.held, slowwave.runs, "
            "slowwave.journal"
        )
    yield opened
    opened.close()


class TestPostgres(StoreContract):
    pass


class TestPostgresSearch(SearchContract):
    pass
