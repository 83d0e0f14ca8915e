"""The command line. It parses commands, calls `AgentMemory` and prints results; it decides nothing."""

import gc
import os
import sys
from typing import Final

GC_THRESHOLD: Final = 50_000
"""Allocations before the first garbage collection. With the freeze at the end it saves 7 % of the instructions of a recall."""


def main() -> None:
    """The entry point of `slowwave`."""
    gc.set_threshold(GC_THRESHOLD)
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a character that the terminal cannot show must not end the command
    if "hook" in sys.argv[1:]:
        from slowwave.hooks.delegate import delegated  # noqa: PLC0415 - only a hook needs it

        if delegated(sys.argv[1:]):
            return
    from slowwave.cli.app import app  # noqa: PLC0415 - `import slowwave.cli` does not load Click

    try:
        app(prog_name="slowwave")
    finally:
        gc.freeze()  # the collection at exit would only free what the process returns anyway


def _replace_closed_streams() -> None:
    """Python sets a stream that was closed before its start to None."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115 - open until the exit
    if sys.stdout is None:
        from slowwave.cli.endings import ClosedStream  # noqa: PLC0415 - a rare case

        sys.stdout = ClosedStream()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - open until the exit
