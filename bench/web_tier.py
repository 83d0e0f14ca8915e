"""A web tier over Postgres: cold searches, what they cost other users, round trips, and RAM by way of routing.

    python bench/web_tier.py [--sizes 500 5000 50000] [--users 50000] [--active 5000] [--messages 500] [--processes 16]

It starts a private server. "first" is the first search of a scope in a process, which builds the index from rows;
"later" is the next search of the same process; "stored" is the first search of another process, which reads the stored
index. Indexes of fewer than 1,000 messages are not stored. In brackets is the processor time of the process, which
depends less on the load of the machine. "others" are three threads that search small scopes while one large scope is searched for the
first time. The arithmetic at the end takes the measured figures: with any process answering any user, each process builds
and holds the indexes of all users that it meets.
"""

import argparse
import random
import statistics
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import psycopg

from measuring import number, save, table
from slowwave import Config, Message, Slowwave
from slowwave.policy.text.word_frequency import commonest
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.search.service import WORTH_STORING
from slowwave.testing.postgres import postgres_server
from slowwave.testing.postgres_proxy import Proxy, proxied

WORDS, BATCH, SMALL, TRIES, LATER = 14, 1000, 50, 9, 20
VOCABULARY = list(commonest(5000))
QUESTION = "where was the garden by the river"
MEGABYTE = 1024 * 1024


def talk(seed: int, count: int) -> list[Message]:
    """Messages of random common words."""
    chance = random.Random(seed)
    return [Message(role="user", content=" ".join(chance.choices(VOCABULARY, k=WORDS))) for _ in range(count)]


def fill(store: Slowwave, sizes: list[int]) -> None:
    """A scope of each size, and small scopes of other users."""
    for size in sizes:
        for start in range(0, size, BATCH):
            store.within("size", size).add_messages(talk(start, min(BATCH, size - start)), conversation="c")
    for user in range(3):
        store.within("other", user).add_messages(talk(user, SMALL), conversation="c")


class Spent(NamedTuple):
    """Milliseconds of a call: by the clock, and of the processor."""

    clock: float
    processor: float

    def __str__(self) -> str:
        """Both, for a table."""
        return f"{number(self.clock)} ({number(self.processor)})"


def spent(call: Callable[[], object]) -> Spent:
    """What a call takes."""
    clock, processor = time.perf_counter(), time.process_time()
    call()
    return Spent(1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - processor))


def medians(times: list[Spent]) -> Spent:
    return Spent(*(statistics.median(each) for each in zip(*times, strict=True)))


class Cold(NamedTuple):
    """The searches of a scope in one process, and the megabytes of its index."""

    first: Spent
    later: Spent
    mb: float


def cold(url: str, size: int, *, keep: bool = False) -> Cold:
    """Search a scope in a new store. With `keep` its index is stored at the end."""
    with Slowwave.open(url, llm=None) as store:
        store.within("other", 0).search(QUESTION)
        memory = store.within("size", size)
        postgres = memory.ports.store
        assert isinstance(postgres, PostgresStore)
        before = postgres.gauges()["index.bytes"]
        first = spent(lambda: memory.search(QUESTION))
        mb = (postgres.gauges()["index.bytes"] - before) / MEGABYTE
        later = medians([spent(lambda: memory.search(QUESTION)) for _ in range(LATER)])
        if not keep:
            postgres._indexes.pop_all()  # noqa: SLF001 - so that closing stores none
    return Cold(first, later, mb)


def colds(url: str, size: int) -> tuple[Spent, Spent, Spent | None, float]:
    """The first and later searches of a process, the first with a stored index, and the megabytes of the index."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("TRUNCATE slowwave.snapshots")
    built = [cold(url, size) for _ in range(TRIES)]
    stored = None
    if size >= WORTH_STORING:
        cold(url, size, keep=True)
        stored = medians([cold(url, size).first for _ in range(TRIES)])
    return medians([one.first for one in built]), medians([one.later for one in built]), stored, built[0].mb


def others(url: str, size: int) -> tuple[float, float, float]:
    """The median search of other users while nothing else happens, and during a cold search, in ms; its seconds."""
    with Slowwave.open(url, llm=None, config=Config(search_in_ram=None)) as store:
        took: list[tuple[float, float]] = []
        stopped = threading.Event()

        def search(user: int) -> None:
            memory = store.within("other", user)
            while not stopped.is_set():
                start = time.perf_counter()
                memory.search(QUESTION)
                took.append((start, time.perf_counter()))

        threads = [threading.Thread(target=search, args=(user,)) for user in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(2)
        begun = time.perf_counter()
        store.within("size", size).search(QUESTION)
        ended = time.perf_counter()
        stopped.set()
        for thread in threads:
            thread.join()
    quiet = [1000 * (end - start) for start, end in took[3:] if end < begun]
    during = [1000 * (end - start) for start, end in took if end > begun and start < ended]
    return statistics.median(quiet), statistics.median(during), ended - begun


def trips(proxy: Proxy, call: Callable[[], object]) -> int:
    """The round trips of a call that was made before."""
    call()
    before = proxy.trips
    call()
    return proxy.trips - before


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sizes", type=int, nargs="+", default=[500, 5000, 50_000])
    for name, default in (("users", 50_000), ("active", 5000), ("messages", 500), ("processes", 16)):
        asked.add_argument(f"--{name}", type=int, default=default)
    options = asked.parse_args()
    with postgres_server(in_ram=True) as server:
        url = server.database()
        with Slowwave.open(url, llm=None) as store:
            fill(store, sorted({*options.sizes, options.messages}))
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("ANALYZE")
        found = {size: colds(url, size) for size in sorted({*options.sizes, options.messages})}
        calm, during, seconds = others(url, max(options.sizes))
        with proxied(url) as proxy, Slowwave.open(proxy.url, llm=None) as store:
            memory = store.within("other", 0)
            counted = {
                "search": trips(proxy, lambda: memory.search(QUESTION)),
                "context": trips(proxy, lambda: memory.context(QUESTION, conversation="c")),
                "add": trips(proxy, lambda: memory.add_messages(talk(1, 1), conversation="c")),
            }
    rows = [
        [f"{size:,}", first, later, stored or "-", number(mb)] for size, (first, later, stored, mb) in found.items()
    ]
    print(table(["messages", "first ms (processor)", "later", "stored", "MB"], rows))
    print(
        f"others: p50 {calm:.1f} ms; {during:.1f} ms during a cold search of {max(options.sizes):,} ({seconds:.2f} s)"
    )
    print("round trips:", ", ".join(f"{name} {count}" for name, count in counted.items()))
    each = found[options.messages][3]
    anyone, sticky = options.active * each, options.active * each / options.processes
    print(
        f"{options.active:,} active users of {options.messages} messages, {options.processes} processes: any process "
        f"answers: {anyone:,.0f} MB a process, {anyone * options.processes / 1024:,.1f} GB in all; each user at one "
        f"process: {sticky:,.0f} MB a process, {anyone / 1024:,.1f} GB in all"
    )
    save("web_tier", {"cold": found, "others": [calm, during], "trips": counted, "mb": [anyone, sticky]})


if __name__ == "__main__":
    main()
