"""Backups are complete, and erased bytes are in no file."""

import stat
from pathlib import Path

import apsw
import pytest

from slowwave.errors import BusyError, CorruptError, InputError, StoreError
from slowwave.model.operations import Erase
from slowwave.model.query import Where
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import SCOPE, add, change, fact, group, message, plan

EVERYTHING = Where(cascade=None)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_backup_during_writes_is_complete(tmp_path: Path) -> None:
    store, other = SqliteStore(str(tmp_path / "memory.db")), SqliteStore(str(tmp_path / "memory.db"))
    store.apply(plan(*(add(message(f"Note {n}")) for n in range(100))))
    other.apply(plan(add(fact("Likes tea"))))
    store.backup(str(tmp_path / "copy.db"))
    other.apply(plan(add(fact("Likes rye"))))
    copy = SqliteStore(str(tmp_path / "copy.db"))
    assert copy.check(deep=True) == []
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    assert len(copy.select([SCOPE], EVERYTHING)) == 101
    with pytest.raises(InputError, match="exists"):
        store.backup(str(tmp_path / "copy.db"))
    with pytest.raises(StoreError):
        store.backup(str(tmp_path / "nowhere" / "copy.db"))
    for one in (store, other, copy):
        one.close()


def test_a_backup_that_is_not_sound_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"))
    store.apply(plan(add(fact("Likes tea"))))
    store._db.execute("UPDATE memories SET text = 'Likes rye'")
    before = set(contents(tmp_path))
    with pytest.raises(CorruptError, match="not sound"):
        store.backup(str(tmp_path / "copy.db"))
    assert set(contents(tmp_path)) == before
    store.close()


def test_a_backup_next_to_the_log_of_another_database_is_refused(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"))
    (tmp_path / "copy.db-wal").write_text("of another database")
    with pytest.raises(InputError, match=r"copy\.db-wal.* exists"):
        store.backup(str(tmp_path / "copy.db"))
    assert (tmp_path / "copy.db-wal").read_text() == "of another database"
    assert not (tmp_path / "copy.db").exists()
    store.close()


def test_a_backup_over_the_open_store_itself_is_refused(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"))
    with pytest.raises(InputError, match="exists"):
        store.backup(str(tmp_path / "memory.db"))
    assert not store.apply(plan(add(fact("Likes tea")))).dropped
    store.close()


def test_erased_bytes_are_in_no_file_after_a_rewrite(tmp_path: Path) -> None:
    canary = "XyzzyCanary0451"
    store = SqliteStore(str(tmp_path / "memory.db"))
    secret, tea = message(f"My code is {canary}"), fact(f"The code is {canary}")
    store.apply(plan(group([add(secret), add(tea)], f"code {canary}")))
    store.apply(
        plan(
            change(tea, text=f"The door's code is {canary}", because=canary), *(add(message(f"{n}")) for n in range(50))
        )
    )
    assert any(canary.encode() in data for data in contents(tmp_path).values())
    store.apply(plan(Erase(memory=secret.id, because="asked to"), Erase(memory=tea.id, because="asked to")))
    store.rewrite_erased()
    assert [name for name, data in contents(tmp_path).items() if canary.encode() in data] == []
    assert store.check(deep=True) == []
    store.close()


def test_a_rewrite_during_another_read_asks_to_try_again(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"), busy_seconds=0.05)
    other = apsw.Connection(str(tmp_path / "memory.db"))
    store.apply(plan(add(fact("Likes tea"))))
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM memories").fetchall()
    store.apply(plan(add(fact("Likes rye"))))
    with pytest.raises(BusyError):
        store.rewrite_erased()
    other.close()
    store.rewrite_erased()
    store.close()
