"""The command line: it translates words into calls of AgentMemory, and what comes back into words. It decides nothing."""

import gc
import sys
from typing import Final

BEFORE_SWEEPING: Final = 50_000
"""Objects made before Python looks for garbage: a command is over sooner, and looking costs a tenth of its start."""


def main() -> None:
    """The entry point of `slowwave`."""
    gc.set_threshold(BEFORE_SWEEPING)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character shows another
    from slowwave.cli import plainly  # noqa: PLC0415 - `import slowwave.cli` stays free of the commands

    code = plainly.run(sys.argv[1:])
    if code is not None:
        gc.freeze()  # so that Python does not sweep on its way out what is gone with it: a tenth of a short command
        sys.exit(code)
    from slowwave.cli.app import app  # noqa: PLC0415 - most calls do without the framework

    app()
