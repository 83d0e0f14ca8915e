"""Fixtures: a memory with a scripted model and a fixed clock, and a conversation."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.testing import FrozenClock

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
Open = Callable[..., AgentMemory]


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty settings file, so that the settings of the user who runs the tests do not apply."""
    path = tmp_path / "slowwave.toml"
    path.write_text("", encoding="utf-8")
    monkeypatch.setenv("SLOWWAVE_CONFIG", str(path))
    return path


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(START)


@pytest.fixture
def opened(tmp_path: Path, clock: FrozenClock) -> Iterator[Open]:
    with ExitStack() as stack:

        def open_memory(**options: object) -> AgentMemory:
            store = options.pop("store", tmp_path / "memory.db")
            arguments: dict[str, Any] = {"scope": "judge", "embedder": "static", "clock": clock, **options}
            return stack.enter_context(AgentMemory.open(store, **arguments))

        yield open_memory


@pytest.fixture
def talk() -> Callable[..., None]:
    def add_messages(memory: AgentMemory, *lines: str, conversation: str = "c1", first: int = 1) -> None:
        messages = [
            Message(role="assistant" if place % 2 else "user", content=line, at=START, id=f"m{first + place}")
            for place, line in enumerate(lines)
        ]
        memory.add_messages(messages, conversation=conversation)

    return add_messages
