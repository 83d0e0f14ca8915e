"""The Postgres store against the contract of every store."""

import pytest

from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.store_contract.access import AccessContract
from slowwave.testing.store_contract.model_limits import ModelLimitsContract
from slowwave.testing.store_contract.scopes import ScopeContract
from slowwave.testing.store_contract.search import SearchContract
from slowwave.testing.store_contract.write import StoreContract


@pytest.fixture
def store(in_postgres: PostgresStore) -> PostgresStore:
    return in_postgres


class TestPostgres(StoreContract):
    pass


class TestPostgresSearch(SearchContract):
    pass


class TestPostgresScopes(ScopeContract):
    pass


class TestPostgresAccess(AccessContract):
    pass


class TestPostgresModelLimits(ModelLimitsContract):
    pass
