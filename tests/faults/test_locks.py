"""A process keeps its locks on a store: neither an erase nor a second connection releases them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import LONGEST

from slowwave import AgentMemory, Message
from slowwave.errors import InputError

pytestmark = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the kernel's table of locks is read")

CHURN = Path(__file__).with_name("churn.py")
TURNS, VISITS = 60, 4
"""Erases of the process that stays, and visits of each of the others for each of them."""


def held(path: Path) -> list[tuple[str, ...]]:
    """The POSIX locks of this process on the files of a store: which file, kind, first byte, last byte."""
    names = {Path(f"{path}{end}").stat().st_ino: end for end in ("", "-wal", "-shm")}
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return sorted(
        (names[int(inode)], kind, first, last)
        for _, _, _, kind, process, place, first, last in (line for line in lines if "->" not in line)
        if process == str(os.getpid()) and (inode := place.rpartition(":")[2]) and int(inode) in names
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgentMemory]:
    """A new store: its schema and its messages are in the log only."""
    with AgentMemory.open(tmp_path / "a.db", llm=None, embedder="none") as opened:
        opened.add_messages([Message(role="user", content=f"Note {n} about the fair", id=f"m{n}") for n in range(20)])
        yield opened


def test_an_erase_keeps_every_lock_of_its_process(memory: AgentMemory, tmp_path: Path) -> None:
    before = held(tmp_path / "a.db")
    assert {name for name, *_ in before} == {"", "-shm"}
    assert memory.erase(source="m7").verified
    assert held(tmp_path / "a.db") == before


def test_opening_and_closing_a_second_handle_keeps_every_lock_of_its_process(
    memory: AgentMemory, tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    before = held(path)
    for round_ in range(3):
        AgentMemory.open(path, scope=f"s{round_}", llm=None, embedder="none").close()
        assert held(path) == before
        memory.ports.store.rewrite_erased()  # merges the log, so that the file has the application id


def test_a_backup_and_a_check_keep_every_lock_of_their_process(memory: AgentMemory, tmp_path: Path) -> None:
    before = held(tmp_path / "a.db")
    memory.backup(tmp_path / "copy.db")
    assert memory.doctor(deep=True) == []
    with pytest.raises(InputError, match="exists"):
        memory.backup(tmp_path / "a.db")
    with pytest.raises(InputError, match="is the file of the open store"):
        memory.import_(tmp_path / "a.db")
    assert held(tmp_path / "a.db") == before
    with AgentMemory.open(tmp_path / "copy.db", llm=None, embedder="none") as copy:
        assert len(copy.search("the fair", top_k=50)) == len(memory.search("the fair", top_k=50)) > 0


def test_an_import_of_any_file_of_an_open_store_is_refused_and_keeps_its_locks(
    memory: AgentMemory, tmp_path: Path
) -> None:
    before = held(tmp_path / "a.db")
    with AgentMemory.open(tmp_path / "other.db", llm=None, embedder="none") as other:
        for importer, name in ((memory, "a.db-shm"), (memory, "a.db-wal"), (other, "a.db"), (other, "a.db-shm")):
            with pytest.raises(InputError, match="is the file of the open store"):
                importer.import_(tmp_path / name)
            assert held(tmp_path / "a.db") == before, name


def test_another_process_does_not_delete_the_log_after_an_erase(memory: AgentMemory, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    memory.erase(source="m7")
    subprocess.run([sys.executable, str(CHURN), str(path), "visit", "v", "1"], check=True, capture_output=True)
    memory.add("The fair is in May")
    with AgentMemory.open(path, llm=None, embedder="none") as other:
        assert len(other.search("when is the fair?")) > 1
        assert [fact.text for fact in other.get_all()] == ["The fair is in May"]
    assert subprocess.check_output([sys.executable, str(CHURN), str(path), "facts"], text=True).splitlines() == [
        "The fair is in May"
    ]


def churn(path: Path, turns: int) -> tuple[set[str], set[str], list[str]]:
    """Run one process that erases repeatedly among short-lived writers. Returns acknowledged and stored writes, and errors."""
    keeper = [sys.executable, str(CHURN), str(path), "keep", "k", str(turns)]
    visitors = [[sys.executable, str(CHURN), str(path), "visits", f"v{n}", str(VISITS * turns)] for n in range(2)]
    running = [
        subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for one in (keeper, *visitors)
    ]
    outputs = [one.communicate(timeout=LONGEST + 10 * turns) for one in running]
    problems = [problem for _, problem in outputs if problem] + [
        f"exit code {one.returncode}" for one in running if one.returncode
    ]
    acknowledged = {line.split()[1] for output, _ in outputs for line in output.splitlines() if line.startswith("ack")}
    erased = {line.split()[1] for output, _ in outputs for line in output.splitlines() if line.startswith("gone")}
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        problems += memory.doctor(deep=True)
    there = subprocess.check_output([sys.executable, str(CHURN), str(path), "messages"], text=True).split()
    return acknowledged - erased, set(there), problems


def survive_churn(path: Path, turns: int) -> None:
    acknowledged, there, problems = churn(path, turns)
    assert problems == []
    assert len(acknowledged) == 5 * turns * (5 + 2 * VISITS) - turns, "each turn erases one of the messages"
    assert acknowledged - there == set()


def test_a_process_that_erases_among_short_lived_writers_loses_nothing(tmp_path: Path) -> None:
    survive_churn(tmp_path / "a.db", TURNS)


@pytest.mark.long
def test_a_process_that_erases_for_long_among_short_lived_writers_loses_nothing(tmp_path: Path) -> None:
    survive_churn(tmp_path / "a.db", 4 * TURNS)
