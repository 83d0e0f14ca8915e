"""A file whose log is gone after a process was killed says so; a file that was closed, or is in use, does not."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory
from slowwave.errors import StoreError
from slowwave.stores.sqlite import log_mark
from slowwave.stores.sqlite.bytes import has_log

KILLED = """
import os, sys
from slowwave import AgentMemory
memory = AgentMemory.open(sys.argv[1], llm=None, embedder="none")
for place in range(int(sys.argv[2])):
    memory.add(f"Ann owns boat number {place}")
if sys.argv[3:] == ["erase"]:
    memory.erase(text="number 0")
    memory.add("Ann owns a kite")
os._exit(1)
"""


def killed(path: Path, writes: int = 3, *then: str) -> None:
    """A process that writes and ends without closing the store."""
    subprocess.run([sys.executable, "-c", KILLED, str(path), str(writes), *then], check=False, timeout=60)
    assert path.with_name(f"{path.name}-wal").exists()


def found(path: Path) -> list[str]:
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        health = [finding.says for finding in memory.health().findings if finding.kind == "store"]
        problems = memory.doctor()
        assert len(health) == bool(problems)
        return problems


def emptied(log: Path) -> None:
    log.write_bytes(b"")


def overwritten(log: Path) -> None:
    log.write_bytes(bytes(log.stat().st_size))


@pytest.mark.parametrize("then", [(), ("erase",)])
@pytest.mark.parametrize("lose", [Path.unlink, emptied, overwritten])
def test_a_log_that_is_missing_after_a_kill_is_reported_until_a_person_has_seen_it(
    tmp_path: Path, lose: Callable[[Path], None], then: tuple[str, ...]
) -> None:
    path = tmp_path / "memory.db"
    killed(path, 3, *then)
    lose(path.with_name("memory.db-wal"))
    path.with_name("memory.db-shm").unlink()
    (problem,) = found(path)
    assert "the last writes before that may be gone" in problem
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        memory.add("Bob owns a kite")
    assert len(found(path)) == 1
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        assert memory.doctor(repair=True, deep=True) == []
    assert found(path) == []


def test_a_copy_of_the_file_alone_while_it_is_open_is_reported(tmp_path: Path) -> None:
    path, taken = tmp_path / "memory.db", tmp_path / "taken.db"
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        memory.add("Ann owns a boat")
        memory.add("Ann owns a kite")
        taken.write_bytes(subprocess.run(["cat", str(path)], check=True, capture_output=True).stdout)
        assert memory.doctor() == []
    assert len(found(taken)) == 1
    assert found(path) == []


def test_a_backup_is_complete_whatever_the_store_says_of_its_log(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    killed(path)
    path.with_name("memory.db-wal").unlink()
    assert len(found(path)) == 1
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        store: Any = memory.ports.store
        with store._guard:
            store._db.execute("UPDATE log SET used = 1")  # as while another process sets the mark
        memory.backup(tmp_path / "backup.db")
    assert found(tmp_path / "backup.db") == []


def test_a_copy_of_the_file_alone_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    killed(path)
    for end in ("-wal", "-shm"):
        path.with_name(f"memory.db{end}").unlink()
    path.chmod(0o400)
    if os.access(path, os.W_OK):
        pytest.skip("a superuser may write it")
    assert len(found(path)) == 1


def test_a_killed_process_whose_log_is_there_lost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for writes in (1, 2, 3):
        killed(path, writes)
        assert found(path) == []
    killed(path, 2, "erase")
    assert found(path) == []
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        assert "Ann owns boat number 2" in {fact.text for fact in memory.get_all()}


def test_stores_that_are_closed_in_any_order_are_merged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        opened = [AgentMemory.open(path, llm=None, embedder="none") for _ in range(3)]
        opened[0].add("Ann owns a boat", id=f"boat {order}")
        opened[1].add("Bob owns a kite", id=f"kite {order}")
        opened[2].search("boat")
        for place in order:
            opened[place].close()
        assert not path.with_name("memory.db-wal").exists()
        assert found(path) == []


def test_writers_at_the_same_time_take_no_mark_for_a_missing_log(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    problems: list[str] = []

    def work(name: int) -> None:
        for place in range(8):
            with AgentMemory.open(path, llm=None, embedder="none") as memory:
                memory.add_messages({"role": "user", "content": f"{name} has boat {place}"}, f"c{name}")
                problems.extend(memory.doctor())

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert found(path) == []


def test_a_mark_that_another_process_takes_back_late_is_no_missing_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        memory.add("Ann owns a boat")
    looks = 0

    def first_looked_before_the_other_wrote(place: str) -> bool:
        nonlocal looks
        looks += 1
        return looks > 1 and has_log(place)

    with AgentMemory.open(path, llm=None, embedder="none") as writer:
        store: Any = writer.ports.store
        with store._guard:
            store._db.execute("UPDATE log SET used = 1")
        with monkeypatch.context() as patched:
            patched.setattr(log_mark, "has_log", first_looked_before_the_other_wrote)
            assert found(path) == []
        writer.add("Ann owns a kite")
    assert found(path) == []


def test_a_log_that_is_deleted_while_it_is_looked_at_is_none(tmp_path: Path) -> None:
    log, done = tmp_path / "memory.db-wal", threading.Event()
    (tmp_path / "memory.db").touch()

    def come_and_go() -> None:
        while not done.is_set():
            log.write_bytes(b"no log")
            log.unlink()

    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        assert not any(has_log(str(tmp_path / "memory.db")) for _ in range(5_000))
    finally:
        done.set()
        other.join()


def test_a_checkpoint_of_a_large_log_keeps_the_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_mark, "PAGES", 20)
    path, taken = tmp_path / "memory.db", tmp_path / "taken.db"
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        for place in range(40):
            memory.add(f"Ann owns boat number {place}")
            taken.write_bytes(subprocess.run(["cat", str(path)], check=True, capture_output=True).stdout)
            if place % 10 == 9:
                with AgentMemory.open(taken, llm=None, embedder="none") as copy:
                    assert len(copy.doctor()) == 1
                    assert len(copy.get_all()) > place - 10, "the log was merged"
                taken.unlink()
        assert path.with_name("memory.db-wal").stat().st_size < 200 * 4096


def test_a_file_of_0_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    with pytest.raises(StoreError, match=r"is empty \(0 bytes\) and no store; nothing was touched"):
        AgentMemory.open(path, llm=None, embedder="none")
    assert path.read_bytes() == b""
    assert [part.name for part in tmp_path.iterdir()] == ["memory.db"]
