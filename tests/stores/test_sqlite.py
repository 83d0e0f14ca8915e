"""The SQLite store against the contract of every store, in RAM and in a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from slowwave.errors import ConflictError
from slowwave.model.operations import Erase
from slowwave.model.query import Where
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import SCOPE, add, fact, group, message, plan
from slowwave.testing.store_contract.access import AccessContract
from slowwave.testing.store_contract.model_limits import ModelLimitsContract
from slowwave.testing.store_contract.scopes import ScopeContract
from slowwave.testing.store_contract.search import SearchContract
from slowwave.testing.store_contract.write import StoreContract


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:" if request.param == "memory" else str(tmp_path / "a name, mit Ümlaut.db"))
    yield opened
    opened.close()


class TestSqlite(StoreContract):
    pass


class TestSqliteSearch(SearchContract):
    pass


class TestSqliteScopes(ScopeContract):
    pass


class TestSqliteAccess(AccessContract):
    pass


class TestSqliteModelLimits(ModelLimitsContract):
    pass


def test_keys_of_a_failed_write_or_of_another_connection_are_not_reused(tmp_path: Path) -> None:
    ours, theirs = SqliteStore(str(tmp_path / "a.db")), SqliteStore(str(tmp_path / "a.db"))
    ours.apply(plan(add(message("One", ref="1"))))
    with pytest.raises(ConflictError):
        ours.apply(plan(add(message("Two", ref="2")), add(message("Else", ref="1"))))
    theirs.apply(plan(add(message("Two", ref="2"))))
    ours.apply(plan(add(message("Three", ref="3"))))
    ours.apply(plan(Erase(memory=ours.select([SCOPE], Where(text="Three"))[0].id, because="asked to")))
    ours.apply(plan(add(message("Four", ref="4"))))
    stored = [(one.text, one.seq) for one in theirs.select([SCOPE], Where(order="recorded"))]
    assert stored == [("One", 1), ("Two", 2), ("Four", 4)]
    assert theirs.check(deep=True) == []
    ours.close()
    theirs.close()


def test_a_writer_overtaken_between_two_groups_numbers_its_next_run_after_all_others(tmp_path: Path) -> None:
    ours, theirs = SqliteStore(str(tmp_path / "a.db")), SqliteStore(str(tmp_path / "a.db"))
    ours._release_to_writers = lambda: theirs.apply(plan(add(fact("Likes oats"))))  # type: ignore[method-assign]
    assert ours.apply(plan(group([add(fact("Likes tea"))]), group([add(fact("Likes rye"))]))).dropped == ()
    receipt = ours.apply(plan(add(fact("Likes rooibos"))))
    assert receipt.dropped == ()
    assert len(ours.select([SCOPE], Where(cascade=None))) == 4
    theirs.close()
    ours.close()
