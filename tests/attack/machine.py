"""What a machine does to a store: its clock jumps, its disk fills, its programs are upgraded and killed meanwhile."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from tests.attack.campaign import Place, everything, opened, sentence, sound, words
from tests.attack.files import VERBS
from tests.newer_version import newer_package

from slowwave import Message
from slowwave.errors import NewerSchemaError, SlowwaveError
from slowwave.model.budget import StoreBudget
from slowwave.testing import FrozenClock

RIGHT: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
JUMPS: Final = (0, 0, 1, 61, 3_600, 86_399, 86_401, 9_000_000, 34_560_000, 3_000_000_000)
"""Seconds by which a wrong clock is ahead or behind."""
CALLS: Final = 4
"""Model calls that the budget of the rounds admits in an hour."""
OLD: Final = Path(__file__).parents[1] / "stores" / "data" / "schema_2.db.gz"
SCOPES: Final = ("t", "u")
"""The scopes of this store."""
OPEN: Final = (
    "import sys; from slowwave import AgentMemory; AgentMemory.open(sys.argv[1], llm=None, embedder='none').close()"
)
UPGRADED: Final = """
import json, sys
from slowwave import AgentMemory
address, scope, *texts = sys.argv[1:]
with AgentMemory.open(address, scope=scope, llm=None, embedder="none") as memory:
    for text in texts:
        memory.add_messages({"role": "user", "content": text}, "talk")
    found = memory.get_all(kinds=["message", "semantic", "episodic", "procedural"], phases=["active", "cold", "core"])
    print(json.dumps([memory.doctor(deep=True), [one.id for one in found]]))
"""


def clocks(place: Place) -> int:
    """Verbs and model calls under a clock that jumps; at the right time nothing of the wrong ones is left."""
    chance, clock, admitted, done = place.chance, FrozenClock(RIGHT), Counter[datetime](), 0
    budget, kept = StoreBudget(calls_per_hour=CALLS), set[str]()
    with opened(place.store(), clock=clock) as memory:
        store, scope = memory.ports.store, memory.scope
        for done in place.times(80):  # noqa: B007 - counted
            jump = timedelta(seconds=chance.choice(JUMPS) * chance.choice([1, -1]))
            clock.now = RIGHT + jump
            if chance.random() < 0.3:
                store.pause_model("another", clock.now + timedelta(seconds=chance.choice(JUMPS)))
            hour = clock.now.replace(minute=0, second=0, microsecond=0)
            refusal = store.admit_model_call("m", budget, clock.now)
            assert (refusal is None) == (admitted[hour] < CALLS), (clock.now, refusal)
            assert refusal is None or refusal.until == hour + timedelta(hours=1)
            admitted[hour] += refusal is None
            with suppress(SlowwaveError):
                kept.update(memory.add_messages([Message("user", sentence(chance))], chance.choice("ab")).ids)
            with suppress(SlowwaveError):
                chance.choice(list(VERBS.values()))(memory)
        clock.now = RIGHT
        memory.add_messages([Message("user", "I live in Oslo.")], "last")
        assert store.is_due(scope, RIGHT)
        assert all(until <= RIGHT + timedelta(days=1) for until in store.model_pauses(RIGHT).values())
        memory.sleep()
        assert kept <= everything(memory).keys()
        sound(memory)
    return done + 1


def disk(place: Place) -> int:
    """Verbs while no file may grow by more than a little: only errors of the library, and nothing acknowledged is lost."""
    chance, done, kept, path = place.chance, 0, set[str](), place.new(".db")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    verbs = [verb for name, verb in VERBS.items() if name not in {"erase", "undo"}]
    with opened(path) as memory:
        memory.add_messages([Message("user", sentence(chance)) for _ in range(20)], "a")
        for done in place.times(40):  # noqa: B007 - counted
            largest = max(one.stat().st_size for one in path.parent.iterdir())
            try:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest + chance.choice([0, 512, 4_096, 20_000]), before[1]))
                with suppress(SlowwaveError):
                    kept.update(memory.add_messages([Message("user", sentence(chance) * 40)], "b").ids)
                with suppress(SlowwaveError):
                    chance.choice(verbs)(memory)
                with suppress(SlowwaveError):
                    memory.backup(place.new(".db"))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            assert kept <= everything(memory).keys()
        sound(memory)
    with opened(path) as memory:
        assert kept <= everything(memory).keys()
        sound(memory)
    return done + 1


def versions(place: Place) -> int:
    """This version writes to a scope while a newer one migrates the store: what was acknowledged is there for the newer one."""
    chance, kept, address = place.chance, list[str](), place.store()
    readable = chance.random() < 0.5
    package = newer_package(place.new(), readable=readable)
    texts = [words("n", chance) for _ in range(3)]
    command = [sys.executable, "-c", UPGRADED, address, "keeper", *texts]
    newer = os.environ | {"PYTHONPATH": str(package)}
    with opened(address) as memory:
        kept += memory.add_messages([Message("user", sentence(chance)) for _ in range(5)], "talk").ids
        with subprocess.Popen(command, env=newer, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as other:
            with suppress(NewerSchemaError):
                while other.poll() is None:
                    kept += memory.add_messages([Message("user", sentence(chance))], chance.choice(["talk", "b"])).ids
                    if chance.random() < 0.1:
                        memory.sleep()
            said, wrong = other.communicate()
            assert other.returncode == 0, wrong
    checked = subprocess.run([*command[:5]], env=newer, capture_output=True, text=True, check=True)
    found, there = json.loads(checked.stdout)
    assert json.loads(said)[0] == found == []
    assert set(kept) <= set(there)
    return len(kept)


def migrations(place: Place) -> int:
    """Processes that bring a store to this schema are killed at any moment; the next one finds all of it."""
    chance, done = place.chance, 0
    fresh, path = place.new(".db"), place.new(".db")
    for one in (fresh, path):
        one.write_bytes(gzip.decompress(OLD.read_bytes()))
    begun = time.monotonic()
    _open(str(fresh)).wait()
    took = time.monotonic() - begun
    addresses = [str(path), *([place.database()] if place.database else [])]
    for done in place.times(12):  # noqa: B007 - counted
        for address in addresses:
            process = _open(address)
            time.sleep(chance.uniform(0.4, 1.1) * took)
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()
    for scope in SCOPES:
        with opened(fresh, scope=scope) as wanted, opened(path, scope=scope) as memory:
            assert everything(memory) == everything(wanted) != {}
            assert memory.doctor(deep=True) == wanted.doctor(deep=True)
    for address in addresses[1:]:
        with opened(address) as memory:
            memory.add("Bob owns a boat")
            sound(memory)
    return done + 1


def _open(address: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", OPEN, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
