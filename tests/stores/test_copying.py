"""A store copied into another kind and back is the same store."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from slowwave.errors import CorruptError, InputError
from slowwave.model.query import Query, Where
from slowwave.stores import copying
from slowwave.stores.copying import TABLES, copy, state_hash
from slowwave.stores.postgres import PostgresStore
from slowwave.stores.sqlite import SqliteStore
from slowwave.testing.plans import NOW, SCOPE, add, advance, change, entry, fact, link, message, plan, use

OTHER = "acme/bob"
Rows = Sequence[Sequence[object]]


@pytest.fixture
def full() -> Iterator[SqliteStore]:
    store = SqliteStore(":memory:")
    tea, rye = fact("Likes tea"), fact("Likes rye")
    store.apply(plan(*(add(message(f"Note {n}")) for n in range(5)), cause="observe"))
    store.apply(plan(add(tea), replace(add(rye), entry=None), link(tea.id, rye.id), advance(0, 3)))
    store.apply(plan(change(tea, text="Likes green tea", phase="core"), use(rye)))
    other = replace(add(fact("Likes oats", scope=OTHER)), entry=entry("Likes oats", "other-8"))
    store.apply(plan(other, scope=OTHER))
    yield store
    store.close()


def said(store: SqliteStore | PostgresStore) -> object:
    vector = np.frombuffer(entry("tea").vectors, dtype="<f4")
    query = Query(text="tea", top_k=5, now=NOW, vector=vector, embedder="test-8")
    return store.select([SCOPE, OTHER], Where()), store.runs(SCOPE), store.search([SCOPE], query), store.secret


def test_there_and_back_every_row_is_the_same(full: SqliteStore, in_postgres: PostgresStore) -> None:
    in_postgres.apply(plan(add(fact("Not here", scope="zz")), scope="zz"))  # so that tokens differ
    done: list[str] = []
    there = copy(full, in_postgres, told=done.append)
    assert (there.scopes, there.known, done) == (2, 0, [SCOPE, OTHER])
    assert said(in_postgres)[:3] == said(full)[:3]  # type: ignore[index]  # a tuple
    assert in_postgres.check(deep=True) == []
    back = SqliteStore(":memory:")
    assert copy(in_postgres, back).hashes.items() >= there.hashes.items()
    assert said(back)[:3] == said(full)[:3]  # type: ignore[index]  # a tuple
    assert back.secret == in_postgres.secret
    assert back.check(deep=True) == []
    assert not back.apply(plan(add(message("Next")), add(fact("Likes milk")))).dropped
    back.close()


def test_it_goes_on_where_it_was_interrupted(full: SqliteStore, in_postgres: PostgresStore) -> None:
    def stop(path: str) -> None:
        raise KeyboardInterrupt(path)

    with pytest.raises(KeyboardInterrupt):
        copy(full, in_postgres, told=stop)
    rest = copy(full, in_postgres)
    assert (rest.scopes, rest.known) == (1, 1)
    assert "same hash" in str(rest)
    assert state_hash(in_postgres, SCOPE) == state_hash(full, SCOPE)


@pytest.mark.parametrize("fails", [3, 5, 8])
def test_a_scope_that_was_copied_in_part_goes_on_with_the_next_row(
    full: SqliteStore, in_postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    monkeypatch.setattr(copying, "_BATCH", 2)
    monkeypatch.setattr(copying, "_STEP", 3)
    whole, calls, written = copy(full, SqliteStore(":memory:")).rows, count(1), copying._written

    def stop(store: PostgresStore, table: str, token: int, rows: Rows) -> int:
        if next(calls) == fails:
            raise KeyboardInterrupt
        return written(store, table, token, rows)

    monkeypatch.setattr(copying, "_written", stop)
    with pytest.raises(KeyboardInterrupt):
        copy(full, in_postgres)
    assert in_postgres.count(SCOPE)
    rest = copy(full, in_postgres)
    assert 0 < rest.rows < whole
    assert state_hash(in_postgres, SCOPE) == state_hash(full, SCOPE)
    assert in_postgres.lease(SCOPE, "me", 60, NOW) == 1  # nobody holds it any more
    assert in_postgres.check(deep=True) == []


def test_a_copy_that_is_not_what_the_source_holds_is_told(
    full: SqliteStore, in_postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = copying._written

    def less(store: PostgresStore, table: str, token: int, rows: Rows) -> int:
        return written(store, table, token, rows[1:] if table == "links" else rows)

    monkeypatch.setattr(copying, "_written", less)
    with pytest.raises(CorruptError, match="not what"):
        copy(full, in_postgres)


def test_a_scope_that_holds_something_else_is_not_touched(full: SqliteStore, in_postgres: PostgresStore) -> None:
    in_postgres.apply(plan(add(fact("Likes milk"))))
    with pytest.raises(InputError, match="other memories"):
        copy(full, in_postgres)
    assert [one.text for one in in_postgres.select([SCOPE], Where())] == ["Likes milk"]


def test_every_column_of_every_table_is_copied(full: SqliteStore) -> None:
    for (table,) in full._db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table not in {"store", "scopes", "embedders", "leases", "snapshots"}:
            columns = {row[0] for row in full._db.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()}
            assert columns == set(TABLES[table]), table
