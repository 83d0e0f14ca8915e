"""A KeyboardInterrupt at each of many steps of a verb: the handle is used on, and no lock, transaction or connection is left."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.attack.campaign import opened, sound
from tests.attack.interrupts import Interrupt, Verb
from tests.waiting import LONGEST

from slowwave import AgentMemory
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.scope_locks import ScopeLocks

VERBS: dict[str, Verb] = {
    "an add": lambda memory, word: memory.add(f"Bob owns {word}"),
    "a search after a write": lambda memory, word: memory.search(f"who owns {word}?"),
    "a message": lambda memory, word: memory.add_message({"role": "user", "content": f"I own {word}"}, "talk"),
}
STEPS = 6000
"""More steps than any of the verbs has."""
SOON = LONGEST
"""Seconds after which a thread that waits has failed the test."""


def holds_nothing(memory: AgentMemory) -> bool:
    """Whether the store has no open transaction, and no thread that holds a connection or the lock of a scope."""
    store: Any = memory.ports.store
    if isinstance(store, PostgresStore):
        return store._pool.in_use == len(store._writers) == len(store._turns) == 0
    return not (store._db.in_transaction or len(store._turns))


def interrupted(memory: AgentMemory, verb: str, *, stride: int, first: int = 0) -> int:
    """Interrupt a verb at steps from the first on, until it comes to its end. Returns how often it was interrupted."""
    done = 0
    with ThreadPoolExecutor(1) as other:
        for step in range(first, STEPS, stride):
            memory.note(f"n{step % 7}", f"Ann owns the pond {step}")
            interrupt = Interrupt(step)
            try:
                with interrupt:
                    VERBS[verb](memory, f"o{step}")
            except KeyboardInterrupt:
                done += 1
            assert holds_nothing(memory), step
            assert other.submit(memory.search, "pond").result(SOON), step
            if interrupt.left >= 0:
                break
            memory.add(f"Ann owns the mill {step}")
            assert memory.search(f"mill {step}")[0].text == f"Ann owns the mill {step}"
    sound(memory)
    return done


@pytest.mark.parametrize(
    "verb", [name if name == "a message" else pytest.param(name, marks=pytest.mark.long) for name in VERBS]
)
def test_an_interrupt_at_any_step_of_a_store_in_a_file_leaves_nothing_half_done(verb: str, tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        memory.add("Ann owns the gate")
        memory.search("gate")
        assert interrupted(memory, verb, stride=1) > 50


@pytest.mark.parametrize("verb", [pytest.param(name, marks=pytest.mark.long) for name in VERBS])
def test_an_interrupt_at_any_step_of_a_store_in_postgres_leaves_nothing_half_done(verb: str, own: str) -> None:
    with opened(own) as memory:
        assert interrupted(memory, verb, stride=1) > 50


def test_an_interrupt_at_some_steps_of_a_store_in_postgres_leaves_nothing_half_done(own: str) -> None:
    with opened(own) as memory:
        assert interrupted(memory, "a message", stride=17) > 20
        assert interrupted(memory, "a search after a write", stride=31, first=3) > 20


def test_an_interrupt_while_locks_are_taken_or_released_leaves_none() -> None:
    locks = ScopeLocks()
    for step in range(STEPS):
        interrupt = Interrupt(step)
        try:
            with interrupt, locks.hold(["a", "b"], 1.0) as held:
                assert held
        except KeyboardInterrupt:
            pass
        assert len(locks) == 0, step
        if interrupt.left >= 0:
            break
    assert 5 < step < STEPS - 1
