"""The Postgres store against the contract of every store."""

import pytest

from slowwave.stores.postgres import PostgresStore
from slowwave.testing.contract import StoreContract
from slowwave.testing.search_contract import SearchContract


@pytest.fixture
def store(in_postgres: PostgresStore) -> PostgresStore:
    return in_postgres


class TestPostgres(StoreContract):
    pass


class TestPostgresSearch(SearchContract):
    pass
