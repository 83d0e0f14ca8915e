from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from slowwave import AgentMemory, Config
from slowwave.testing import FrozenClock

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(START)


@pytest.fixture
def opened(clock: FrozenClock) -> Iterator[Callable[..., AgentMemory]]:
    """Opens memories in RAM on a frozen clock; with `path`, in a file."""
    open_ones: list[AgentMemory] = []

    def make(path: str = ":memory:", *, embedder: str | None = "none", **settings: object) -> AgentMemory:
        memory = AgentMemory.open(path, llm=None, embedder=embedder, clock=clock, config=Config(**settings))
        open_ones.append(memory)
        return memory

    yield make
    for memory in open_ones:
        memory.close()
