"""Checks of the interfaces by programs of others, which `make test-faces` installs and runs."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

import pytest
from tests.ports import free_port

from slowwave import Slowwave

NODE = os.environ.get("SLOWWAVE_FACES", "")
"""The folder with the npm packages; empty outside of `make test-faces`."""
collect_ignore_glob = [] if NODE else ["test_*.py"]
START_SECONDS = 60


def node_program(*parts: str) -> list[str]:
    """The command of a script in an npm package."""
    return ["node", str(Path(NODE, "node_modules", *parts))]


def run_program(words: Sequence[str], *, seconds: float = 100) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end, with its output as text."""
    return subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL)


@dataclass(frozen=True)
class Guarded:
    """A server whose store has keys: its address, and a key with all rights."""

    address: str
    key: str


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with an empty store without keys."""
    with serving(tmp_path_factory.mktemp("served")) as address:
        yield address


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Guarded]:
    """A server whose store has keys. When it is stopped it exits with 0, and the store is sound."""
    with Slowwave.open(tmp_path / "m.db", llm=None, embedder="none") as store:
        key = store.add_key("test", rights=["admin"]).secret
    with serving(tmp_path) as address:
        yield Guarded(address, key)
    with Slowwave.open(tmp_path / "m.db", llm=None, embedder="none") as store:
        assert store.doctor() == []


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serves the store in a folder during the block; the server exits with 0."""
    words = ["serve", "--store", str(folder / "m.db"), "--embedder", "none", "--llm", "none", "--port"]
    with (
        free_port() as port,
        (folder / "log").open("w") as log,
        subprocess.Popen([sys.executable, "-m", "slowwave", *words, str(port)], stdout=log, stderr=log) as process,
    ):
        address = f"http://127.0.0.1:{port}"
        try:
            _wait(address)
            yield address
        finally:
            process.terminate()
            code = process.wait(START_SECONDS)
    assert code == 0


def _wait(address: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"the server did not start within {START_SECONDS} s")


@pytest.fixture(scope="session")
def node() -> object:
    """Runs a script of an npm package with arguments: `node("package", "script.js")(arguments)`."""

    def program(*parts: str) -> object:
        def call(*arguments: str) -> "subprocess.CompletedProcess[str]":
            return run_program([*node_program(*parts), *arguments])

        return call

    return program
