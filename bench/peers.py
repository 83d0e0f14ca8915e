"""Slowwave compared with mem0, LangGraph's SqliteStore and chromadb: the same notes, questions and hash embedder.

    python bench/peers.py [--sizes 1000 10000] [--rounds 3]

Each system lives in a virtual environment of its own under bench/.envs, is driven as its documentation shows
(bench/drivers/with_*.py), and runs in a process of its own; rounds are interleaved, so that a noisy moment hits all.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from collections import defaultdict
from dataclasses import dataclass

from measuring import HERE, ONE_THREAD, number, save, spread, table

DRIVERS = HERE / "drivers"
ENVS = HERE / ".envs"
ADDS = 20


@dataclass(frozen=True)
class Peer:
    """A system, its packages, and notes on its figures."""

    name: str
    packages: tuple[str, ...]
    note: str


OURS = Peer(
    "slowwave",
    (),
    "Each add is a journaled commit in WAL with synchronous=FULL, row, indexes and vector in one transaction. Search is "
    "exact and hybrid: words, meaning and neighbours, so its ten differ on purpose from the ten nearest vectors. "
    "Delete can be undone.",
)
PEERS = (
    Peer(
        "mem0",
        ("mem0ai", "numpy"),
        "infer=False, so no model is called; Qdrant in process and a history in another SQLite file, not one "
        "transaction. No batch of its own. Its keyword half needs downloads and is off: search is by meaning alone, "
        "a scan.",
    ),
    Peer(
        "langgraph",
        ("langgraph", "langgraph-checkpoint-sqlite", "pysqlite3-binary", "numpy"),
        "A key-value store with vectors: SQLite's defaults (rollback journal, synchronous=FULL). Exact scan by "
        "sqlite-vec; no words, no reconciling, no journal, no forgetting except TTL. Delete is irreversible.",
    ),
    Peer(
        "chromadb",
        ("chromadb", "numpy"),
        "A vector database: the log is in SQLite, the HNSW index is written behind. Approximate search by meaning; "
        "no memory policies. Delete is irreversible.",
    ),
)

COLUMNS = {
    "add_ms": "add ms",
    "add_per_s": "adds/s",
    "add_vs_fsync": "of fdatasync limit",
    "fill_per_s": "batch /s",
    "search_ms": "search p50 ms",
    "search_p95_ms": "p95 ms",
    "recall_at_10": "vector recall@10",
    "delete_ms": "delete ms",
    "reopen_ms": "reopen + search ms",
    "rss_mb": "RSS MB",
    "disk_mb": "disk MB",
}
RATIOS = {"add_ms": "add", "fill_per_s": "batch", "search_ms": "search p50", "search_p95_ms": "p95", "delete_ms": "delete",
          "reopen_ms": "reopen", "rss_mb": "RSS", "disk_mb": "disk"}  # fmt: skip


def python_of(peer: Peer) -> str | None:
    """The interpreter of a peer's environment, created if it is missing; None if it cannot be created."""
    if not peer.packages:
        return sys.executable
    folder = ENVS / peer.name
    python = folder / "bin" / "python"
    if (folder / "ready").exists():
        return str(python)
    print(f"creating bench/.envs/{peer.name} …", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    command = [str(python), "-m", "pip", "install", "-q", "-q", "--disable-pip-version-check", *peer.packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{peer.name} cannot be installed here and is skipped:\n{done.stderr[-400:]}")
        return None
    (folder / "ready").touch()
    return str(python)


def course(python: str, peer: Peer, *arguments: str, before: tuple[str, ...] = ()) -> str:
    """Run a driver in an empty folder. Returns its last line of output."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*before, python, str(DRIVERS / f"with_{peer.name}.py"), folder, *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=900, env={**os.environ, **ONE_THREAD}
        )
    if done.returncode:
        raise RuntimeError(f"{peer.name} failed:\n{done.stderr[-1500:]}")
    return (done.stdout.strip().splitlines() or [""])[-1]


def syncs_per_add(python: str, peer: Peer) -> float | None:
    """The number of disk syncs of a durable add, counted by strace; None without strace."""
    if shutil.which("strace") is None:
        return None
    counts = []
    for adds in (ADDS, 2 * ADDS):
        with tempfile.NamedTemporaryFile("r") as seen:
            before = ("strace", "-f", "-e", "trace=fsync,fdatasync,msync,sync_file_range", "-o", seen.name)
            course(python, peer, "0", "--adds", str(adds), before=before)
            counts.append(sum("resumed" not in line and "sync" in line for line in seen))
    return (counts[1] - counts[0]) / ADDS


def measure(sizes: list[int], rounds: int) -> dict[str, dict[str, dict[str, list[float]]]]:
    """{size: {peer: {figure: one value per round}}}; each round runs all peers."""
    pythons = {peer.name: python_of(peer) for peer in (OURS, *PEERS)}
    here = [(peer, python) for peer in (OURS, *PEERS) if (python := pythons[peer.name])]
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for size in sizes:
        of_size: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for turn in range(rounds if size <= 1000 else max(1, rounds - 2)):
            for peer, python in here if turn % 2 == 0 else reversed(here):
                for name, value in json.loads(course(python, peer, str(size))).items():
                    of_size[peer.name][name].append(value)
                print(f"  {size:,} round {turn + 1}: {peer.name}", flush=True)
        found[str(size)] = {name: dict(figures) for name, figures in of_size.items()}
    syncs = {peer.name: syncs_per_add(python, peer) for peer, python in here}
    found["syncs_per_add"] = {name: {"syncs": [count]} for name, count in syncs.items() if count is not None}
    return found


def show(found: dict[str, dict[str, dict[str, list[float]]]]) -> str:
    """Print medians (lowest–highest), then each peer's time divided by Slowwave's, then the notes on each peer."""
    sizes = [size for size in found if size.isdigit()]
    rows = [
        (f"{int(size):,}", name, *(spread(figures[column]) for column in COLUMNS))
        for size in sizes
        for name, figures in found[size].items()
    ]
    parts = [table(("notes", "system", *COLUMNS.values()), rows)]
    ratios = []
    for size in sizes:
        ours = found[size]["slowwave"]
        for name, figures in found[size].items():
            if name != "slowwave":
                ratios.append((f"{int(size):,}", name, *(_ratio(column, figures, ours) for column in RATIOS)))
    parts.append(
        "Divided by the figures of slowwave (above 1 slowwave is better):\n\n"
        + table(("notes", "system", *RATIOS.values()), ratios)
    )
    counted = {name: figures["syncs"][0] for name, figures in found["syncs_per_add"].items()}
    kept = [
        f"- **{peer.name}**: {number(counted[peer.name])} syncs an add. {peer.note}"
        if peer.name in counted
        else f"- **{peer.name}**: {peer.note}"
        for peer in (OURS, *PEERS)
        if peer.name in found[sizes[0]]
    ]
    return "\n\n".join([*parts, "\n".join(kept)])


def _ratio(column: str, theirs: dict[str, list[float]], ours: dict[str, list[float]]) -> str:
    pairs = zip(theirs[column], ours[column], strict=True)
    each = [mine / other if column.endswith("per_s") else other / mine for other, mine in pairs]
    return f"{number(statistics.median(each))}×"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--rounds", type=int, default=3, help="at 1,000 notes; two fewer at more")
    options = parser.parse_args()
    found = measure(options.sizes, options.rounds)
    print(show(found))
    print(f"\nsaved in {save('peers', found)}")


if __name__ == "__main__":
    main()
