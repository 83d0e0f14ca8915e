"""The cost of Slowwave at growing sizes, as ratios to floors measured in the same run, so that the load of the machine cancels out.

    python bench/scale.py [--sizes 1000 10000] [--long]

Floors: fdatasync for a durable add, one numpy matrix-vector product with top ten for a search. The embedder is free.
Sizes run in processes of their own, so that one's memory is not another's.
"""

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from drivers.stub import DIM, embed, note, question, vector
from measuring import ONE_THREAD, median_ms, milliseconds, number, save, syncs_per_s, table, targets
from slowwave import AgentMemory, Message

START = datetime(2026, 1, 1, tzinfo=UTC)
LONG = 100_000
FACTS = 1000
BLOCKS, BLOCK = 5, 60
ADDED = BLOCKS * BLOCK
SAID = (
    "I moved to Lisbon last week and started learning Portuguese.",
    "My sister Nora works as a nurse in Porto.",
    "I am allergic to shellfish, so no paella for me.",
    "We decided to use Postgres 17 for the billing service.",
    "Remember that my flight leaves on Friday at 7:40.",
    "I prefer short answers without a preamble.",
    "Actually the release moved from October 14 to October 21.",
    "How do I rotate the API keys?",
    "Thanks, that helps a lot.",
    "The staging cluster has three nodes and runs in Frankfurt.",
)


class Free:
    """An embedder that costs nothing: known texts are looked up, others are derived from a hash.

    It works in this process, as the built-in ones do, so that no text is searched for secrets before it gets it.
    """

    name, dim, is_local = "bench-free-384", DIM, True

    def __init__(self) -> None:
        self.known: dict[str, np.ndarray] = {}

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(n, 384) unit rows."""
        return np.stack([found if (found := self.known.get(text)) is not None else vector(text) for text in texts])


def at_size(size: int) -> dict[str, float]:
    """All figures of one size."""
    topics = size // 10
    embedder, now = Free(), {"at": START + timedelta(days=30)}
    with (
        tempfile.TemporaryDirectory() as folder,
        AgentMemory.open(Path(folder, "m.db"), embedder=embedder, llm=None, clock=lambda: now["at"]) as memory,
    ):
        start, cpu = time.perf_counter(), time.process_time()
        for first in range(0, size, 1000):
            memory.add_messages(messages(range(first, min(first + 1000, size)), topics), "bench")
        result = {"batch_per_s": size / (time.perf_counter() - start)}
        result["batch_per_cpu_s"] = size / (time.process_time() - cpu)
        memory.search("warm up")
        result["rss_mb"] = resident_mb()
        result |= adds(memory, Path(folder), size, topics)
        result |= searches(memory, embedder, size, topics)
        result["context_ms"] = statistics.median(
            milliseconds(lambda n=n: memory.context(question(n, topics), budget_tokens=1500)) for n in range(15)
        )
        result["sleep_busy_ms"] = milliseconds(memory.sleep)
        for _ in range(20 + size // 1000):
            if not memory.sleep().left:
                break
        result["sleep_idle_ms"] = median_ms(memory.sleep, 9)
        result |= core(memory, now)
        return {name: round(value, 3) for name, value in result.items()}


def messages(numbers: Sequence[int], topics: int) -> list[Message]:
    return [Message(role="user", content=note(n, topics), at=START + timedelta(seconds=n), id=f"n{n}") for n in numbers]


def adds(memory: AgentMemory, folder: Path, size: int, topics: int) -> dict[str, float]:
    """Durable adds one by one, and bare rows of SQLite, against the disk's own limit, in interleaved blocks."""
    rows: list[dict[str, float]] = []
    with closing(bare_table(folder)) as bare:
        for block in range(BLOCKS):
            limit = syncs_per_s(folder)
            start = time.perf_counter()
            for _ in range(BLOCK):
                bare.execute("INSERT INTO bare (row) VALUES (randomblob(400))")
            share = BLOCK / (time.perf_counter() - start) / limit
            batch = messages(range(size + BLOCK * block, size + BLOCK * (block + 1)), topics)
            start, cpu = time.perf_counter(), time.process_time()
            for message in batch:
                memory.add_message(message, "bench")
            rate, busy = BLOCK / (time.perf_counter() - start), time.process_time() - cpu
            rows.append(
                {
                    "add_per_s": rate,
                    "add_vs_fsync": rate / limit,
                    "bare_row_vs_fsync": share,
                    "add_cpu_ms": 1000 * busy / BLOCK,
                    "fsync_per_s": limit,
                }
            )
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def bare_table(folder: Path) -> sqlite3.Connection:
    """Commits of single rows into a table of one column: the limit of SQLite on this machine."""
    db = sqlite3.connect(folder / "bare.db", isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE bare (row BLOB)"):
        db.execute(statement).fetchall()
    return db


def searches(memory: AgentMemory, embedder: Free, size: int, topics: int) -> dict[str, float]:
    """Searches, alternating with a matrix-vector product over the same number of vectors."""
    matrix = embed([note(n, topics) for n in range(size + ADDED)])
    asked = [question(n, topics) for n in range(40)]
    alien = [f"zzq{n}" for n in range(40)]  # shares no word with any text
    embedder.known |= {name: vector(text) for name, text in zip(alien, asked, strict=True)}
    embedder.known |= {text: vector(text) for text in asked}

    def product(text: str) -> None:
        scores = matrix @ embedder.embed([text])[0]
        np.argpartition(-scores, 10)[:10]

    result: dict[str, float] = {}
    for name, texts in (("vector", alien), ("hybrid", asked)):
        floor, ours = paired(product, lambda text: memory.search(text, top_k=10), texts)
        result["matvec_ms"] = statistics.median(floor)
        result[f"{name}_ms"], result[f"{name}_p95_ms"] = statistics.median(ours), float(np.quantile(ours, 0.95))
        result[f"{name}_vs_matvec"] = statistics.median(mine / least for mine, least in zip(ours, floor, strict=True))
        result["matvec_cpu_ms"] = statistics.median(cpu_ms(lambda text=text: product(text)) for text in texts)
        result[f"{name}_cpu_ms"] = statistics.median(
            cpu_ms(lambda text=text: memory.search(text, top_k=10)) for text in texts
        )
    exact = [{f"n{n}" for n in np.argsort(-(matrix @ vector(text)))[:10]} for text in asked]
    found = [{str(s) for hit in memory.search(text, top_k=10) for s in hit.sources} for text in alien]
    result["same_as_exact"] = statistics.mean(len(a & b) / 10 for a, b in zip(exact, found, strict=True))
    return result


def cpu_ms(call: Callable[[], object]) -> float:
    """The processor time of a call. With more than one thread of BLAS it contains the time in which threads wait."""
    start = time.process_time()
    call()
    return 1000 * (time.process_time() - start)


def paired(
    floor: Callable[[str], object], ours: Callable[[str], object], texts: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Medians of three calls each, text by text."""
    pairs = [
        (median_ms(lambda text=text: floor(text), 3), median_ms(lambda text=text: ours(text), 3)) for text in texts
    ]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def core(memory: AgentMemory, now: dict[str, datetime]) -> dict[str, float]:
    """A thousand stated facts, their core memory, and sleep passes with and without work."""
    spent = [
        milliseconds(
            lambda n=n: memory.add(f"Project {n} uses port {8000 + n} and belongs to team {n % 40}", category="project")
        )
        for n in range(FACTS)
    ]
    result = {"add_fact_ms": statistics.median(spent[-100:]), "add_fact_first_ms": statistics.median(spent[:100])}
    result["sleep_after_facts_ms"] = milliseconds(memory.sleep)
    for _ in range(20):
        if not memory.sleep().left:
            break
    result["core_ms"] = median_ms(lambda: memory.core(top_k=5), 9)
    now["at"] += timedelta(days=1)
    result["sleep_next_day_ms"] = milliseconds(memory.sleep)
    result["sleep_idle_with_facts_ms"] = median_ms(memory.sleep, 9)
    return result


def consolidation() -> dict[str, float]:
    """The library's own work to consolidate 30 messages with the default embedder and no model, and its share of disk."""
    chance = random.Random(0)
    spent, busy = [], []
    with tempfile.TemporaryDirectory() as folder, AgentMemory.open(Path(folder, "m.db"), llm=None) as memory:
        for number in range(12):
            said = [
                Message(role="user" if n % 2 == 0 else "assistant", content=f"{chance.choice(SAID)} ({number}.{n})")
                for n in range(30)
            ]
            memory.add_messages(said, f"c{number}")
            cpu = time.process_time()
            spent.append(milliseconds(lambda number=number: memory.end_conversation(f"c{number}")))
            busy.append(1000 * (time.process_time() - cpu))
    return {
        "consolidate_30_ms": round(statistics.median(spent[2:]), 2),
        "cpu_ms": round(statistics.median(busy[2:]), 2),
    }


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def default_rss() -> float:
    """MB of a process that holds 10,000 messages with the default embedder and has searched them."""
    with tempfile.TemporaryDirectory() as folder, AgentMemory.open(Path(folder, "m.db"), llm=None) as memory:
        for first in range(0, 10_000, 1000):
            memory.add_messages(messages(range(first, first + 1000), 1000), "bench")
        memory.search("kubernetes budget")
        memory.context("kubernetes budget")
        return round(resident_mb(), 1)


PARTS: dict[str, Callable[[], object]] = {"consolidation": consolidation, "rss": default_rss}


def part(name: str) -> object:
    """Run one part in a separate process: a size, or a name in PARTS."""
    command = [sys.executable, __file__, "--part", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **ONE_THREAD})
    if done.returncode:
        sys.exit(f"{name}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def show(found: dict[str, dict[str, float]], thinking: dict[str, float], rss: float) -> str:
    """Print one column for each size, the other figures, and the targets."""
    names = list(next(iter(found.values())))
    rows = [(name, *(number(figures[name]) for figures in found.values())) for name in names]
    judged = {"RSS with 10,000 messages and the default embedder, MB": (rss, "<=", 200.0)}
    return "\n\n".join(
        [
            table(("figure", *(f"{int(size):,}" for size in found)), rows),
            f"Consolidating 30 messages: {thinking['consolidate_30_ms']} ms, of which {thinking['cpu_ms']} ms of processor.",
            targets(judged),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--long", action="store_true", help=f"also {LONG:,}")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(PARTS[options.part]() if options.part in PARTS else at_size(int(options.part))))
        return
    sizes = [*options.sizes, *([LONG] if options.long else [])]
    found = {str(size): part(str(size)) for size in sizes}
    thinking, rss = part("consolidation"), part("rss")
    print(show(found, thinking, rss))
    print(f"\nsaved in {save('scale', {'sizes': found, 'consolidation': thinking, 'rss_mb': rss})}")


if __name__ == "__main__":
    main()
