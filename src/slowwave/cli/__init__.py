"""The command line: it translates words into calls of AgentMemory, and what comes back into words. It decides nothing."""

import gc
import sys
from typing import Final

BEFORE_SWEEPING: Final = 50_000
"""Objects made before Python looks for garbage: a command is over sooner, and looking costs a tenth of its start."""


def main() -> None:
    """The entry point of `slowwave`."""
    gc.set_threshold(BEFORE_SWEEPING)
    from slowwave.cli.app import app  # noqa: PLC0415 - `import slowwave.cli` stays free of the framework

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character shows another
    app()
