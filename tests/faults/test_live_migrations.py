"""Programs of this version write to a scope while a newer version migrates the store, and goes on beside them."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.newer_version import newer_package

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("live_writer.py")
WRITERS = 3
EACH = 4
"""Messages that each writer stores before the migration, and again after it."""
LONGEST = 120.0
CHECK = """
import json, sys
from slowwave import AgentMemory
with AgentMemory.open(sys.argv[1], scope="live", llm=None, embedder="none") as memory:
    print(json.dumps([memory.doctor(deep=True), [one.content for one in memory.messages("chat")]]))
"""

pytestmark = pytest.mark.long


@pytest.fixture(params=["postgres", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def address(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> str:
    return request.getfixturevalue("blank") if kind == "postgres" else str(tmp_path / "memory.db")


class Writer:
    """A running program of the version at a path, and the lines that it has printed."""

    def __init__(self, package: Path, address: str, name: str) -> None:
        self.name = name
        self.lines: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), address, name],
            env=os.environ | {"PYTHONPATH": str(package)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.strip())

    @property
    def wrote(self) -> set[int]:
        return {int(line.split()[1]) for line in self.lines if line.startswith("wrote ")}

    @property
    def failed(self) -> list[str]:
        return [line for line in self.lines if not line.startswith("wrote ")]

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(LONGEST)
        self._reader.join(LONGEST)
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def running(package: Path, address: str, *names: str) -> Iterator[list[Writer]]:
    with ExitStack() as stack:
        writers = []
        for name in names:
            writers.append(Writer(package, address, name))
            stack.callback(writers[-1].stop)
        yield writers


def until(condition: Callable[[], bool], writers: list[Writer]) -> None:
    ends = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < ends, [writer.lines[-3:] for writer in writers]
        time.sleep(0.05)


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return newer_package(tmp_path_factory.mktemp("newer"), readable=True)


def test_programs_of_this_version_use_a_scope_while_and_after_a_newer_one_migrates_the_store(
    kind: str, address: str, newer: Path
) -> None:
    with running(ROOT / "src", address, "first") as (first,):  # creates the store
        until(lambda: len(first.wrote) > 0, [first])
    with running(ROOT / "src", address, *(f"old{number}" for number in range(WRITERS))) as writers:
        until(lambda: all(len(writer.wrote) >= EACH for writer in writers), writers)
        with running(newer, address, "new") as (new,):  # opening the store migrates it
            until(lambda: len(new.wrote) >= EACH, [new])
            counts = [len(writer.wrote) for writer in writers]
            if kind == "postgres":  # the newer schema says that this version can use it
                until(lambda: all(len(one.wrote) >= n + EACH for one, n in zip(writers, counts, strict=True)), writers)
            else:
                until(lambda: all(writer.failed for writer in writers), writers)
    everyone = [first, *writers, new]
    failed = {" ".join(line.split()[:2]) for writer in everyone for line in writer.failed}
    assert failed == (set() if kind == "postgres" else {"failed NewerSchemaError"})
    command = [sys.executable, "-c", CHECK, address]
    printed = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(newer)}, check=True, capture_output=True)
    found, stored = json.loads(printed.stdout)
    assert found == []
    assert {f"{writer.name} painted boat {number}" for writer in everyone for number in writer.wrote} <= set(stored)
