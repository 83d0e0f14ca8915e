"""The Unix socket between hooks and the resident process: where it is, who may use it, and the frames sent over it.

Only light modules of the standard library are imported: `slowwave hook` loads this module before anything else.
"""

import json
import os
import socket
import stat
import sys
import time
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from slowwave import __version__

EVENT_LARGEST: Final = 512 * 1024
"""Bytes of an event that is passed on. A larger one is handled by the process of the hook."""
FRAME_LARGEST: Final = 8 * EVENT_LARGEST
"""Bytes of a frame: in JSON a byte of an event takes up to six."""
TAKEN: Final = b"T"
"""The first answer of a resident process: it handles the event from now on."""
REFUSED: Final = b"R"
"""The other first answer: the process of the hook must handle the event."""
PATH_LONGEST: Final = 103
"""Bytes of the path of a socket on every system."""
SOCKET: Final = ".sock"
LOCK: Final = ".lock"
_LENGTH_BYTES: Final = 4
_NAME_BYTES: Final = 12
_CREDENTIALS: Final = getattr(socket, "SO_PEERCRED", None)
_PREFIXES: Final = ("SLOWWAVE_", "OPENAI_", "PG", "PYTHON", "SSL_")
_NAMES: Final = frozenset({"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TZ"})
_PROXY: Final = "_proxy"


def available() -> bool:
    """Whether this system has Unix sockets and owners of files."""
    return hasattr(socket, "AF_UNIX") and hasattr(os, "getuid")


def folder() -> str:
    """The folder of the sockets of this user: in XDG_RUNTIME_DIR, else beside the other temporary files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        return os.path.join(runtime, "slowwave")
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"slowwave-{os.getuid()}")  # noqa: S108 - checked by `is_private`


def is_private(path: str) -> bool:
    """Whether a path is a folder, and no link, that belongs to this user and that no other user can enter."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def address(options: Mapping[str, str]) -> str:
    """The path of the socket for these options of the hook.

    The name is a hash of all on which an answer depends beside the event: the options, the environment variables of
    Slowwave and of the libraries that it uses, the program and its version. Hooks that differ in one of them have
    different resident processes.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if name in _NAMES or name.startswith(_PREFIXES) or name.lower().endswith(_PROXY)
    }
    known = [__version__, os.path.dirname(os.path.dirname(__file__)), sys.executable, dict(options), variables]
    digest = blake2b(json.dumps(known, sort_keys=True).encode(), digest_size=_NAME_BYTES).hexdigest()
    return os.path.join(folder(), f"{digest}{SOCKET}")


def is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end belongs to this user. Systems that do not say so rely on the folder."""
    if _CREDENTIALS is None:
        return True
    pid_uid_gid = connection.getsockopt(socket.SOL_SOCKET, _CREDENTIALS, 12)
    return int.from_bytes(pid_uid_gid[4:8], sys.byteorder) == os.getuid()


def send(connection: socket.socket, content: Mapping[str, Any]) -> None:
    """Send a frame.

    Raises:
        OSError: the other end is closed, or the time-out of the connection has passed.
    """
    data = json.dumps(content).encode()
    connection.sendall(len(data).to_bytes(_LENGTH_BYTES, "big") + data)


def receive(connection: socket.socket, seconds: float) -> dict[str, Any] | None:
    """The next frame; None if the other end is closed, or what it sends is no frame.

    Raises:
        TimeoutError: it is not complete after these seconds.
        OSError: the connection failed.
    """
    ends = time.monotonic() + seconds
    head = _receive_bytes(connection, _LENGTH_BYTES, ends)
    length = int.from_bytes(head, "big")
    if len(head) < _LENGTH_BYTES or length > FRAME_LARGEST:
        return None
    data = _receive_bytes(connection, length, ends)
    try:
        content = json.loads(data) if len(data) == length else None
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _receive_bytes(connection: socket.socket, count: int, ends: float) -> bytes:
    """This many bytes, or fewer if the other end is closed."""
    data = bytearray()
    while len(data) < count:
        remaining = ends - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        connection.settimeout(remaining)
        part = connection.recv(min(count - len(data), 1 << 16))
        if not part:
            break
        data += part
    return bytes(data)
