"""Two workers, two hundred scopes, and one worker killed: every sleep pass has its effect once, and none is stuck."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.waiting import until

from slowwave import AgentMemory
from slowwave.model.mind import Fact
from slowwave.model.query import Where
from slowwave.pipelines.ingest.add import add_facts
from slowwave.testing import FrozenClock
from slowwave.worker import queue_status

pytest.importorskip("dbos", reason="no DBOS here: pip install 'slowwave[worker]'")

NIGHTLY = [sys.executable, str(Path(__file__).with_name("nightly.py"))]
SCOPES = 60
KILLED_AFTER = 8


def test_every_scope_is_slept_once_when_one_of_two_workers_is_killed(own: str) -> None:
    clock = FrozenClock()
    names = [f"acme/{number}" for number in range(SCOPES)]
    with AgentMemory.open(own, scope="keeper", llm=None, embedder="none", clock=clock) as memory:
        ports = memory.ports
        for name in names:
            theirs = replace(ports, scope=name, scopes=(name,))
            add_facts(theirs, (Fact(text=f"The cursor of {name} stands in line 7", category="session_state"),))
            add_facts(theirs, (Fact(text=f"Ada owns the boat of {name}", category="person"),))
            add_facts(theirs, (Fact(text=f"Ada owns boats of {name}", category="person"),))
        clock.advance(days=2)
        command = [*NIGHTLY, own, str(clock().timestamp())]
        killed = subprocess.Popen([*command, str(KILLED_AFTER)], stdout=subprocess.PIPE, text=True)
        assert killed.stdout is not None
        for _ in range(KILLED_AFTER):
            assert killed.stdout.readline().startswith("acme/")
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert other.stdout is not None
        first = other.stdout.readline()
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        until(
            lambda: (
                not ports.store.scopes_due(clock(), 1) and (now := queue_status(own)) is not None and not now.running
            )
        )
        other.kill()
        slept = {first.strip(), *other.communicate()[0].split()}
        assert slept < set(names), "the one that was killed slept some of them"
        assert not any(night.failures for _, night in ports.store.failing_passes(1, 10))
        for name in names:
            assert len(ports.store.runs(name, None, "sleep/expire")) == 1
            assert len(ports.store.runs(name, None, "sleep/duplicates")) == 1
            (fact,) = ports.store.select((name,), Where(categories=frozenset({"session_state"})))
            assert (fact.phase, fact.reason) == ("cold", "expired")
        assert memory.doctor(deep=True) == []
