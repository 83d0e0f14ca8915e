"""Starts the processes that outlive a hook, one that extracts facts and the resident one, and ends resident ones."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slowwave.hooks import channel

if TYPE_CHECKING:
    from slowwave.settings import Settings

END: Final = "end"
"""The request that ends a resident process."""
END_SECONDS: Final = 5.0
"""How long `end_residents` waits for each process."""
START_AGAIN_SECONDS: Final = 20.0
"""How long no other resident process is started after one was, so that a system that ends each costs little."""
SERVERS: Final = ("postgresql://", "postgres://")


def start_consolidation(options: Mapping[str, str], scope: str, which: Sequence[str]) -> None:
    """Extract facts from what is unread, in a process of its own: the agent and the user do not wait for a model.

    Messages that this process does not read, because the machine stops or the model fails, stay unread until the next
    session starts.
    """
    given = [f"--{name}={value}" for name, value in options.items() if name != "scope"]
    _start([sys.executable, "-m", "slowwave", "consolidate", *which, "--scope", scope, *given])


def start_resident(options: Mapping[str, str], opening: Mapping[str, Any], project: Path) -> bool:
    """Start the process that handles the next events of hooks with these options.

    Nothing is started if it runs already, if the settings say so, or if the store or the vault has a relative path, which
    depends on the folder of each hook.

    Args:
        options: of the command line of the hook.
        opening: the arguments of `AgentMemory.open`, without the store.
        project: the folder of the event. Its memory is loaded first.

    Returns:
        Whether a process was started.
    """
    from slowwave import settings  # noqa: PLC0415 - `delegate` and the tests of processes do without

    known = settings.read()
    if not known.hook_minutes or not channel.available():
        return False
    paths = [path for path in (store_address(options, known), known.vault) if path and not path.startswith(SERVERS)]
    address = channel.address(options)
    if not all(Path(path).is_absolute() for path in paths) or not _may_start(address):
        return False
    task = {"path": address, "options": dict(options), "opening": dict(opening), "project": str(project.resolve())}
    _start([sys.executable, "-m", "slowwave.hooks.resident", json.dumps(task)], cwd="/")
    return True


def store_address(options: Mapping[str, str], known: "Settings") -> str:
    """The path or the address of the store of a hook."""
    from slowwave import settings  # noqa: PLC0415 - as above

    return options.get("store") or known.store or settings.default_store()


def end_residents() -> int:
    """End all resident processes of this user, and wait for it. Returns their number."""
    place = Path(channel.folder()) if channel.available() else None
    if place is None or not channel.is_private(str(place)):
        return 0
    return sum(_end(str(lock).removesuffix(channel.LOCK)) for lock in sorted(place.glob(f"*{channel.LOCK}")))


def _end(path: str) -> bool:
    """End one resident process, also one that has just been started. Returns whether there was one."""
    ends = time.monotonic() + END_SECONDS
    while time.monotonic() < ends:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(END_SECONDS)
            connection.connect(path)
            channel.send(connection, {END: True})
            while connection.recv(1):  # it closes the connection when it has ended
                continue
            return True
        lock = lock_file(path + channel.LOCK)
        if lock is not None:
            os.close(lock)
            return False
        time.sleep(0.05)  # it has the lock, and does not listen yet
    return False


def _may_start(path: str) -> bool:
    """Whether no resident process runs, and none was started a short time ago. Creates the folder of the sockets."""
    place = Path(path).parent
    with suppress(OSError):
        place.mkdir(mode=0o700, exist_ok=True)
    if not channel.is_private(str(place)) or len(os.fsencode(path)) > channel.PATH_LONGEST:
        return False
    lock = lock_file(path + channel.LOCK)
    if lock is None:
        return False
    try:
        found = os.fstat(lock)
        if found.st_size and 0 <= time.time() - found.st_mtime < START_AGAIN_SECONDS:
            return False
        os.pwrite(lock, b"1", 0)
        os.utime(lock)
    finally:
        os.close(lock)
    return True


def lock_file(path: str) -> int | None:
    """The descriptor of a lock file that no other process has at present; None if one has it, or it cannot be opened."""
    import fcntl  # noqa: PLC0415 - Windows has none

    with suppress(OSError):
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise
        return lock
    return None


def _start(words: list[str], cwd: str | None = None) -> None:
    """Start a process that neither the agent nor the hook waits for."""
    subprocess.Popen(  # noqa: S603 - this program
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=cwd,
    )
