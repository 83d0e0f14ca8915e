"""A store is migrated while programs of a former version, taken from the history of the repository, write to it."""

import os
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path

import pytest

from slowwave import Slowwave
from slowwave.stores.migrations import migrations
from slowwave.stores.postgres.migrate import OLDEST_SCHEMA
from slowwave.stores.upgrade import migrate_store, schema_state

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("live_writer.py")
WRITERS = 3
EACH = 4
"""Messages that each writer stores before the migration, and again after it."""
LONGEST = 120.0
FIRST = {"postgres": OLDEST_SCHEMA, "sqlite": 8}
"""The first migrations that a running program of a former version has to survive."""

pytestmark = pytest.mark.long


def git(*arguments: str) -> bytes:
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no history of the repository here: a clone with all commits has the former versions")


@pytest.fixture(params=["before the first of them", "before the last"])
def former(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> Path:
    """The package before a migration was added."""
    number = FIRST[kind] if request.param == "before the first of them" else migrations(kind)[-1][0]
    folder = f"src/slowwave/stores/{kind}/sql"
    (file,) = (ROOT / folder).glob(f"{number:04}_*.sql")
    added = git("log", "--diff-filter=A", "--format=%H", "-1", "--", f"{folder}/{file.name}").decode().strip()
    with tarfile.open(fileobj=BytesIO(git("archive", f"{added}^" if added else "HEAD", "src"))) as archive:
        archive.extractall(tmp_path / "former", filter="data")
    return tmp_path / "former" / "src"


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


def test_programs_of_a_former_version_go_on_while_and_after_the_store_is_migrated(former: Path, address: str) -> None:
    with running(former, address, "first") as (first,):  # creates the store
        until(lambda: len(first.wrote) > 0, [first])
    with running(former, address, *(f"old{number}" for number in range(WRITERS))) as writers:
        until(lambda: all(len(writer.wrote) >= EACH for writer in writers), writers)
        before = schema_state(address)
        assert before.version < before.wanted
        assert migrate_store(address, patience=60, say=lambda _: None).version == before.wanted
        counts = [len(writer.wrote) for writer in writers]
        until(lambda: all(len(one.wrote) >= n + EACH for one, n in zip(writers, counts, strict=True)), writers)
        with running(ROOT / "src", address, "new") as (new,):
            until(lambda: len(new.wrote) >= EACH, [new])
    everyone = [first, *writers, new]
    assert {writer.name: writer.failed for writer in everyone if writer.failed} == {}
    with Slowwave.open(address, llm=None, embedder="none") as store:
        for writer in everyone:
            stored = {int(str(one.content).split()[-1]) for one in store.within("live", writer.name).messages("chat")}
            assert writer.wrote <= stored
        assert store.doctor(deep=True) == []
