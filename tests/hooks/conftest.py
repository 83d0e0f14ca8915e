"""Hooks of tests start no resident process, unless the test asks for it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import LONGEST

from slowwave.hooks import processes


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the sockets of a test. The path of a socket must be short."""
    with tempfile.TemporaryDirectory(prefix="sw", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setenv("SLOWWAVE_HOOK_MINUTES", "0")
        monkeypatch.setattr(processes, "END_SECONDS", LONGEST)  # none stays, however long its end takes
        yield Path(folder, "slowwave")
        processes.end_residents()
