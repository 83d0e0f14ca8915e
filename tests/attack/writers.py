"""Processes that are killed at random moments, and many that write at once: nothing acknowledged is lost or returns."""

import json
import os
import signal
import subprocess
import sys
import threading
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
NOTED = 0.8
"""The share of writers that live until something is acknowledged; on a busy machine that can take longer than LIFE."""
_ACKNOWLEDGED = 3
"""Notes of a writer that has acknowledged something: it is ready, a verb begins, and is acknowledged."""
NOTES = 6
"""The most further notes that are waited for."""
BACKUPS = 2
"""Backups of a round that are opened and checked."""


class ForkServer:
    """The process that forks the writers of a round."""

    def __init__(self) -> None:
        paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.attack.writer_process"],
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
def fork_server() -> Iterator[ForkServer]:
    """The process, for the duration of the block."""
    made = ForkServer()
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
        self._lock = threading.Lock()

    def read(self, notes: Path) -> None:
        """Add the notes of a writer."""
        for line in notes.read_text(encoding="utf-8").splitlines():
            self.take(*json.loads(line))

    def take(self, what: str, verb: str, canaries: list[str], *more: Any) -> None:  # noqa: ANN401 - as the writers note it
        """Add one note. Threads may share a ledger."""
        assert what != "fault", (verb, canaries)
        with self._lock:
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
        memories = dict(_texts(memory))
        stored_text = "\n".join(memories.values())
        lost = sorted(canary for canary in self.kept if canary not in stored_text)
        assert not lost, f"{len(lost)} of {len(self.kept)} acknowledged are lost: {lost[:5]}"
        runs = {f"the {run.cause} run {run.id}": str(run.plan) for run in memory.runs(limit=None, parts="all")}
        titles = {f"the conversation {one.name}": str(one) for one in memory.conversations()}
        places = {
            place: canary
            for place, text in {**memories, **runs, **titles}.items()
            for canary in self.erased
            if canary in text
        }
        assert not places, (
            f"{len({*places.values()})} of {len(self.erased)} erased are there: {dict([*places.items()][:5])}"
        )
        return len(self.kept) + len(self.erased)


def _texts(memory: AgentMemory) -> Iterator[tuple[str, str]]:
    """What each memory says, by its kind and id."""
    for identity, one in everything(memory).items():
        yield f"the {one.kind} {identity}", f"{one.text} {one.metadata} {one.data} {one.reason} {one.sources}"


def in_files(address: str, canaries: set[str]) -> list[str]:
    """Those of these words that a file of a closed store contains."""
    if "://" in address:
        return []
    held = b"".join(path.read_bytes() for path in Path(address).parent.glob(f"{Path(address).name}*"))
    return sorted(canary for canary in canaries if canary.encode() in held)


def _wait_ready(notes: Path, seconds: float = 60, lines: int = 1) -> None:
    """Wait until a writer has written so many notes. The first says that it has opened the store."""
    ends = time.monotonic() + seconds
    while not (notes.exists() and notes.read_bytes().count(b"\n") >= lines):
        assert time.monotonic() < ends, "a writer could not open the store" if lines == 1 else "a writer does nothing"
        time.sleep(0.002)


def kills(place: Place) -> int:
    """Kill a writer at a random moment, check the store, and go on with the next writer on the same store.

    On a busy machine a writer lives until it has written a few notes, so that each check has something to compare.
    """
    address, ledger, done = place.store(), Ledger(), 0
    with fork_server() as forks:
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
            if not number or place.chance.random() < NOTED:
                _wait_ready(notes, lines=_ACKNOWLEDGED + place.chance.randrange(NOTES))
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
    assert done, "no kill left anything to compare"
    assert (left := in_files(address, ledger.verified)) == [], f"erased words are in the file: {left[:5]}"
    for path, kept in ledger.backups[-BACKUPS:]:
        with opened(path) as memory:
            stored_text = "\n".join(dict(_texts(memory)).values())
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
    with fork_server() as forks:
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
