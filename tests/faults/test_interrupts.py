"""A KeyboardInterrupt at each of many steps of a write or a search leaves the handle usable, and the file unlocked."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.attack.campaign import opened, sound
from tests.attack.interrupts import Interrupt, Verb

from slowwave import AgentMemory

VERBS: dict[str, Verb] = {
    "an add": lambda memory, word: memory.add(f"Bob owns {word}"),
    "a search after a write": lambda memory, word: memory.search(f"who owns {word}?"),
    "a message": lambda memory, word: memory.add_message({"role": "user", "content": f"I own {word}"}, "talk"),
}


def is_unlocked(memory: AgentMemory) -> bool:
    """Whether the handle has no open transaction, which would keep other processes from writing."""
    store: Any = memory.ports.store
    return bool(store._db.txn_state() == apsw.SQLITE_TXN_NONE)


@pytest.mark.parametrize(
    "verb", [name if name == "a message" else pytest.param(name, marks=pytest.mark.long) for name in VERBS]
)
def test_an_interrupt_at_any_step_of_the_store_leaves_nothing_half_done(verb: str, tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        memory.add("Ann owns the gate")
        memory.search("gate")
        for step in range(900):
            memory.note(f"n{step}", f"Ann owns the pond {step}")
            try:
                with Interrupt(step):
                    VERBS[verb](memory, f"o{step}")
            except KeyboardInterrupt:
                pass
            else:
                break
            assert is_unlocked(memory), step
            memory.add(f"Ann owns the mill {step}")
            assert memory.search(f"mill {step}")[0].text == f"Ann owns the mill {step}"
        assert step > 50, "the verb has steps in the store"
        sound(memory)
