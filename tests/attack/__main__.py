"""The attack campaign: rounds of every class by seeds, each in a process of its own, until the time is over.

    python -m tests.attack                                     twenty minutes, every class
    python -m tests.attack --seconds 300 --only kills,churn    five minutes of two classes
    python -m tests.attack --only kills --seed 7 --round 3     one round again

It prints a line for each class: rounds, things tried, faults, seconds. A round that raises an exception, crashes, takes too
long or fills the memory is a fault; the command that repeats it is printed. The exit code is 1 if there was a fault.
"""

import argparse
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random

from tests.attack import ATTACKS
from tests.attack.campaign import Place

ROUND_SECONDS = 480
"""A round that takes longer hangs. It takes a minute or less, on a busy machine a few."""
ROUND_BYTES = 6 * 1024**3
"""The address space of a round."""
MINUTES = 20
SHOWN = 3000
"""Characters of the output of a fault that are printed."""


def main() -> int:
    """Run the campaign, or one round of it. Returns the exit code."""
    given = _arguments()
    if given.round is not None:
        return _round(given.only[0], given.seed, given.round, given.postgres)
    seed = given.seed or secrets.token_hex(4)
    print(f"seed {seed}, {given.seconds:.0f} seconds, {', '.join(given.only)}", flush=True)  # noqa: T201 - a program
    with ExitStack() as stack:
        faults = _campaign(given.only, seed, given.seconds, _server(stack))
    return 1 if faults else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=MINUTES * 60, help="how long it runs (default: 1200)")
    parser.add_argument("--seed", help="of the random numbers; a new one by default")
    parser.add_argument("--only", default=",".join(ATTACKS), help="classes, with commas between them")
    parser.add_argument("--round", type=int, help="run only this round of one class, in this process")
    parser.add_argument("--postgres", help="a server for a round; one is started by default")
    given = parser.parse_args()
    given.only = given.only.split(",")
    if unknown := set(given.only) - set(ATTACKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; the classes are {', '.join(ATTACKS)}")
    if given.round is not None and (given.seed is None or len(given.only) > 1):
        parser.error("--round needs --seed and one class")
    return given


def _server(stack: ExitStack) -> str:
    """The address of a Postgres server that ends with the stack. It is installed with the tools of development."""
    from slowwave.testing.postgres import postgres_server  # noqa: PLC0415

    server = stack.enter_context(postgres_server(in_ram=True))
    server.disable_fsync()
    return server.url


def _campaign(names: list[str], seed: str, seconds: float, postgres: str) -> int:
    """Rounds of the class that has had the least time so far, until the time is over. Returns the number of faults."""
    ends = time.monotonic() + seconds
    took, rounds, tried, faults = Counter(dict.fromkeys(names, 0.0)), Counter(), Counter(), Counter()  # type: ignore[var-annotated]
    while time.monotonic() < ends:
        name = min(names, key=lambda one: took[one])
        begun = time.monotonic()
        number = rounds[name]
        wrong, tried_now = _started(name, seed, number, postgres)
        rounds[name] += 1
        tried[name] += tried_now
        took[name] += time.monotonic() - begun
        if wrong:
            faults[name] += 1
            repeat = f"python -m tests.attack --only {name} --seed {seed} --round {number}"
            print(f"FAULT in {name}: {wrong}\n  repeat it: {repeat}", flush=True)  # noqa: T201
    print(f"{'class':<12}{'rounds':>8}{'tried':>10}{'faults':>8}{'seconds':>9}")  # noqa: T201
    for name in names:
        print(f"{name:<12}{rounds[name]:>8}{tried[name]:>10,}{faults[name]:>8}{took[name]:>9.0f}")  # noqa: T201
    return faults.total()


def _started(name: str, seed: str, number: int, postgres: str) -> tuple[str, int]:
    """One round in a process of its own: what went wrong, and how many things it tried."""
    command = [sys.executable, "-m", "tests.attack", "--only", name, "--seed", seed, "--round", str(number)]
    command += ["--postgres", postgres]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=ROUND_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        said = error.stderr or b""
        return f"no end after {ROUND_SECONDS} seconds\n{said[-SHOWN:].decode(errors='replace')}", 0  # type: ignore[union-attr]
    if ran.returncode:
        return f"exit code {ran.returncode}\n{ran.stderr[-SHOWN:]}", 0
    return "", int(ran.stdout.split()[-1])


def _round(name: str, seed: str, number: int, postgres: str | None) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (ROUND_BYTES, ROUND_BYTES))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slowwave-attack-")))
        database = _databases(postgres, stack)
        place = Place(Random(f"{seed}/{name}/{number}"), folder, database)
        print(f"tried {ATTACKS[name](place)}")  # noqa: T201
    return 0


def _databases(server: str | None, stack: ExitStack) -> Callable[[], str]:
    """Makes databases of this round, which are dropped after it. Without a server one is started for the first."""
    import psycopg  # noqa: PLC0415 - not needed without a server
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    made: list[str] = []
    urls = [server] if server else []

    def drop() -> None:
        if not made:
            return
        with psycopg.connect(urls[0], autocommit=True) as db:
            for name in made:
                db.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())

    def new() -> str:
        if not urls:
            urls.append(_server(stack))
        if not made:
            stack.callback(drop)
        url, name = urls[0], f"attack_{os.getpid()}_{len(made)}"
        with psycopg.connect(url, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
        made.append(name)
        database = conninfo_to_dict(url)["dbname"]
        return url.replace(f"/{database}?", f"/{name}?", 1)

    return new


if __name__ == "__main__":
    sys.exit(main())
