"""The cost of a sleep pass and of core memory as a scope grows: both should depend on what is due, not on what is stored.

    python bench/sleep.py [SIZES ...]        default: 1000 10000 100000 1000000; the last takes some minutes

Hot facts of many paces with vectors, a tenth of them used, and a tenth as many cold ones. A hundred of them cross the
forgetting threshold two hours ago, a thousand an hour ago. They are stored in the order in which they were recorded.

find: the ids of due facts, by the index. few, night: whole sleeps with the hundred and with the thousand due; idle:
with nothing due. longest: the longest of a night's transactions. rewrite: what others do instead, in a table of its own
under the same settings: read every fact, compute its strength, write it back, put away what fell below, in one
transaction. core: the top ten; fresh: right after a write; scan: by comparing every fact. Figures go to
`results/sleep.json`, a plot to `results/sleep.svg`. Last comes the clustering of 20,000 vectors beside the matrix
products it needs, both in processor time.
"""

import math
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from measuring import ONE_THREAD, RESULTS, median_ms, milliseconds, number, save, table, targets

os.environ.update(ONE_THREAD)

import apsw
import numpy as np

from slowwave import AgentMemory, Config
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory, altered
from slowwave.model.operations import Add, MoveCursor
from slowwave.model.plan import Group, Plan
from slowwave.pipelines.planning import postpone
from slowwave.policy.charts import Picture, Series, to_svg
from slowwave.policy.retention.core import rank
from slowwave.policy.retention.policies import curve, initial_stability
from slowwave.policy.summaries.grouping import groups
from slowwave.testing import FrozenClock

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
DUE, FEW = 1000, 100
COLD_SHARE = 10
DIM = 64
SCANNED_MAX = 100_000
ROUNDS = 3
CATEGORIES = ("project", "person", "goal", "finding", "other")
CONFIG = Config()


class FreeEmbedder:
    """An embedder with random vectors, since similarities are not measured here."""

    name = "free-64"

    def __init__(self) -> None:
        self.chance = np.random.default_rng(0)

    def embed(self, texts: list[str], /) -> np.ndarray:
        """Unit rows."""
        rows = self.chance.standard_normal((len(texts), DIM), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fact(number: int, hours: float | None, chance: random.Random, scope: str) -> Memory:
    """A hot fact that fell below the forgetting threshold this many hours ago, or that is not yet fading."""
    importance = chance.random()
    uses = min(9, int(chance.expovariate(0.5))) if chance.random() < 0.1 else 0
    one = Memory(
        id=f"f{chance.getrandbits(64):016x}",
        scope=scope,
        kind=chance.choice(("semantic", "episodic")),
        text=f"Rack {number} holds {number * 7 % 97} servers and hums at {number * 13 % 89} decibels",
        category=CATEGORIES[number % len(CATEGORIES)],
        recorded_at=NOW,
        valid_from=NOW,
        importance=importance,
        stability=min(1.0, initial_stability(importance) + 0.05 * uses),
        accesses=uses,
    )
    law = curve(one, CONFIG)
    if hours is None:
        days = chance.random() * 0.9 * law.reach(CONFIG.consolidation_retention_threshold)
    else:
        days = law.reach(CONFIG.forgetting_threshold) + hours / 24
    # An earlier sleep pass saw it when it began to fade, so the next threshold is the other one.
    return postpone(altered(one, recorded_at=NOW - timedelta(days=days)), CONFIG, NOW - 12 * HOUR)


def filled(memory: AgentMemory, size: int) -> None:
    """Write the facts as an import does."""
    store, scope, chance, embedder = memory.ports.store, memory.ports.scope, random.Random(size), FreeEmbedder()
    places = chance.sample(range(size), min(size, DUE + FEW))
    hours = dict.fromkeys(places[FEW:], 1.0) | dict.fromkeys(places[:FEW], 2.0)
    cold = set(chance.sample(range(size), size // COLD_SHARE)) - set(places)
    every = [fact(number, hours.get(number), chance, scope) for number in range(size)]
    for place in cold:
        every[place] = altered(every[place], phase="cold", reason="faded", due_at=None, pace=None)
    every.sort(key=lambda one: one.recorded_at)  # in the order of recording
    for start in range(0, size, 10_000):
        made = every[start : start + 10_000]
        vectors = embedder.embed([""] * len(made))
        adds = [
            Add(
                memory=one,
                because="said",
                entry=IndexEntry(
                    terms=b"", words=0, question=0.0, cues=0, vectors=row.tobytes(), dim=DIM, embedder=embedder.name
                ),
            )
            for one, row in zip(made, vectors, strict=True)
        ]
        batches = tuple(Group(operations=tuple(adds[n : n + 500]), because="said") for n in range(0, len(adds), 500))
        store.apply(Plan(id=f"r{start}", scope=scope, cause="import", at=NOW, groups=batches))
    seen = store.sequence(scope)
    moves = tuple(
        MoveCursor(conversation="", cursor=name, before=0, after=seen, because="read when they came")
        for name in ("duplicates",)
    )
    store.apply(Plan(id="r", scope=scope, cause="import", at=NOW, groups=(Group(operations=moves, because="read"),)))


def opened(path: Path, clock: FrozenClock) -> AgentMemory:
    return AgentMemory.open(path, scope="bench", llm=None, embedder=FreeEmbedder(), clock=clock, config=CONFIG)


def nights(path: Path) -> dict[str, float]:
    """Two sleep passes on one copy of the store, and one with nothing due."""
    begun: list[float] = []
    spans: list[float] = []

    def reached(point: str) -> None:
        if point == "apply.begun":
            begun.append(1000 * time.perf_counter())
        if point == "apply.committed":
            spans.append(1000 * time.perf_counter() - begun[-1])

    clock = FrozenClock(NOW - 1.5 * HOUR)
    with opened(path, clock) as memory:
        memory.ports.store._reached = reached  # noqa: SLF001 - the failpoint hook of the store
        store, scope = memory.ports.store, memory.ports.scope
        found = {"few_due": store.due(scope, clock()), "few_ms": milliseconds(memory.sleep)}
        clock.advance(hours=1.5)
        found |= {"due": store.due(scope, clock()), "night_ms": milliseconds(memory.sleep)}
        found |= {"left": store.due(scope, clock()), "longest_ms": max(spans)}
        found["idle_ms"] = median_ms(memory.sleep, 9)
    return found


def finding(path: Path) -> float:
    """The ids of due memories by one statement."""
    db = apsw.Connection(str(path))
    at = int(NOW.timestamp() * 1_000_000)
    which = "SELECT id FROM memories WHERE scope = 1 AND due_at <= ? AND phase IN ('active', 'core')"
    spent = median_ms(lambda: db.execute(which, (at,)).fetchall(), 9)
    db.close()
    return spent


def core(path: Path, size: int) -> dict[str, float]:
    """The top ten of core memory: repeated, right after a write, and by comparing every fact."""
    with opened(path, FrozenClock(NOW)) as memory:
        store, scope = memory.ports.store, memory.ports.scope
        memory.core(10)
        found = {"core_ms": median_ms(lambda: memory.core(10), 9), "lanes": len(store.decay_classes(scope))}
        spent = []
        for _ in range(9):
            store.index(scope, {})
            spent.append(milliseconds(lambda: memory.core(10)))
        found["core_fresh_ms"] = statistics.median(spent)
        if size <= SCANNED_MAX:
            best: list[Memory] = []
            found["core_scan_ms"] = milliseconds(lambda: best.extend(rank(memory.get_all(), CONFIG, NOW, top_k=10)))
            assert memory.core(10) == best
    return found


def copied(path: Path, other: Path) -> None:
    """The hot facts in a separate file, as in a store that keeps strengths."""
    db = apsw.Connection(str(other))
    db.pragma("journal_mode", "WAL")
    db.execute("ATTACH ? AS ours", (str(path),))
    db.execute(
        "CREATE TABLE facts (id TEXT PRIMARY KEY, kind TEXT, text TEXT, recorded_at INTEGER, used_at INTEGER, "
        "importance REAL, stability REAL, accesses INTEGER, phase TEXT, strength REAL)"
    )
    db.execute(
        "INSERT INTO facts SELECT id, kind, text, recorded_at, used_at, importance, stability, accesses, phase, 1.0 "
        "FROM ours.memories WHERE phase = 'active'"
    )
    db.close()


def rewritten(path: Path) -> None:
    """Read every fact, compute its strength by the same formula, write it back, and archive those below the threshold."""
    db = apsw.Connection(str(path))
    db.pragma("synchronous", "FULL")
    now, day = NOW.timestamp() * 1e6, 8.64e10
    days = {"semantic": CONFIG.semantic_decay_days, "episodic": CONFIG.episodic_decay_days}
    with db:
        rows = db.execute("SELECT id, kind, recorded_at, used_at, importance, stability FROM facts").fetchall()
        decayed = [
            (math.exp(((used or at) - now) / day / (stability * min(3.0, 1.0 + 2.0 * importance) * days[kind])), key)
            for key, kind, at, used, importance, stability in rows
        ]
        db.executemany("UPDATE facts SET strength = ? WHERE id = ?", decayed)
        db.execute("UPDATE facts SET phase = 'cold' WHERE strength < ?", (CONFIG.forgetting_threshold,))
    db.close()


def measured(size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, other, one = folder / "memory.db", folder / "facts.db", folder / "copy.db"
        with opened(whole, FrozenClock(NOW)) as memory:
            filled_ms = milliseconds(lambda: filled(memory, size))
        copied(whole, other)
        found: dict[str, float] = {"fill_per_s": 1000 * size / filled_ms, "find_ms": finding(whole)} | core(whole, size)
        rounds = []
        for _ in range(ROUNDS):  # alternating, so that both run under the same load
            shutil.copy(whole, one)
            os.sync()  # so that the sleep pass does not wait for the copy
            rounds.append(nights(one) | {"rewrite_ms": milliseconds(lambda: rewritten(other))})
        found |= {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    found["rewrite / find"] = found["rewrite_ms"] / found["find_ms"]
    found["rewrite / night"] = statistics.median(each["rewrite_ms"] / each["night_ms"] for each in rounds)
    return found


def clustered(size: int = 20_000, dim: int = 256) -> dict[str, float]:
    """A fifth of the vectors are similar to no other; the others are in groups of eight."""
    chance = np.random.default_rng(0)
    alone = size // 5
    alike = np.repeat(chance.standard_normal(((size - alone) // 8, dim), dtype=np.float32), 8, axis=0)
    alike += 0.45 * chance.standard_normal(alike.shape, dtype=np.float32)
    rows = np.concatenate([alike, chance.standard_normal((alone, dim), dtype=np.float32)])
    rows = chance.permutation(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    keys, height = [f"k{n:06}" for n in range(len(rows))], 4_000_000 // len(rows)

    def products() -> None:
        for start in range(0, len(rows), height):
            rows[start : start + height] @ rows[start:].T

    def spent(action: Callable[[], object]) -> float:
        start = time.process_time()  # processor time of one thread, independent of other processes
        action()
        return 1000 * (time.process_time() - start)

    rounds = [(spent(products), spent(lambda: groups(rows, keys=keys, threshold=0.7))) for _ in range(ROUNDS)]
    found = {
        "products_ms": statistics.median(r[0] for r in rounds),
        "cluster_ms": statistics.median(r[1] for r in rounds),
    }
    return found | {"cluster / products": statistics.median(other / one for one, other in rounds)}


def drawn(result: dict[int, dict[str, float]]) -> str:
    """Plot microseconds over sizes, both as powers of ten."""
    names = {
        "rewrite_ms": "rewriting every strength",
        "night_ms": "a sleep, 1,000 due",
        "few_ms": "a sleep, 100 due",
        "core_ms": "core memory, top ten",
        "idle_ms": "a sleep, nothing due",
    }
    series = [
        Series(
            name=words,
            points=tuple((math.log10(n) - 3, math.log10(1000 * found[name])) for n, found in result.items()),
            dots=tuple((math.log10(n) - 3, math.log10(1000 * found[name])) for n, found in result.items()),
        )
        for name, words in names.items()
    ]
    return to_svg(
        Picture(
            title="What a sleep costs follows what is due",
            across="facts stored",
            up="time, microseconds, as a power of ten",
            series=tuple(series),
            ticks=tuple((math.log10(n) - 3, f"{n:,}") for n in result),
            lines=((3.0, "1 ms"), (6.0, "1 s")),
            top=8.0,
        )
    )


def main() -> None:
    result: dict[int, dict[str, float]] = {}
    for size in map(int, sys.argv[1:] or ("1000", "10000", "100000", "1000000")):
        result[size] = measured(size)
        print(f"{size:>9,}", "  ".join(f"{name} {number(value)}" for name, value in result[size].items()), flush=True)
    clusters = clustered()
    heads = ["figure", *(f"{size:,}" for size in result)]
    rows = [
        [name, *(number(found[name]) if name in found else "" for found in result.values())]
        for name in result[min(result)]
    ]
    print(table(heads, rows))
    print("clustering 20,000:", ", ".join(f"{name} {number(value)}" for name, value in clusters.items()))
    most = result[max(result)]
    print(
        targets(
            {
                "finding due facts, times faster than rewriting": (most["rewrite / find"], ">=", 500),
                "the whole sleep pass, times faster than rewriting": (most["rewrite / night"], ">=", 20),
                "a sleep pass with nothing due, ms": (most["idle_ms"], "<=", 1),
                "core memory, top ten, ms": (most["core_ms"], "<=", 1),
                "clustering 20,000, times the matrix products": (clusters["cluster / products"], "<=", 2),
            }
        )
    )
    print("saved in", save("sleep", {"sizes": result, "clustering": clusters}))
    (RESULTS / "sleep.svg").write_text(drawn(result), encoding="utf-8")


if __name__ == "__main__":
    main()
