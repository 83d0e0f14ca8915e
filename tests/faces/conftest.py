"""`slowwave serve` in a process of its own, as the programs of others find it."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from slowwave import Slowwave

STARTS_WITHIN = 30.0
STOPS_WITHIN = 60.0


@dataclass(frozen=True)
class Served:
    """A running server: its address and a key of all rights."""

    address: str
    key: str


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A served store. When it is stopped it exits with 0, and the store is sound."""
    path, port = tmp_path / "served.db", free_port()
    with Slowwave.open(path, llm=None, embedder="none") as store:
        key = store.add_key("test", rights=["admin"]).secret
    server = subprocess.Popen(
        [sys.executable, "-m", "slowwave", "serve", "--store", str(path), "--port", str(port), "--embedder", "none"],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/readyz")
        yield Served(f"http://127.0.0.1:{port}", key)
    finally:
        server.terminate()
        code = server.wait(STOPS_WITHIN)
    assert code == 0
    with Slowwave.open(path, llm=None, embedder="none") as store:
        assert store.doctor() == []


def wait_for(address: str) -> None:
    ends = time.monotonic() + STARTS_WITHIN
    while True:
        try:
            with urlopen(address) as answer:
                assert answer.status == 200
                return
        except URLError:
            assert time.monotonic() < ends, "the server did not start"
            time.sleep(0.1)
