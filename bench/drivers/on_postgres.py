"""The course of `postgres_peer.py` for one system: fill a database, or measure searches and adds in it.

    python drivers/postgres_NAME.py URL fill|measure --namespaces 1000 --items 10000

`measure` first searches every namespace once, so that caches are warm. Then it reads lines such as `search 20` or `add 20`,
and answers each with a line of JSON: the milliseconds of each operation, and the processor time of all.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from stub import note, question

WANTED = 10
TOPICS = 1000


class System(Protocol):
    """What a driver of a system does."""

    def fill(self, space: str, pairs: Sequence[tuple[str, str]]) -> None:
        """Store a batch of pairs of key and text in a namespace."""

    def add(self, space: str, key: str, text: str) -> None:
        """Store one text."""

    def search(self, space: str, text: str, wanted: int) -> list[str]:
        """The keys of the best texts of a namespace."""

    def close(self) -> None:
        """Close the connection."""


def fill(system: System, namespaces: int, items: int) -> None:
    """Distribute the items evenly over the namespaces."""
    each = items // namespaces
    for space in range(namespaces):
        numbers = range(space * each, (space + 1) * each)
        system.fill(f"n{space}", [(f"k{number}", note(number, TOPICS)) for number in numbers])


def measure(system: System, namespaces: int) -> None:
    """Carry out what the lines of the input ask for, each operation in a namespace that is drawn anew."""
    for space in range(namespaces):
        assert system.search(f"n{space}", question(space, TOPICS), WANTED)
    print("ready", flush=True)
    chance, number = random.Random(namespaces), 10_000_000
    for line in sys.stdin:
        name, _, times = line.partition(" ")
        spans, processor = [], time.process_time()
        for _ in range(int(times)):
            space, number = f"n{chance.randrange(namespaces)}", number + 1
            start = time.perf_counter()
            if name == "add":
                system.add(space, f"k{number}", note(number, TOPICS))
            else:
                found = system.search(space, question(number, TOPICS), WANTED)
            spans.append(1000 * (time.perf_counter() - start))
            assert name == "add" or len(found) == len(set(found)) > WANTED // 2
        print(json.dumps([spans, 1000 * (time.process_time() - processor)]), flush=True)


def run(opened: Callable[[str], Any]) -> None:
    """Read the command line and run one phase with the system that `opened` returns for an address."""
    asked = argparse.ArgumentParser()
    asked.add_argument("url")
    asked.add_argument("phase", choices=["fill", "measure"])
    asked.add_argument("--namespaces", type=int, default=1000)
    asked.add_argument("--items", type=int, default=10_000)
    options = asked.parse_args()
    system: System = opened(options.url)
    if options.phase == "fill":
        fill(system, options.namespaces, options.items)
    else:
        measure(system, options.namespaces)
    system.close()
