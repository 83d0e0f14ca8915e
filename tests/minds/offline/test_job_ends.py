"""A job of which the last day is named ends with that day, and one that was left is over."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave import AgentMemory
from slowwave.minds.offline.rules.job_ends import job_end

AT = datetime(2025, 1, 16, 9, tzinfo=UTC)  # a Thursday


class Clock:
    def __init__(self) -> None:
        self.at = AT

    def __call__(self) -> datetime:
        return self.at


def told(clock: Clock, *messages: str) -> AgentMemory:
    """A memory to which the user tells these messages, two hours apart, each consolidated."""
    memory = AgentMemory.open(":memory:", llm=None, embedder="none", clock=clock)
    for message in messages:
        memory.add_messages({"role": "user", "content": message}, "c")
        memory.consolidate("c", force=True)
        clock.at += timedelta(hours=2)
    return memory


@pytest.mark.parametrize(
    ("last", "until"),
    [
        ("My last day at Roche is 24 January 2025.", "24 January 2025"),
        ("I'm leaving Roche at the end of January.", "the end of January 2025"),
        ("I'll leave Roche on 31 January 2025.", "31 January 2025"),
    ],
)
def test_a_job_ends_with_the_last_day_that_is_named(last: str, until: str) -> None:
    clock = Clock()
    with told(clock, "I have worked at Roche since 2019 as a chemist.", last) as memory:
        (job,) = memory.get_all()
        assert (job.text, job.category) == (
            f"The user has worked at Roche since 2019 as a chemist until {until}",
            "identity",
        )
        assert len(job.sources) == 2
        clock.at = datetime(2025, 3, 1, tzinfo=UTC)
        memory.sleep()
        ended = memory.get(job.id)
        assert (ended.phase, ended.reason) == ("cold", "expired")
        assert ended.valid_to is not None
        assert ended.valid_to < datetime(2025, 2, 3, tzinfo=UTC)
        assert job.id not in {fact.id for fact in memory.core()}


def test_the_last_day_may_be_a_weekday() -> None:
    clock = Clock()
    with told(clock, "I work at Roche.", "Friday is my last day at Roche.") as memory:
        assert [fact.text for fact in memory.get_all()] == ["The user works at Roche until 17 January 2025"]


@pytest.mark.parametrize("left", ["I left Roche last week.", "I quit my job at Roche.", "I got laid off from Roche."])
def test_a_job_that_was_left_is_over(left: str) -> None:
    clock = Clock()
    with told(clock, "I work at Roche as a chemist.", left) as memory:
        every = {fact.text: fact for fact in memory.get_all(phases=["active", "superseded"])}
        job = every["The user works at Roche as a chemist"]
        assert job.phase == "superseded"
        assert job.valid_to is not None


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana left Roche in May 2024", "Ana works at Novartis"),
        ("Ana left Roche in May 2024", "Ben works at Roche"),
        ("Ana left Basel in May 2024", "Ana met Tom at Basel"),
        ("Ana is leaving Roche", "Ana works at Roche"),
        ("Ana left Roche on time", "Ana works at Roche until May 2024"),
    ],
)
def test_another_job_does_not_end(new: str, old: str) -> None:
    assert job_end(new, AT, old) is None


def test_a_date_that_has_passed_ends_the_job_at_once() -> None:
    new = "Ana's last day at Roche was on 3 January 2025"
    assert job_end(new, AT, "Ana works at Roche") == new
