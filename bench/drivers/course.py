"""The sequence of operations that each system runs in a separate process; prints the figures as one line of JSON."""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from stub import embed, note, question, vector

ONE_BY_ONE, QUESTIONS, DELETES, WANTED = 60, 60, 20, 10


class System(Protocol):
    """The operations that are measured. Keys are those of the benchmark: "n12" is note 12."""

    def add(self, key: str, text: str) -> None:
        """Store one note, as durably as the system can."""

    def fill(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Store many notes, in the fastest documented way."""

    def search(self, text: str, wanted: int) -> list[str]:
        """The keys of the hits."""

    def delete(self, key: str) -> None:
        """Delete one note."""

    def close(self) -> None:
        """Close the files."""


def run(start: Callable[[Path], System]) -> None:
    """Run a system with the arguments of the command line: FOLDER SIZE, or only this many adds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("size", type=int)
    parser.add_argument("--adds", type=int, help="only add so many, one by one, for something that counts syncs")
    options = parser.parse_args()
    if options.adds is not None:
        _only_add(start(options.folder), options.adds)
    else:
        print(json.dumps({name: round(value, 4) for name, value in _course(start, options).items()}))


def _only_add(system: System, count: int) -> None:
    system.fill([(f"n{number}", note(number, 2)) for number in range(10)])
    for number in range(10, 10 + count):
        system.add(f"n{number}", note(number, 2))
    system.close()


def _course(start: Callable[[Path], System], options: argparse.Namespace) -> dict[str, float]:
    size, folder = options.size, options.folder
    topics = max(1, size // 10)
    notes = [note(number, topics) for number in range(size + ONE_BY_ONE)]
    resting = _resident_mb()
    system = start(folder)
    began = time.perf_counter()
    for first in range(0, size, 500):
        system.fill([(f"n{n}", notes[n]) for n in range(first, min(first + 500, size))])
    result = {"fill_per_s": size / (time.perf_counter() - began)}
    limit = _syncs_per_s(folder)
    adds = _each(lambda n: system.add(f"n{n}", notes[n]), range(size, size + ONE_BY_ONE))
    limit = (limit + _syncs_per_s(folder)) / 2
    result["add_ms"] = statistics.median(adds)
    result["add_per_s"] = 1000 * len(adds) / sum(adds)
    result["add_vs_fsync"] = result["add_per_s"] / limit
    asked = [question(number, topics) for number in range(QUESTIONS)]
    system.search(asked[0], WANTED)
    times = _each(lambda text: system.search(text, WANTED), asked)
    result["search_ms"], result["search_p95_ms"] = statistics.median(times), float(np.quantile(times, 0.95))
    result["recall_at_10"] = _recall(system, notes, asked)
    result["rss_mb"], result["resting_mb"] = _resident_mb(), resting
    result["delete_ms"] = statistics.median(_each(lambda n: system.delete(f"n{n * 3}"), range(DELETES)))
    system.close()
    result["disk_mb"] = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    began = time.perf_counter()
    system = start(folder)
    found = system.search(asked[1], WANTED)
    result["reopen_ms"] = 1000 * (time.perf_counter() - began)
    system.close()
    if not found:
        sys.exit("found nothing after reopening")
    return result


def _each(action: Callable[[object], object], items: Iterable[object]) -> list[float]:
    times = []
    for item in items:
        start = time.perf_counter()
        action(item)
        times.append(1000 * (time.perf_counter() - start))
    return times


def _recall(system: System, notes: list[str], asked: list[str]) -> float:
    """The share of the exact ten nearest notes among the ten hits of the system."""
    matrix = embed(notes)
    shares = []
    for text in asked:
        exact = {f"n{n}" for n in np.argsort(-(matrix @ vector(text)))[:WANTED]}
        shares.append(len(exact & set(system.search(text, WANTED))) / WANTED)
    return statistics.mean(shares)


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _syncs_per_s(folder: Path, rounds: int = 100) -> float:
    """The present number of 4 kB appends with fdatasync per second on this disk."""
    path = folder / "syncs"
    with path.open("wb", buffering=0) as file:
        start = time.perf_counter()
        for _ in range(rounds):
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
        spent = time.perf_counter() - start
    path.unlink()
    return rounds / spent
