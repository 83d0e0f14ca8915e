import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import until

from slowwave.pipelines.sleep import lease
from slowwave.pipelines.sleep.lease import has_exited, process_identity

ASLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def _name_of(pid: int) -> str:
    return f"{lease._machine()}:{pid}:{lease._started(pid)}"


def test_a_running_process_has_not_exited() -> None:
    assert not has_exited(process_identity())
    assert process_identity() == process_identity()


def test_a_killed_process_has_exited_before_and_after_its_parent_waits() -> None:
    other = subprocess.Popen(ASLEEP)
    name = _name_of(other.pid)
    assert not has_exited(name)
    other.kill()
    if sys.platform == "linux":
        until(lambda: has_exited(name))  # no process has asked how it ended, and still it has
    other.wait()
    assert has_exited(name)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say when a process started")
def test_a_reused_process_number_is_another_process() -> None:
    machine, pid, _ = process_identity().rsplit(":", 2)
    assert has_exited(f"{machine}:{pid}:1")


@pytest.mark.parametrize("who", ["", "elsewhere", "other-machine:1:2", "other-machine:999999999:2", "a:b:c"])
def test_a_process_of_another_machine_counts_as_running(who: str) -> None:
    assert not has_exited(who)


def test_without_a_start_time_the_process_number_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_started", lambda _: "")
    assert not has_exited(f"{lease._machine()}:{os.getpid()}:")
    assert has_exited(f"{lease._machine()}:{4_000_000}:")


def test_without_a_proc_folder_the_machine_is_known_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", nowhere)
    lease._machine.cache_clear()
    try:
        assert lease._machine() == platform.node()
        assert not has_exited(process_identity())
    finally:
        lease._machine.cache_clear()
