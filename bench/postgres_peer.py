"""Slowwave on Postgres compared with LangGraph's PostgresStore: the same server, texts, questions and hash embedder.

    python bench/postgres_peer.py [--items 10000] [--namespaces 1000] [--rounds 15] [--block 20] [--delay 1.3]

Each runs in processes and databases of its own on a private server; LangGraph in a virtual environment under bench/.envs.
They take turns of `--block` operations, so that a noisy moment hits both. "+1.3 ms" is a proxy between client and server
that delays each round trip. A search is warm: every namespace was searched before. Slowwave ranks exactly by words,
neighbours and meaning; LangGraph by meaning, with HNSW.
"""

import argparse
import json
import os
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg

from measuring import ONE_THREAD, number, save, table
from peers import DRIVERS, Peer, python_of
from slowwave.testing.postgres import PostgresServer, postgres_server
from slowwave.testing.postgres_proxy import proxied

LANGGRAPH = Peer(
    "langgraph-postgres", ("langgraph", "langgraph-checkpoint-postgres", "psycopg[binary,pool]", "numpy"), ""
)
PEERS = (Peer("slowwave", (), ""), LANGGRAPH)
OPERATIONS = ("search", "add")

Times = dict[tuple[str, float, str], list[float]]
"""By operation, delay and name of the system: the milliseconds of each operation."""


class Driver:
    """A process of a system that carries out operations when it is asked to."""

    def __init__(self, python: str, peer: Peer, url: str, phase: str, **options: int) -> None:
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        driver = DRIVERS / f"postgres_{peer.name.partition('-')[0]}.py"
        self._process = subprocess.Popen(
            [python, str(driver), url, phase, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **ONE_THREAD},
        )

    def line(self) -> str:
        """Its next line of output."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def ask(self, name: str, times: int) -> tuple[list[float], float]:
        """The milliseconds of so many operations, and the processor time of all."""
        assert self._process.stdin is not None
        print(name, times, file=self._process.stdin, flush=True)
        spans, processor = json.loads(self.line())
        return spans, processor

    def end(self) -> None:
        """Wait for its end."""
        self._process.communicate()
        if self._process.returncode:
            raise RuntimeError(f"{self._process.args!r} failed")


@contextmanager
def driver(
    server: PostgresServer, python: str, peer: Peer, filled: str, delay: float, namespaces: int
) -> Iterator[Driver]:
    """A warm driver on a copy of a filled database, with a delay of the network in milliseconds."""
    url = server.database(filled)
    with ExitStack() as stack:
        if delay:
            url = stack.enter_context(proxied(url, delay / 2000)).url
        started = Driver(python, peer, url, "measure", namespaces=namespaces)
        assert started.line().strip() == "ready"
        yield started
        started.end()


def measured(server: PostgresServer, namespaces: int, options: argparse.Namespace) -> tuple[Times, Times]:
    """The milliseconds of each operation, and the processor time of an operation in each block."""
    clock: Times = defaultdict(list)
    processor: Times = defaultdict(list)
    pythons = {peer: python_of(peer) for peer in PEERS}
    with ExitStack() as stack:
        drivers: list[tuple[Peer, float, Driver]] = []
        for peer, python in pythons.items():
            if python is None:
                raise SystemExit(f"{peer.name} cannot be installed here")
            url = server.database()
            with psycopg.connect(url, autocommit=True) as db:
                db.execute("CREATE EXTENSION IF NOT EXISTS vector")
            Driver(python, peer, url, "fill", namespaces=namespaces, items=options.items).end()
            with psycopg.connect(url, autocommit=True) as db:
                db.execute("VACUUM ANALYZE")
            filled = str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])
            for delay in (0.0, options.delay):
                opened = driver(server, python, peer, filled, delay, namespaces)
                drivers.append((peer, delay, stack.enter_context(opened)))
        for name in OPERATIONS:
            for turn in range(options.rounds):
                for peer, delay, each in drivers if turn % 2 else reversed(drivers):
                    spans, spent = each.ask(name, options.block)
                    clock[name, delay, peer.name] += spans
                    processor[name, delay, peer.name].append(spent / options.block)
    return clock, processor


def rows(namespaces: int, clock: Times, processor: Times) -> list[tuple[str, ...]]:
    """Medians of both systems with their quotient, then the medians of their processor times."""
    found = []
    for name, delay in dict.fromkeys((name, delay) for name, delay, _ in clock):
        ours, theirs = (statistics.median(clock[name, delay, peer.name]) for peer in PEERS)
        mine, other = (statistics.median(processor[name, delay, peer.name]) for peer in PEERS)
        network = f"+{delay} ms" if delay else "direct"
        figures = (number(theirs), number(ours), f"{ours / theirs:.2f}×", number(other), number(mine))
        found.append((name, f"{namespaces:,}", network, *figures))
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("items", 10_000), ("namespaces", 1000), ("rounds", 15), ("block", 20)):
        asked.add_argument(f"--{name}", type=int, default=default)
    asked.add_argument("--delay", type=float, default=1.3, help="milliseconds of a round trip")
    options = asked.parse_args()
    shown: list[tuple[str, ...]] = []
    with postgres_server() as server:
        for namespaces in (1, options.namespaces):
            shown += rows(namespaces, *measured(server, namespaces, options))
    heads = ("operation", "namespaces", "network", "langgraph p50 ms", "slowwave p50 ms", "slowwave ÷ langgraph")
    print(table((*heads, "langgraph processor ms", "slowwave processor ms"), shown))
    save("postgres_peer", shown)


if __name__ == "__main__":
    main()
