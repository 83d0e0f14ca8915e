"""Files that are full, locked, damaged, foreign, newer or missing raise a clear error and are not changed."""

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import (
    BusyError,
    CorruptError,
    DiskFullError,
    ForeignFileError,
    NewerSchemaError,
    ReadOnlyError,
    StoreError,
)
from slowwave.model.memory import Memory
from slowwave.model.query import Where
from slowwave.stores.migrations import migrations
from slowwave.stores.sqlite import file
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.stores.upgrade import init_store, schema_state
from slowwave.testing import Failpoint, Injected
from slowwave.testing.builders import NOW, SCOPE, add, change, fact, group, message, plan

NEXT = len(migrations("sqlite")) + 1
"""The number of a migration that does not exist yet."""

EVERYTHING = Where(cascade=None)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def text_file(path: Path) -> None:
    path.write_text("Dear diary, " * 500)


def other_program(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE songs (title TEXT)")
    db.close()


def other_program_with_an_id(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA application_id = 77")
        db.execute("CREATE TABLE songs (title TEXT)")
    db.close()


def other_program_that_died_with_a_log(path: Path) -> None:
    source = path.with_name("source.db")
    db = sqlite3.connect(source)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE songs (title TEXT)")
    db.execute("PRAGMA wal_checkpoint")
    db.execute("INSERT INTO songs VALUES ('a')")
    db.commit()
    for suffix in ("", "-wal"):
        shutil.copy(f"{source}{suffix}", f"{path}{suffix}")
    db.close()
    source.unlink()


def other_program_with_a_journal(mode: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE songs (title TEXT)")
        db.close()
        assert Path(f"{path}-journal").exists()

    return make


def interrupted(path: Path, *, before: str) -> None:
    """A database with the hot journal of a transaction that was interrupted while it was written."""
    source = path.with_name("source.db")
    db = sqlite3.connect(source, isolation_level=None)
    db.execute(before)
    db.execute("PRAGMA cache_size = 1")
    db.execute("BEGIN")
    db.execute("CREATE TABLE notes (text)")
    db.executemany("INSERT INTO notes VALUES (?)", [("words " * 500,)] * 50)
    for suffix in ("", "-journal"):
        shutil.copy(f"{source}{suffix}", f"{path}{suffix}")
    db.close()
    source.unlink()


def other_program_that_died_in_a_transaction(path: Path) -> None:
    interrupted(path, before="CREATE TABLE songs (title TEXT)")


def text_files_of_these_names(path: Path) -> None:
    text_file(path)
    text_file(Path(f"{path}-journal"))


def damaged_header(path: Path) -> None:
    SqliteStore(str(path)).close()
    data = bytearray(path.read_bytes())
    data[0:8] = bytes(8)
    path.write_bytes(data)


@pytest.mark.parametrize(
    "make",
    [
        *(text_file, other_program, other_program_with_an_id, other_program_that_died_with_a_log, damaged_header),
        pytest.param(other_program_with_a_journal("PERSIST"), id="other_program_with_a_kept_journal"),
        pytest.param(other_program_with_a_journal("TRUNCATE"), id="other_program_with_an_empty_journal"),
        *(other_program_that_died_in_a_transaction, text_files_of_these_names),
    ],
)
def test_a_file_of_another_program_is_refused_and_not_changed(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "some.db")
    before = contents(tmp_path)
    with pytest.raises(ForeignFileError, match="not touched"):
        SqliteStore(str(tmp_path / "some.db"))
    assert contents(tmp_path) == before


def test_a_database_of_another_program_with_tables_only_in_its_log_is_refused_and_not_changed(tmp_path: Path) -> None:
    source, path = tmp_path / "source.db", tmp_path / "some.db"
    db = sqlite3.connect(source)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE songs (title TEXT)")
    for suffix in ("", "-wal"):
        shutil.copy(f"{source}{suffix}", f"{path}{suffix}")
    db.close()
    before = contents(tmp_path)
    with pytest.raises(ForeignFileError, match="not touched"):
        SqliteStore(str(path))
    after = contents(tmp_path)
    after.pop("some.db-shm", None)  # SQLite recreates it whenever the log is read
    assert after == before


def test_a_store_whose_first_transaction_was_interrupted_is_created_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    interrupted(path, before="SELECT 1")
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    store = SqliteStore(str(path))
    assert not store.apply(plan(add(fact("Likes tea")))).dropped
    assert store.check(deep=True) == []
    assert store._db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'notes'").get == 0
    store.close()


def test_a_newer_file_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(str(path), steps=[*migrations("sqlite"), (NEXT, "CREATE TABLE news (x)")]).close()
    before = contents(tmp_path)
    with pytest.raises(NewerSchemaError, match=f"schema {NEXT}, this one knows {NEXT - 1}"):
        SqliteStore(str(path))
    assert contents(tmp_path) == before


def test_a_newer_file_with_an_unmerged_log_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    newer = SqliteStore(str(path), steps=[*migrations("sqlite"), (NEXT, "CREATE TABLE news (x)")])
    with pytest.raises(NewerSchemaError):
        SqliteStore(str(path))
    newer.close()


def test_an_older_file_is_migrated_in_one_transaction(tmp_path: Path) -> None:
    path, steps = (
        str(tmp_path / "memory.db"),
        [*migrations("sqlite"), (NEXT, "CREATE TABLE news (x); CREATE TABLE more (x)")],
    )
    old = SqliteStore(path)
    old.apply(plan(add(fact("Likes tea"))))
    old.close()
    with pytest.raises(Injected):
        SqliteStore(path, steps=steps, reached=Failpoint("migrate.before_commit"))
    still = SqliteStore(path)
    assert still._db.pragma("user_version") == NEXT - 1
    still.close()
    new = SqliteStore(path, steps=steps)
    assert new._db.pragma("user_version") == NEXT
    assert len(new.select([SCOPE], Where())) == 1
    new.close()


def test_an_empty_database_is_accepted(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "vacuumed.db")
    db.execute("VACUUM")
    db.close()
    store = SqliteStore(str(tmp_path / "vacuumed.db"))
    assert not store.apply(plan(add(fact("Likes tea")))).dropped
    store.close()


def test_an_impossible_path_reports_the_reason(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist: create it"):
        SqliteStore(str(tmp_path / "nowhere" / "memory.db"))
    with pytest.raises(StoreError, match="is a folder"):
        SqliteStore(str(tmp_path))
    (tmp_path / ("x" * 250)).touch()
    with pytest.raises(StoreError):
        SqliteStore(str(tmp_path / ("x" * 300)))


def test_two_paths_to_one_file_are_one_store(tmp_path: Path) -> None:
    one = SqliteStore(str(tmp_path / "memory.db"))
    (tmp_path / "ein Link.db").symlink_to(tmp_path / "memory.db")
    two = SqliteStore(str(tmp_path / "ein Link.db"))
    one.apply(plan(add(fact("Likes tea"))))
    assert len(two.select([SCOPE], Where())) == 1
    one.close()
    two.close()


def test_a_lock_of_another_process_raises_busy_after_the_time_out(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    store = SqliteStore(path, busy_seconds=0.05)
    other = apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError, match="try again"):
        store.apply(plan(add(fact("Likes tea"))))
    other.execute("ROLLBACK")
    assert not store.apply(plan(add(fact("Likes tea")))).dropped
    other.close()
    store.close()


def test_a_reader_neither_waits_for_a_writer_nor_blocks_it(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    store, other = SqliteStore(path, busy_seconds=0.0), apsw.Connection(path)
    store.apply(plan(add(fact("Likes tea"))))
    other.execute("BEGIN IMMEDIATE")
    assert len(store.select([SCOPE], Where())) == 1
    other.execute("ROLLBACK")
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM memories").fetchall()
    assert not store.apply(plan(add(fact("Likes rye")))).dropped
    other.close()
    store.close()


def test_a_full_disk_loses_nothing_and_the_store_works_once_there_is_space(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"))
    store.apply(plan(add(fact("Likes tea"))))
    pages = store._db.pragma("page_count")
    store._db.pragma("max_page_count", pages + 8)
    written = 0
    full = None
    while full is None:
        try:
            store.apply(plan(*(add(message(f"Note {written}.{n} " + "words " * 50)) for n in range(3))))
            written += 3
        except DiskFullError as error:
            full = error
    assert "nothing acknowledged is lost" in str(full)
    assert store.check(deep=True) == []
    assert len(store.select([SCOPE], EVERYTHING)) == written + 1
    store._db.pragma("max_page_count", 1_000_000)
    assert not store.apply(plan(add(fact("Likes rye")))).dropped
    store.close()


def test_a_store_without_write_permission_reports_it(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"))
    store._db.pragma("query_only", "ON")
    with pytest.raises(ReadOnlyError, match="permissions"):
        store.apply(plan(add(fact("Likes tea"))))
    assert store.select([SCOPE], EVERYTHING) == []
    store.close()


@pytest.fixture
def sealed() -> Iterator[Callable[[Path], None]]:
    """Makes a folder and its files read-only; root, who can write anywhere, changes to another user."""
    root, sealed_ones = os.geteuid() == 0, []

    def seal(folder: Path) -> None:
        sealed_ones.append(folder)
        for path in (*folder.iterdir(), folder):
            path.chmod((path.stat().st_mode | 0o444) & ~0o222)
        if root:
            os.seteuid(65534)

    yield seal
    if root:
        os.seteuid(0)
    for folder in sealed_ones:
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix", reason="permissions are others elsewhere")
def test_a_store_on_a_read_only_disk_is_readable_and_reports_it(
    sealed: Callable[[Path], None], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(tempfile.mkdtemp())  # outside the folder of all tests, which other users cannot enter
    folder.chmod(0o755)
    (folder / "slowwave.toml").touch()
    monkeypatch.setenv("SLOWWAVE_CONFIG", str(folder / "slowwave.toml"))
    path = str(folder / "memory.db")
    options: dict[str, Any] = {"llm": None, "embedder": "static", "clock": lambda: NOW}

    def facts_in(memory: AgentMemory) -> list[object]:
        return [
            [(hit.text, hit.score) for hit in memory.search("when is the fair?")],
            [fact.text for fact in memory.get_all()],
            str(memory.context("tea")),
            memory.doctor(deep=True),
            memory.health().ok,
            memory.sleep(dry_run=True).problems,
        ]

    with AgentMemory.open(path, **options) as memory:
        memory.add("Mia loves tea")
        memory.add_message(Message(role="user", content="The fair is in May"), "c")
        memory.sleep()
        before = facts_in(memory)
    sealed(folder)
    files = contents(folder)
    with AgentMemory.open(path, **options) as memory:
        assert facts_in(memory) == before
        assert "(read only)" in str(memory.status())
        assert "opened read-only" in caplog.text
        memory.search("tea")
        for write in (lambda: memory.add("Mia loves rye"), lambda: memory.pin(memory.get_all()[0].id)):
            with pytest.raises(ReadOnlyError, match="only read"):
                write()
    assert contents(folder) == files


@pytest.mark.skipif(os.name != "posix", reason="permissions are others elsewhere")
@pytest.mark.parametrize("writable", ["file", "folder"])
def test_a_store_is_read_where_only_its_file_or_only_its_folder_can_be_written_and_no_side_file_stays(
    sealed: Callable[[Path], None], writable: str
) -> None:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    path = folder / "memory.db"
    store = SqliteStore(str(path))
    store.apply(plan(add(fact("Likes tea"))))
    store.close()
    root = os.geteuid() == 0
    sealed(folder)
    if root:
        os.seteuid(0)
    (path if writable == "file" else folder).chmod(0o666 if writable == "file" else 0o777)
    if root:
        os.seteuid(65534)
    reader = SqliteStore(str(path))
    assert [memory.text for memory in reader.select((SCOPE,), Where(kinds=frozenset({"semantic"})))] == ["Likes tea"]
    reader.close()
    assert [file.name for file in folder.iterdir()] == ["memory.db"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are others elsewhere")
def test_an_unmerged_log_on_a_read_only_disk_is_not_ignored(
    sealed: Callable[[Path], None],
) -> None:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    store = SqliteStore(str(folder / "whole.db"))
    store.apply(plan(add(fact("Likes tea"))))
    for ending in ("", "-wal"):
        shutil.copy(folder / f"whole.db{ending}", folder / f"died.db{ending}")
    store.close()
    sealed(folder)
    with pytest.raises(ReadOnlyError, match=r"died\.db-wal holds writes.*copy both"):
        SqliteStore(str(folder / "died.db"))


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError, apsw.BusyError, apsw.InterruptError, apsw.NoMemError])
def test_a_write_that_fails_at_any_point_is_rolled_back_and_succeeds_when_repeated(
    error: type[apsw.Error], tmp_path: Path
) -> None:
    class Failing:
        def __init__(self, at: int) -> None:
            self.left = at

        def __call__(self, _: str) -> None:
            self.left -= 1
            if not self.left:
                raise error("injected")

    store = SqliteStore(str(tmp_path / "memory.db"))
    tea = fact("Likes tea")
    for at in range(1, 100):
        before = store.select([SCOPE], EVERYTHING)
        store._reached = failing = Failing(at)
        operations = plan(add(tea), change(tea, text=f"Likes tea {at}"), add(message("Hello")))
        try:
            store.apply(operations)
        except StoreError:
            committed = failing.left == 0 and len(store.select([SCOPE], EVERYTHING)) > len(before)
            if committed:  # the last failpoint is after the commit: look up the run by its id
                assert store.run(SCOPE, operations.id) is not None
                break
            assert store.select([SCOPE], EVERYTHING) == before
            assert store.run(SCOPE, operations.id) is None
        else:
            break
    store._reached = None
    assert len(store.select([SCOPE], EVERYTHING)) == 2
    assert at > 5
    assert store.check(deep=True) == []
    store.close()


# ---- damage


def life(path: Path) -> dict[str, Memory]:
    store = SqliteStore(str(path))
    for turn in range(30):
        notes = [
            add(message(f"Note {turn}.{n} about the deploy on day {turn * n}", ref=f"{turn}.{n}")) for n in range(5)
        ]
        tea = fact(f"Likes tea number {turn}", category="preference", due_at=NOW)
        store.apply(plan(group(notes), group([add(tea), change(tea, phase="core")])))
    truth = {one.id: one for one in store.select([SCOPE], EVERYTHING)}
    store.close()
    return truth


def damaged(data: bytes, chance: random.Random) -> bytes:
    broken = bytearray(data)
    place = chance.randrange(len(broken))
    match chance.randrange(10):
        case 0:
            return bytes(broken[:place])
        case 1:
            broken[place - place % 4096 : place - place % 4096 + 4096] = bytes(4096)
        case _:
            broken[place] ^= 1 << chance.randrange(8)
    return bytes(broken)


def outcome(path: Path, truth: dict[str, Memory]) -> str:
    """Check a damaged file: everything that is read equals what was written, and the check reports what is missing."""
    try:
        store = SqliteStore(str(path))
    except StoreError:
        return "refused"
    try:
        found = store.get([SCOPE], truth)
        assert all(truth[one.id] == one for one in found)
        selected = store.select([SCOPE], EVERYTHING)
        assert all(truth.get(one.id) == one for one in selected)
        store.entries(SCOPE, truth)
        wrong = store.check(deep=True)
        if len(found) < len(truth) or len(selected) < len(truth):
            assert wrong
            return "checked"
    except StoreError:
        return "refused"
    else:
        return "checked" if wrong else "harmless"
    finally:
        store.close()


def survive_damage(folder: Path, rounds: int) -> None:
    truth = life(folder / "good.db")
    data = (folder / "good.db").read_bytes()
    outcomes = []
    for seed in range(rounds):
        (folder / "bad.db").write_bytes(damaged(data, random.Random(seed)))
        outcomes.append(outcome(folder / "bad.db", truth))
        for suffix in ("-wal", "-shm"):
            (folder / f"bad.db{suffix}").unlink(missing_ok=True)
    assert {"refused", "checked", "harmless"} == set(outcomes)


def test_damage_is_never_read_as_other_content(tmp_path: Path) -> None:
    survive_damage(tmp_path, 100)


@pytest.mark.long
def test_two_thousand_damages_are_never_read_as_other_content(tmp_path: Path) -> None:
    survive_damage(tmp_path, 2000)


def test_a_flipped_letter_in_a_memory_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(str(path))
    tea = fact("Likes darjeeling")
    store.apply(plan(add(tea)))
    store._db.execute("UPDATE memories SET text = 'Likes darjeelinh'")
    with pytest.raises(CorruptError, match=f"{tea.id}.*damaged"):
        store.get([SCOPE], [tea.id])
    assert store.check() == []
    assert any(f"{tea.id} is damaged" in sentence for sentence in store.check(deep=True))
    store.close()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("DELETE FROM entries", "no search index entry"),
        ("DELETE FROM memories", "belong to no memory"),
        ("DELETE FROM conversations", "are not listed"),
        ("DELETE FROM runs", "belong to no run"),
    ],
)
def test_inconsistent_tables_are_reported(damage: str, words: str) -> None:
    store = SqliteStore(":memory:")
    store.apply(plan(add(message("Hello"))))
    store._db.execute(damage)
    assert any(words in sentence for sentence in store.check())
    store.close()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("DELETE FROM journal WHERE op = 'add'", "is damaged|is different from the journal"),
        ("DELETE FROM memories", "in the journal, but not stored"),
        ("UPDATE entries SET terms = x'00'", "index entry 1 is damaged"),
        ("UPDATE memories SET content = 'x'", "is different from the journal"),
        ("INSERT INTO links SELECT scope, 'a', 'b', 'c', 1.0, 0 FROM memories", "the links differ"),
        ("INSERT INTO cursors SELECT scope, 'a', 'b', 1 FROM memories", "the cursors differ"),
        ("INSERT INTO held SELECT scope, 'a' FROM memories", "the suppressed keys differ"),
    ],
)
def test_tables_that_differ_from_the_journal_are_reported_by_a_deep_check(damage: str, words: str) -> None:
    store = SqliteStore(":memory:")
    store.apply(plan(add(fact("Likes tea"))))
    store._db.execute(damage)
    assert any(any(word in sentence for word in words.split("|")) for sentence in store.check(deep=True))
    store.close()


@pytest.mark.parametrize("tables", [True, CorruptError("half of the pages are written")])
def test_a_store_that_another_process_creates_meanwhile_is_neither_foreign_nor_damaged(
    tables: bool | CorruptError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        memory.add("Alice owns the deploy pipeline")
    headers = [file.MAGIC.ljust(100, b"\0"), file.header(str(path))]
    monkeypatch.setattr(file, "header", lambda _: headers.pop(0))

    def read(_: Path) -> bool:
        if isinstance(tables, CorruptError):
            raise tables
        return tables

    monkeypatch.setattr(file, "_has_tables", read)
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        assert [fact.text for fact in memory.get_all()] == ["Alice owns the deploy pipeline"]
    assert headers == []


def test_a_file_of_random_bytes_is_neither_initialised_nor_migrated(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(range(1, 256)) * 40)
    for verb in (init_store, schema_state):
        with pytest.raises(ForeignFileError):
            verb(str(path))
    assert path.read_bytes() == bytes(range(1, 256)) * 40
