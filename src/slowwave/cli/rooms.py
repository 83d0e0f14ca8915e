"""Where each command lives: so that one is loaded without the others, in the order in which help shows them."""

from collections.abc import Iterator
from importlib import import_module
from typing import Final

from slowwave.cli.declared import Room

ROOMS: Final[dict[str, tuple[str, ...]]] = {
    "demo_cmd": ("demo",),
    "write_cmds": ("add", "remember", "import", "export"),
    "recall_cmds": ("recall", "context", "facts", "core"),
    "maintenance_cmds": ("consolidate", "sleep", "apply", "undo", "reembed", "doctor", "backup", "copy"),
    "review_cmds": ("health", "review", "release", "reject", "plot"),
    "edit_cmds": ("pin", "unpin", "update", "delete", "revive", "erase"),
    "inspect_cmds": ("explain", "history", "summaries", "runs", "status", "cost"),
    "benchmark_cmds": (),
    "vault_cmds": ("compact",),
    "worker_cmd": ("worker",),
}
"""Files, and the commands in each; those of groups are not listed."""


def load(file: str) -> Room:
    """The room of a file."""
    room: Room = import_module(f"slowwave.cli.{file}").room
    return room


def with_command(name: str) -> Iterator[Room]:
    """The room that has a command, if any."""
    return (load(file) for file, names in ROOMS.items() if name in names)
