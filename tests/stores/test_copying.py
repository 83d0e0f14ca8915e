"""Copying a store between SQLite and Postgres keeps every row."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from slowwave.errors import CorruptError, InputError
from slowwave.model.query import Query, Where
from slowwave.stores import copy as copying, row_transfer
from slowwave.stores.copy import copy, discard_partial_copy, state_hash
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.row_transfer import TABLES, RowTransfer
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import NOW, SCOPE, add, advance, change, entry, fact, link, message, plan, use

OTHER = "acme/bob"
EVERYTHING = Where(cascade=None)
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


@pytest.fixture(params=["postgres", "sqlite"])
def target(request: pytest.FixtureRequest) -> Iterator[PostgresStore | SqliteStore]:
    """An empty store of either kind."""
    if request.param == "postgres":
        yield request.getfixturevalue("in_postgres")
        return
    store = SqliteStore(":memory:")
    yield store
    store.close()


def interrupt(
    source: SqliteStore, target: SqliteStore | PostgresStore, monkeypatch: pytest.MonkeyPatch, *, fails: int
) -> None:
    """Begin a copy and interrupt it in the first scope, before this batch of two rows."""
    calls, written = count(1), RowTransfer.write_rows

    def stop(store: PostgresStore, table: str, token: int, rows: Rows) -> int:
        if next(calls) == fails:
            raise KeyboardInterrupt
        return written(store, table, token, rows)

    with monkeypatch.context() as patch:
        patch.setattr(row_transfer, "_BATCH", 2)
        patch.setattr(copying, "_STEP", 3)
        patch.setattr(RowTransfer, "write_rows", stop)
        with pytest.raises(KeyboardInterrupt):
            copy(source, target)


def left(store: SqliteStore | PostgresStore) -> int:
    """The number of rows whose scope does not exist."""
    with store._guard:
        store._see_every_scope()
        tables = (
            f"SELECT count(*) FROM {table} WHERE scope NOT IN (SELECT token FROM scopes)"
            for table in [*TABLES, "leases"]
        )
        return sum(store._db.execute(query).get for query in tables)


def hits(store: SqliteStore | PostgresStore) -> object:
    vector = np.frombuffer(entry("tea").vectors, dtype="<f4")
    return store.search([SCOPE], Query(text="tea", top_k=5, now=NOW, vector=vector, embedder="test-8"))


def said(store: SqliteStore | PostgresStore) -> object:
    return store.select([SCOPE, OTHER], Where()), store.runs(SCOPE), hits(store), store.secret


def test_a_copy_there_and_back_keeps_every_row(full: SqliteStore, in_postgres: PostgresStore) -> None:
    in_postgres.apply(plan(add(fact("Not here", scope="zz")), scope="zz"))  # so that tokens differ
    done: list[str] = []
    there = copy(full, in_postgres, on_progress=done.append)
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


def test_an_interrupted_copy_skips_the_scopes_that_are_complete(full: SqliteStore, in_postgres: PostgresStore) -> None:
    def stop(path: str) -> None:
        raise KeyboardInterrupt(path)

    with pytest.raises(KeyboardInterrupt):
        copy(full, in_postgres, on_progress=stop)
    rest = copy(full, in_postgres)
    assert (rest.scopes, rest.known) == (1, 1)
    assert "same hash" in str(rest)
    assert state_hash(in_postgres, SCOPE) == state_hash(full, SCOPE)


@pytest.mark.parametrize("fails", [3, 5, 8])
def test_a_partly_copied_scope_continues_with_the_next_row(
    full: SqliteStore, in_postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    monkeypatch.setattr(row_transfer, "_BATCH", 2)
    monkeypatch.setattr(copying, "_STEP", 3)
    whole, calls, written = copy(full, SqliteStore(":memory:")).rows, count(1), RowTransfer.write_rows

    def stop(store: PostgresStore, table: str, token: int, rows: Rows) -> int:
        if next(calls) == fails:
            raise KeyboardInterrupt
        return written(store, table, token, rows)

    monkeypatch.setattr(RowTransfer, "write_rows", stop)
    with pytest.raises(KeyboardInterrupt):
        copy(full, in_postgres)
    assert not in_postgres.count(SCOPE)
    rest = copy(full, in_postgres)
    assert 0 < rest.rows < whole
    assert state_hash(in_postgres, SCOPE) == state_hash(full, SCOPE)
    assert in_postgres.lease(SCOPE, "me", 60, NOW) == 1  # the lease is free
    assert in_postgres.check(deep=True) == []


@pytest.mark.parametrize("fails", [5, 13, 17])
def test_a_partial_copy_is_invisible_and_can_be_completed(
    full: SqliteStore, target: SqliteStore | PostgresStore, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    interrupt(full, target, monkeypatch, fails=fails)
    later = NOW + timedelta(days=4000)
    assert target.scopes_due(later, 10) == []
    assert not target.select([SCOPE], EVERYTHING)
    assert target.runs(SCOPE) == []
    assert any("1 scopes were copied only in part" in one for one in target.check(deep=True))
    assert copy(target, SqliteStore(":memory:")).scopes == 0  # a partial copy is not copied
    assert target.lease(SCOPE, "a sleeper", 60, NOW) == 1  # of a scope without rows
    done = copy(full, target)
    assert (done.scopes, done.known) == (2, 0)
    assert [state_hash(target, one) for one in (SCOPE, OTHER)] == [state_hash(full, one) for one in (SCOPE, OTHER)]
    assert said(target) == said(full)
    assert sorted(target.scopes_due(later, 10)) == sorted(full.scopes_due(later, 10))
    assert target.check(deep=True) == []
    assert left(target) == 0
    assert copy(full, target).known == 2
    assert not target.apply(plan(add(message("Next")), add(fact("Likes milk")))).dropped


@pytest.mark.parametrize("slept", [False, True])
def test_a_target_that_was_open_before_the_copy_writes_to_the_complete_scope(
    full: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slept: bool
) -> None:
    target, other = SqliteStore(str(tmp_path / "memory.db")), SqliteStore(str(tmp_path / "memory.db"))
    interrupt(full, target, monkeypatch, fails=13)
    target.close()
    if slept:
        assert other.lease(SCOPE, "a sleeper", 60, NOW) == 1  # this store caches the token of the scope
    assert not hits(other)
    target = SqliteStore(str(tmp_path / "memory.db"))
    copy(full, target)
    assert hits(other) == hits(target) == hits(full)
    assert other.apply(plan(add(fact("Likes milk")))).applied
    assert [one.text for one in target.select([SCOPE], Where())] == [one.text for one in other.select([SCOPE], Where())]
    assert target.count(SCOPE) != full.count(SCOPE)
    assert target.check(deep=True) == []
    target.close()
    other.close()


def test_rows_written_during_an_interruption_are_kept_and_the_copy_is_refused(
    full: SqliteStore, target: SqliteStore | PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(full, target, monkeypatch, fails=17)
    target.apply(plan(add(fact("Likes milk"))))
    for _ in range(2):
        with pytest.raises(InputError, match="other memories"):
            copy(full, target)
    assert [one.text for one in target.select([SCOPE], Where())] == ["Likes milk"]
    assert target.check(deep=True) == []
    assert left(target) == 0


def test_rows_written_just_before_a_copy_is_completed_are_kept(
    full: SqliteStore, target: SqliteStore | PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = RowTransfer.name_scope

    def late(store: PostgresStore, half: str, path: str) -> None:
        store.apply(plan(add(fact("Likes milk"))))
        whole(store, half, path)

    with monkeypatch.context() as patch:
        patch.setattr(RowTransfer, "name_scope", late)
        with pytest.raises(InputError, match="other memories"):
            copy(full, target)
    assert [one.text for one in target.select([SCOPE], Where())] == ["Likes milk"]
    assert discard_partial_copy(target) == 1
    assert target.check(deep=True) == []
    assert left(target) == 0


def test_a_source_that_changed_since_the_interruption_is_copied_from_the_beginning(
    full: SqliteStore, target: SqliteStore | PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(full, target, monkeypatch, fails=17)
    tea = next(one for one in full.select([SCOPE], Where()) if one.text == "Likes green tea")
    full.apply(plan(change(tea, text="Likes black tea")))
    with pytest.raises(CorruptError, match="discarded"):
        copy(full, target)
    copy(full, target)
    assert state_hash(target, SCOPE) == state_hash(full, SCOPE)
    assert left(target) == 0


def test_a_partial_copy_can_be_discarded(
    full: SqliteStore, target: SqliteStore | PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(full, target, monkeypatch, fails=17)
    assert [discard_partial_copy(target), discard_partial_copy(target)] == [1, 0]
    assert target.check(deep=True) == []
    assert left(target) == 0
    assert copy(full, target).scopes == 2


def test_the_second_of_two_simultaneous_copies_is_refused(
    full: SqliteStore, target: SqliteStore | PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, calls = RowTransfer.write_rows, count(1)

    def between(store: PostgresStore, table: str, token: int, rows: Rows) -> int:
        done = written(store, table, token, rows)
        if next(calls) == 3:
            store._db.execute(f"UPDATE scopes SET path = 'zz' WHERE token = {token}")  # as the other copy does
        return done

    monkeypatch.setattr(row_transfer, "_BATCH", 2)
    monkeypatch.setattr(copying, "_STEP", 3)
    monkeypatch.setattr(RowTransfer, "write_rows", between)
    with pytest.raises(InputError, match="one at a time"):
        copy(full, target)


def test_a_copy_that_differs_from_its_source_is_reported(
    full: SqliteStore, in_postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = RowTransfer.write_rows

    def less(store: PostgresStore, table: str, token: int, rows: Rows) -> int:
        return written(store, table, token, rows[1:] if table == "links" else rows)

    monkeypatch.setattr(RowTransfer, "write_rows", less)
    with pytest.raises(CorruptError, match="differs from"):
        copy(full, in_postgres)


def test_a_scope_with_other_content_is_not_changed(full: SqliteStore, in_postgres: PostgresStore) -> None:
    in_postgres.apply(plan(add(fact("Likes milk"))))
    with pytest.raises(InputError, match="other memories"):
        copy(full, in_postgres)
    assert [one.text for one in in_postgres.select([SCOPE], Where())] == ["Likes milk"]


def test_every_column_of_every_table_is_copied(full: SqliteStore) -> None:
    for (table,) in full._db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table not in {
            "store",
            "scopes",
            "embedders",
            "leases",
            "snapshots",
            "access_keys",
            "answers",
            "model_use",
            "model_pauses",
            "log",
        }:
            columns = {row[0] for row in full._db.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()}
            assert columns == set(TABLES[table]), table
