"""What other programs do to a store's files is refused in one sentence; nothing is changed and nothing is lost."""

import contextlib
import os
import random
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.attack.files import every_verb, filled, remove_store

from slowwave import AgentMemory
from slowwave.errors import CorruptError, InputError, NotFoundError, SettingsError, StoreError
from slowwave.testing import FrozenClock
from slowwave.testing.builders import NOW


def opened(path: Path, **options: Any) -> AgentMemory:  # noqa: ANN401 - those of `open`
    return AgentMemory.open(path, llm=None, embedder="none", clock=FrozenClock(NOW), **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with opened(tmp_path / "a.db") as memory:
        memory.add("Alice owns the deploy pipeline")
    return tmp_path / "a.db"


@pytest.mark.parametrize("name", ["a.db", "b.db"])
def test_a_store_with_a_hard_link_is_refused_by_each_of_its_names(path: Path, name: str) -> None:
    path.with_name("b.db").hardlink_to(path)
    before = contents(path.parent)
    with pytest.raises(StoreError, match="has 2 names"):
        opened(path.with_name(name))
    assert contents(path.parent) == before
    path.with_name("b.db").unlink()
    with opened(path) as memory:
        assert [fact.text for fact in memory.get_all()] == ["Alice owns the deploy pipeline"]


def test_an_emptied_store_beside_its_log_is_refused_and_the_log_is_kept(path: Path) -> None:
    with opened(path) as memory:
        memory.add("Bob owns the cache")
        shutil.copy(f"{path}-wal", path.with_name("log"))
    path.write_bytes(b"")
    path.with_name("log").rename(f"{path}-wal")
    before = contents(path.parent)
    with pytest.raises(CorruptError, match=r"is empty, and a\.db-wal beside it holds writes"):
        opened(path)
    assert contents(path.parent) == before


def test_an_empty_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "a.db").touch()
    with pytest.raises(NotFoundError, match="is an empty file, not a store"):
        opened(tmp_path / "a.db", create=False)
    with pytest.raises(StoreError, match=r"is empty \(0 bytes\)"):
        opened(tmp_path / "a.db")
    assert contents(tmp_path) == {"a.db": b""}


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_truncated_store_is_refused_and_not_changed(path: Path, kept: float) -> None:
    os.truncate(path, int(path.stat().st_size * kept))
    before = path.read_bytes()

    def used() -> None:
        with opened(path) as memory:
            memory.get_all()
            if memory.doctor(deep=True):
                raise CorruptError("found by the check")

    with pytest.raises(StoreError):
        used()
    assert path.read_bytes() == before


def test_a_settings_folder_that_cannot_be_read_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.delenv("SLOWWAVE_CONFIG", raising=False)
    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(SettingsError, match=r"\.toml: Permission denied: check HOME .* SLOWWAVE_CONFIG"):
        opened(tmp_path / "a.db")


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3000, "\ud800", "a\x00b", ""])
def test_a_path_that_no_file_can_have_is_refused_by_every_verb_that_takes_one(path: Path, name: str) -> None:
    with opened(path) as memory:
        plan = memory.sleep(dry_run=True).plan
        before = contents(path.parent)
        for verb in (
            memory.import_,
            memory.export,
            memory.backup,
            memory.load_plan,
            lambda where: memory.save_plan(plan, where),
            memory.export_vault,
            memory.import_vault,
            memory.sync_vault,
        ):
            with pytest.raises((InputError, StoreError)):
                verb(name)
        assert contents(path.parent) == before


# ---- damage


def every_verb_survives_damage(folder: Path, rounds: int) -> None:
    data, bad = filled(folder / "good.db"), folder / "bad.db"
    # Half of the bits are flipped in the lines of the tables, where a decoder meets them before SQLite does.
    places = [at for at, byte in enumerate(data) if byte in b'{}[]":,']
    failed: list[str] = []
    for seed in range(rounds):
        chance = random.Random(seed)
        broken = bytearray(data)
        place = chance.choice(places) if seed % 2 else chance.randrange(len(data))
        broken[place] ^= 1 << chance.randrange(8)
        remove_store(bad)
        bad.write_bytes(broken)
        failed += [f"{seed} {wrong}" for wrong in every_verb(bad)]
    assert failed == []


def test_every_verb_on_a_damaged_store_raises_only_errors_of_the_library(tmp_path: Path) -> None:
    every_verb_survives_damage(tmp_path, 8)


def numbers_out_of_range(folder: Path, tables: tuple[str, ...]) -> int:
    """Put a far too great number into each column of whole numbers of these tables, and use every verb. Returns how many."""
    path = folder / "good.db"
    filled(path)
    with contextlib.closing(apsw.Connection(str(path))) as db:
        every = tables or tuple(name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"))
        columns = [
            (table, name)
            for table in every
            for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})")
            if kind == "INTEGER"
        ]
    data = path.read_bytes()
    for table, column in columns:
        path.write_bytes(data)
        with contextlib.closing(apsw.Connection(str(path))) as db, contextlib.suppress(apsw.Error):
            db.execute(f"UPDATE {table} SET {column} = {2**63 - 9}")
        assert every_verb(path) == [], (table, column)
    return len(columns)


def test_a_number_out_of_range_raises_only_errors_of_the_library_and_every_verb_ends(tmp_path: Path) -> None:
    assert numbers_out_of_range(tmp_path, ("conversations", "cursors")) > 3


@pytest.mark.long
def test_a_number_out_of_range_in_any_column_raises_only_errors_of_the_library(tmp_path: Path) -> None:
    assert numbers_out_of_range(tmp_path, ()) > 50


@pytest.mark.long
def test_every_verb_on_a_thousand_damaged_stores_raises_only_errors_of_the_library(tmp_path: Path) -> None:
    every_verb_survives_damage(tmp_path, 1000)
