"""Times at the ends of the calendar, which a caller may give, break no sleep pass."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave import AgentMemory

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
STATED: dict[str, Callable[[AgentMemory, datetime], object]] = {
    "a message": lambda memory, at: memory.add_messages([{"role": "user", "content": "I live in Bern.", "at": at}]),
    "a fact": lambda memory, at: memory.add("Ada likes tea", at=at),
    "a state that ends": lambda memory, _: memory.add("Ada is pregnant", category="person", at=LAST),
    "an end": lambda memory, _: memory.add("Ada's visa is valid until 31 December 9999", category="person"),
    "a message of a month": lambda memory, at: memory.add_messages(
        [{"role": "user", "content": "I moved to Bern in June.", "at": at}]
    ),
    "a message of an end": lambda memory, at: memory.add_messages(
        [{"role": "user", "content": "My visa is valid until 31 December 9999.", "at": at}]
    ),
}


@pytest.mark.parametrize("at", [FIRST, LAST])
@pytest.mark.parametrize("stated", STATED.values(), ids=STATED)
def test_a_sleep_pass_ends_whenever_something_was_said(
    stated: Callable[[AgentMemory, datetime], object], at: datetime
) -> None:
    with AgentMemory.open(":memory:", llm=None, embedder=None) as memory:
        stated(memory, at)
        memory.sleep()
        memory.consolidate_all(force=True)
        memory.sleep()
        assert memory.status().last_sleep is not None
        assert len(memory.get_all(kinds=["message", "semantic"])) >= 1


@pytest.mark.parametrize("at", [FIRST, LAST])
@pytest.mark.parametrize("stated", STATED.values(), ids=STATED)
def test_an_export_restores_times_at_the_ends_of_the_calendar(
    stated: Callable[[AgentMemory, datetime], object], at: datetime, tmp_path: Path
) -> None:
    path = tmp_path / "export.jsonl"
    with (
        AgentMemory.open(":memory:", llm=None, embedder=None) as memory,
        AgentMemory.open(":memory:", llm=None, embedder=None) as other,
    ):
        stated(memory, at)
        memory.export(path)
        assert other.import_(path, trust_export=True).skipped == {}
        (kept,), (restored,) = (one.get_all(kinds=["message", "semantic"]) for one in (memory, other))
        assert restored.text == kept.text
        assert (restored.recorded_at, restored.valid_from, restored.valid_to, restored.expires_at) == (
            kept.recorded_at,
            kept.valid_from,
            kept.valid_to,
            kept.expires_at,
        )
        other.consolidate_all(force=True)
        other.sleep()
        assert other.doctor(deep=True) == []
