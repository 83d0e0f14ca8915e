"""What a sleep and core memory cost as a scope grows: both shall follow what is due, not what is stored.

    python bench/sleep.py [SIZES ...]        default: 1000 10000 100000 1000000

Facts of many paces, a tenth of them used, a thousand of them due tonight.
idle: a sleep with nothing due. find: the ids of what is due, by the index. rewrite: what others do instead, reading
every strength and writing it back. night: a whole sleep with the thousand due. core: the top ten, and the same by
comparing every fact. The last line is JSON.
"""

import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import apsw

from slowwave import AgentMemory, Config
from slowwave.model.memory import Memory
from slowwave.model.operation import Add, Advance
from slowwave.model.plan import Group, Plan
from slowwave.pipelines.moves import dated
from slowwave.policy.core import rank
from slowwave.policy.retention import curve, initial_stability

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DUE = 1000
CATEGORIES = ("project", "person", "goal", "finding", "other")
CONFIG = Config()


def fact(number: int, chance: random.Random, scope: str) -> Memory:
    """Hot and not yet fading, but for the first thousand: those fell below the forgetting threshold an hour ago."""
    importance = chance.random()
    uses = min(9, int(chance.expovariate(0.5))) if chance.random() < 0.1 else 0
    one = Memory(
        id=f"f{number:07}",
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
    days = law.reach(CONFIG.forgetting_threshold) + 0.04 if number < DUE else chance.random() * 0.9 * law.reach(0.2)
    return dated(replace(one, recorded_at=NOW - timedelta(days=days)), CONFIG)


def filled(memory: AgentMemory, size: int) -> None:
    store, scope, chance = memory.ports.store, memory.ports.scope, random.Random(size)
    for start in range(0, size, 50_000):
        made = [fact(number, chance, scope) for number in range(start, min(size, start + 50_000))]
        groups = tuple(
            Group(operations=tuple(Add(memory=one, because="said") for one in made[n : n + 500]), because="said")
            for n in range(0, len(made), 500)
        )
        store.apply(Plan(id=f"r{start}", scope=scope, cause="import", at=NOW, groups=groups))
    seen = store.sequence(scope)
    move = Advance(conversation="", cursor="duplicates", before=0, after=seen, because="compared when they came")
    store.apply(Plan(id="r", scope=scope, cause="import", at=NOW, groups=(Group(operations=(move,), because="read"),)))


def ms(action: Callable[[], object], times: int = 1) -> float:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        spent.append(1000 * (time.perf_counter() - start))
    return statistics.median(spent)


def rewrite(path: str) -> None:
    """Read every strength, let it decay, write it back, as a store does that keeps strengths instead of anchors."""
    db = apsw.Connection(path)
    with db:
        rows = db.execute("SELECT key, recorded_at, stability FROM memories").fetchall()
        now = NOW.timestamp() * 1e6
        faded = [(s * math.exp((at - now) / 8.64e10 / (45 * max(s, 0.01))), key) for key, at, s in rows]
        db.executemany("UPDATE copies SET strength = ? WHERE key = ?", faded)
    db.close()


def copied(path: str) -> None:
    """The strengths in a table of their own, so that the rewriting harms nothing."""
    db = apsw.Connection(path)
    db.execute("CREATE TABLE copies (key INTEGER PRIMARY KEY, strength REAL, text TEXT)")
    db.execute("INSERT INTO copies SELECT key, stability, text FROM memories")
    db.close()


def measured(size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/memory.db"
        memory = AgentMemory.open(path, scope="bench", embedder="none", clock=lambda: NOW, config=CONFIG)
        filled(memory, size)
        store, scope = memory.ports.store, memory.ports.scope
        found = {"core_ms": ms(lambda: memory.core(10), 9), "find_ms": ms(lambda: store.due(scope, NOW), 9)}
        every = memory.get_all()
        assert memory.core(10) == rank(every, CONFIG, NOW, top_k=10)
        found["core_scan_ms"] = ms(lambda: rank(memory.get_all(), CONFIG, NOW, top_k=10))
        found["hot"], found["due"] = len(every), store.due(scope, NOW)
        found["lanes"] = len(store.lanes(scope))
        del every
        found["night_ms"] = ms(memory.sleep)
        found["left"] = store.due(scope, NOW)
        found["idle_ms"] = ms(memory.sleep, 9)
        memory.close()
        copied(path)
        found["rewrite_ms"] = ms(lambda: rewrite(path))
    found["rewrite / find"] = found["rewrite_ms"] / found["find_ms"]
    found["rewrite / night"] = found["rewrite_ms"] / found["night_ms"]
    return {name: round(value, 3) for name, value in found.items()}


def main() -> None:
    result = {}
    for size in map(int, sys.argv[1:] or ("1000", "10000", "100000", "1000000")):
        result[size] = measured(size)
        print(f"{size:>9,}", "  ".join(f"{name} {value:,}" for name, value in result[size].items()), flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
