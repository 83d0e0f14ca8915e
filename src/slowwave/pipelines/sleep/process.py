"""Processes: what tells this one from every other, and whether one of this machine is gone for good."""

import os
import platform
from functools import cache
from pathlib import Path
from typing import Final

_STATE, _START = 0, 19
"""Places behind the name in Linux's /proc/PID/stat: the state, and the start in ticks since boot."""
_OVER: Final = frozenset({"Z", "X"})
"""States of a process that has ended, whether or not its parent has asked."""
_PARTS: Final = 3


def myself() -> str:
    """This process in a word: its machine, its number, and when it started, as far as the system says."""
    pid = os.getpid()
    return f"{_machine()}:{pid}:{_started(pid)}"


def gone(who: str) -> bool:
    """Whether the process that called itself so has ended; False where that cannot be known, as of another machine."""
    parts = who.rsplit(":", _PARTS - 1)
    if len(parts) != _PARTS or parts[0] != _machine() or not parts[1].isdecimal() or os.name != "posix":
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)  # asks only; on Windows it would end it
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _started(pid) != parts[2]  # its number went to another, or it only waits to be buried


@cache
def _machine() -> str:
    """The machine since it booted, and the room of process numbers in it: containers have their own."""
    here = Path("/proc")
    try:
        booted = (here / "sys/kernel/random/boot_id").read_text().strip()
        return f"{booted}/{(here / 'self/ns/pid').readlink().name}"
    except OSError:
        return platform.node()


def _started(pid: int) -> str:
    """When a process started, or "" if the system does not say or it has ended."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if told[_STATE] in _OVER else told[_START]
