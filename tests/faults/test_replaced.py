"""A store whose files are deleted, replaced or truncated while it is open stores nothing more, and its check reports it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from slowwave.errors import StoreError
from slowwave.model.query import Where
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import SCOPE, add, fact, message, plan

EVERYTHING = Where(cascade=None)


def deleted(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink()


def restored_over(path: Path) -> None:
    SqliteStore(f"{path}.backup").close()
    Path(f"{path}.backup").replace(path)


def renamed(path: Path) -> None:
    path.rename(path.with_name("other.db"))


def without_its_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.mark.parametrize(
    ("change", "name"), [(deleted, "a.db"), (restored_over, "a.db"), (renamed, "a.db"), (without_its_log, "a.db-wal")]
)
def test_a_deleted_store_acknowledges_nothing_and_its_check_reports_why(
    change: Callable[[Path], None], name: str, path: Path
) -> None:
    store = SqliteStore(str(path))
    store.apply(plan(add(fact("Likes tea"))))
    assert store.check() == []
    change(path)
    for write in (
        lambda: store.apply(plan(add(fact("Likes rye")))),
        lambda: store.apply(plan(add(message("Hello")))),
        store.rewrite_erased,
        lambda: store.backup(str(path.with_name("copy.db"))),
    ):
        with pytest.raises(StoreError, match=rf"{name} was deleted or replaced while it was open.*open it again"):
            write()
    assert not path.with_name("copy.db").exists()
    assert [one.text for one in store.select([SCOPE], EVERYTHING)] == ["Likes tea"], "what was refused is not kept"
    assert f"{name} was deleted or replaced while it was open" in store.check()[0]
    store.close()


def test_closing_a_deleted_store_does_not_damage_another_store_of_the_same_name(path: Path) -> None:
    gone = SqliteStore(str(path))
    gone.apply(plan(add(fact("Likes tea"))))
    deleted(path)
    new = SqliteStore(str(path))
    new.apply(plan(add(fact("Likes rye"))))
    gone.close()
    read = (
        "import sys; from slowwave.stores.sqlite.store import SqliteStore as S; from slowwave.testing.builders import SCOPE;"
        "from slowwave.model.query import Where; print(*[m.text for m in S(sys.argv[1]).select([SCOPE], Where())])"
    )
    assert subprocess.check_output([sys.executable, "-c", read, str(path)], text=True) == "Likes rye\n"
    new.apply(plan(add(fact("Likes figs"))))
    assert new.check(deep=True) == []
    new.close()


def test_a_link_that_points_to_another_store_counts_as_a_replaced_store(tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "one.db")
    store = SqliteStore(str(link))
    store.apply(plan(add(fact("Likes tea"))))
    SqliteStore(str(tmp_path / "two.db")).close()
    link.unlink()
    link.symlink_to(tmp_path / "two.db")
    with pytest.raises(StoreError, match=r"link\.db was deleted or replaced"):
        store.apply(plan(add(fact("Likes rye"))))
    store.close()


def test_a_store_with_a_relative_path_works_after_a_change_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = SqliteStore("a.db")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert not store.apply(plan(add(fact("Likes tea")))).dropped
    assert store.check(deep=True) == []
    store.close()
    assert not (tmp_path / "elsewhere" / "a.db").exists()


def test_the_check_of_an_open_store_reads_the_truncated_file_and_not_its_cache(path: Path) -> None:
    store = SqliteStore(str(path))
    store.apply(plan(*(add(message(f"Note {n} " + "words " * 200)) for n in range(100))))
    store.rewrite_erased()
    assert len(store.select([SCOPE], EVERYTHING)) == 100
    shutil.copy(path, path.with_name("whole.db"))
    assert store.check() == []
    os.truncate(path, path.stat().st_size // 2)
    assert store.check() != []
    store.close()


def test_the_check_finds_a_log_that_was_replaced(path: Path) -> None:
    store = SqliteStore(str(path))
    store.apply(plan(add(fact("Likes tea"))))
    without_its_log(path)
    Path(f"{path}-wal").touch()
    assert "a.db-wal was deleted or replaced while it was open" in store.check()[0]
    store.close()
