"""Passes the event of a hook to the resident process. If none answers, the process of the hook handles it itself.

`slowwave hook` calls this before it loads Click, numpy or the store, so this module imports light modules only.
"""

import io
import os
import socket
import sys
from collections.abc import Sequence
from typing import Any, Final

from slowwave.hooks import channel

COMMAND: Final = "hook"
OPTIONS: Final = frozenset({"store", "scope", "llm", "embedder"})
"""The options of a hook that a resident process knows. With any other one the hook handles its event itself."""
TAKE_SECONDS: Final = 1.0
"""How long a hook waits for a resident process that is busy with other events."""
ANSWER_SECONDS: Final = 4.0
"""How long a hook waits for the answer to an event that was taken: less than the 5 seconds that agents allow."""
TURN: Final = os.urandom(8).hex()
"""The id of the turn of this process's event if the agent gives none. This process and the resident one use the same id, so
that an event which both of them handle is stored once."""
_LATE: Final = f"slowwave: no answer after {ANSWER_SECONDS:g} seconds; the event is handled without one\n"


def delegated(words: Sequence[str]) -> bool:
    """Have the resident process handle the event on stdin, and print its answer.

    Args:
        words: the arguments of the command line.

    Returns:
        False: this process must handle the event. `sys.stdin` still has all of it.
    """
    options = hook_options(words)
    if options is None or not channel.available():
        return False
    path = channel.address(options)
    if not os.path.exists(path) or not channel.is_private(os.path.dirname(path)):
        return False
    data = sys.stdin.buffer.read()
    reply = ask(path, data)
    if reply is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding=sys.stdin.encoding, errors=sys.stdin.errors)
        return False
    sys.stderr.write(reply["err"])
    try:
        sys.stdout.write(reply["out"])
        sys.stdout.flush()
    except OSError:  # the agent reads no more; at the exit Python would try again, and fail
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until the exit
    return True


def hook_options(words: Sequence[str]) -> dict[str, str] | None:
    """The options of a command line that calls a hook; None for another command, or one with other options."""
    options: dict[str, str] = {}
    commands = 0
    remaining = iter(words)
    for word in remaining:
        name, separator, value = word.removeprefix("--").partition("=")
        if word == COMMAND:
            commands += 1
        elif word.startswith("--") and name in OPTIONS:
            options[name] = value if separator else next(remaining, "")
        else:
            return None
    return options if commands == 1 and all(options.values()) else None


def ask(path: str, data: bytes) -> dict[str, str] | None:
    """What the resident process answers; None if there is none, or it does not take the event, or it ends."""
    if len(data) > channel.EVENT_LARGEST:
        return None
    try:
        event = data.decode(sys.stdin.encoding, sys.stdin.errors or "strict")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(TAKE_SECONDS)
            connection.connect(path)
            if not channel.is_own(connection):
                return None
            channel.send(connection, {"event": event, "folder": os.getcwd(), "turn": TURN})
            return _answer(connection)
    except (OSError, UnicodeError):
        return None


def _answer(connection: socket.socket) -> dict[str, str] | None:
    """The reply to the event that was sent; None if the process of the hook must handle it."""
    try:
        first = connection.recv(1)
    except TimeoutError:
        connection.shutdown(socket.SHUT_RDWR)  # what is answered after this cannot be sent, so the event is not taken
        return {"out": "", "err": _LATE} if connection.recv(1) == channel.TAKEN else None
    if first != channel.TAKEN:
        return None
    try:
        return _checked(channel.receive(connection, ANSWER_SECONDS))
    except TimeoutError:
        return {"out": "", "err": _LATE}


def _checked(reply: dict[str, Any] | None) -> dict[str, str] | None:
    """A reply with both texts; None for anything else."""
    if reply is None or not all(isinstance(reply.get(name), str) for name in ("out", "err")):
        return None
    return reply
