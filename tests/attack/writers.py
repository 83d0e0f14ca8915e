"""Processes that are killed at random moments, and many that write at once: nothing acknowledged is lost or returns."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.attack.campaign import Place, everything, opened, sound

from slowwave import AgentMemory
from slowwave.errors import NotFoundError

ROOT = Path(__file__).parents[2]
KILLS, CHURN_SECONDS = 25, 10.0
LIFE = 0.6
"""The longest life of a writer in seconds."""
BACKUPS = 2
"""Backups of a round that are opened and checked."""


class Nursery:
    """The process that forks the writers of a round."""

    def __init__(self) -> None:
        paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.attack.victim"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
        )

    def ask(self, **job: object) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> None:
        self._process.communicate()


@contextmanager
def nursery() -> Iterator[Nursery]:
    """The process, for the duration of the block."""
    made = Nursery()
    try:
        yield made
    finally:
        made.end()


class Ledger:
    """What the writers of a round have acknowledged, by the word that stands in each memory."""

    def __init__(self) -> None:
        self.kept: set[str] = set()
        self.erased: set[str] = set()
        self.verified: set[str] = set()
        self.pending: dict[str, dict[str, str]] = {}
        self.backups: list[tuple[str, frozenset[str]]] = []

    def read(self, notes: Path) -> None:
        """Add the notes of a writer."""
        for line in notes.read_text(encoding="utf-8").splitlines():
            what, verb, canaries, *more = json.loads(line)
            assert what != "fault", (verb, canaries)
            if what == "kept":
                self.kept |= set(canaries)
            elif what == "begin" and verb == "erase":
                self.kept -= set(canaries)
                self.pending |= dict.fromkeys(canaries, more[0])
            elif what == "erased":
                self.erased |= set(canaries)
                self.pending = {one: target for one, target in self.pending.items() if one not in canaries}
                self.verified |= set(canaries) if more[0]["verified"] else set()
            elif what == "backup":
                self.backups.append((verb, frozenset(self.kept)))

    def finish_erases(self, memory: AgentMemory) -> None:
        """Repeat the erases that a kill has interrupted."""
        for canary, target in self.pending.items():
            with suppress(NotFoundError):
                memory.erase(**target)  # type: ignore[arg-type]
            self.erased.add(canary)
        self.pending = {}

    def check(self, memory: AgentMemory) -> int:
        """Nothing acknowledged is lost, nothing erased is there. Returns how many were compared."""
        stored_text = "\n".join(_told(memory))
        lost = sorted(canary for canary in self.kept if canary not in stored_text)
        assert not lost, f"{len(lost)} of {len(self.kept)} acknowledged are lost: {lost[:5]}"
        runs = [str(run.plan) for run in memory.runs(limit=None, parts="all")]
        stored_text += "\n".join((*runs, *(str(one) for one in memory.conversations())))
        back = sorted(canary for canary in self.erased if canary in stored_text)
        assert not back, f"{len(back)} of {len(self.erased)} erased are there: {back[:5]}"
        return len(self.kept) + len(self.erased)


def _told(memory: AgentMemory) -> Iterator[str]:
    for one in everything(memory).values():
        yield f"{one.text} {one.metadata} {one.data} {one.reason} {one.sources}"


def in_files(address: str, canaries: set[str]) -> list[str]:
    """Those of these words that a file of a closed store contains."""
    if "://" in address:
        return []
    held = b"".join(path.read_bytes() for path in Path(address).parent.glob(f"{Path(address).name}*"))
    return sorted(canary for canary in canaries if canary.encode() in held)


def _wait_ready(notes: Path, seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not (notes.exists() and b"\n" in notes.read_bytes()):
        assert time.monotonic() < ends, "a writer could not open the store"
        time.sleep(0.002)


def kills(place: Place) -> int:
    """Kill a writer at a random moment, check the store, and go on with the next writer on the same store."""
    address, ledger, done = place.store(), Ledger(), 0
    with nursery() as forks:
        for number in place.times(KILLS):
            notes = place.new(".notes")
            job: dict[str, Any] = {
                "address": address,
                "name": f"v{number}",
                "folder": str(place.folder),
                "notes": str(notes),
            }
            pid = forks.ask(**job, seed=str(place.chance.random()), seconds=60)
            _wait_ready(notes)
            time.sleep(place.chance.uniform(0.0, LIFE))
            os.kill(pid, signal.SIGKILL)
            forks.ask(wait=pid)
            ledger.read(notes)
            with opened(address) as memory:
                done += ledger.check(memory)
                if place.chance.random() < 0.3:
                    ledger.finish_erases(memory)
                    sound(memory)
    with opened(address) as memory:
        ledger.finish_erases(memory)
        memory.sleep()
        done += ledger.check(memory)
        sound(memory)
    assert (left := in_files(address, ledger.verified)) == [], f"erased words are in the file: {left[:5]}"
    for path, kept in ledger.backups[-BACKUPS:]:
        with opened(path) as memory:
            stored_text = "\n".join(_told(memory))
            lost = [canary for canary in kept - ledger.erased if canary not in stored_text]
            assert not lost, f"the backup {path} lacks {lost[:5]}"
            sound(memory)
    return done


def churn(place: Place) -> int:
    """Several writers at once, with erases and sleep passes; half of them are killed at the end."""
    address, ledger = place.store(), Ledger()
    writers = place.chance.randrange(3, 6) if place.size >= 1 else 3
    seconds = max(0.7, CHURN_SECONDS * place.size)
    with opened(address) as memory:
        memory.add("The store exists")
    with nursery() as forks:
        jobs = {}
        for number in range(writers):
            notes = place.new(".notes")
            job: dict[str, Any] = {
                "address": address,
                "name": f"w{number}",
                "folder": str(place.folder),
                "notes": str(notes),
            }
            jobs[forks.ask(**job, seed=str(place.chance.random()), seconds=seconds)] = notes
        killed = place.chance.sample(sorted(jobs), writers // 2)
        for notes in jobs.values():
            _wait_ready(notes)
        time.sleep(seconds * place.chance.uniform(0.5, 0.9))
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        codes = {pid: forks.ask(wait=pid) for pid in jobs}
    for notes in jobs.values():
        ledger.read(notes)
    assert all(codes[pid] == 0 for pid in jobs if pid not in killed), codes
    with opened(address) as memory:
        ledger.finish_erases(memory)
        done = ledger.check(memory)
        sound(memory)
    return done
