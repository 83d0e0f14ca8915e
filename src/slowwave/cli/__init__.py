"""The command line: it translates words into calls of AgentMemory, and what comes back into words. It decides nothing."""

import sys


def main() -> None:
    """The entry point of `slowwave`."""
    from slowwave.cli.app import app  # noqa: PLC0415 - `import slowwave.cli` stays free of the framework

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character shows another
    app()
