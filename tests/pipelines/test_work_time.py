"""The time limit of a consolidation, a sleep pass and a compaction: what remains is reported and stays due."""

from typing import TYPE_CHECKING

import pytest

from slowwave import Message
from slowwave.model.mind import Fact, SummaryRequest, Transcript
from slowwave.pipelines import work_time
from slowwave.pipelines.work_time import WorkTime

if TYPE_CHECKING:
    from conftest import Talk, World
    from slowwave import AgentMemory

SLOW = 400.0
"""Seconds that the mind needs for an answer."""


class Seconds:
    """A clock of seconds that only the mind moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pass_(self) -> None:
        self.now += SLOW


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Seconds:
    clock = Seconds()
    monkeypatch.setattr(work_time, "monotonic", clock)
    return clock


def slow_reader(seconds: Seconds) -> object:
    def read(transcript: Transcript) -> tuple[Fact, ...]:
        seconds.pass_()
        text = transcript.turns[0].memory.text
        return (Fact(text=text, turn=1, quote=text, confidence=0.9),)

    return read


def slow_summary(seconds: Seconds) -> object:
    def write(_: SummaryRequest) -> str:
        seconds.pass_()
        return "The roses were watered"

    return write


def plots(number: int) -> list[str]:
    return [f"The barn on plot {place} is red" for place in range(number)]


def spans(memory: "AgentMemory") -> list[tuple[int, int]]:
    return [one.span for one in memory.summaries("life") if one.span and one.depth == 1]


def water(memory: "AgentMemory", number: int) -> None:
    memory.add_messages([Message("user", f"I watered the roses of bed {n}") for n in range(number)], "life")


def test_the_first_step_always_begins_and_no_further_one_after_the_time(seconds: Seconds) -> None:
    time = WorkTime(10)
    seconds.now = 20.0
    assert not time.is_over
    assert time.begin_step()
    assert time.is_over
    assert not time.begin_step()
    assert str(time) == "the time limit (work_seconds=10) was reached: the rest stays due"


def test_without_a_limit_every_step_begins(seconds: Seconds) -> None:
    time = WorkTime(None)
    assert time.begin_step()
    seconds.now = 1e9
    assert time.begin_step()


def test_consolidate_stops_after_its_time_and_the_next_call_goes_on(
    world: "World", talk: "Talk", seconds: Seconds
) -> None:
    world.mind.facts = slow_reader(seconds)
    memory = world.open(work_seconds=500)
    memory.add_messages(talk(*plots(100)), "c")
    result = memory.consolidate("c", force=True)
    assert result.skipped_reason == "the time limit (work_seconds=500) was reached: the rest stays due"
    assert [fact.text for fact in result.facts] == ["The barn on plot 0 is red", "The barn on plot 30 is red"]
    assert memory.status().unread == 40
    again = memory.consolidate("c", force=True)
    assert (again.skipped_reason, memory.status().unread) == (None, 0)


def test_consolidate_within_its_time_reports_no_limit(world: "World", talk: "Talk", seconds: Seconds) -> None:
    world.mind.facts = slow_reader(seconds)
    memory = world.open(work_seconds=SLOW)
    memory.add_messages(talk(*plots(30)), "c")
    assert memory.consolidate("c", force=True).skipped_reason is None


def test_all_conversations_share_the_time(world: "World", talk: "Talk", seconds: Seconds) -> None:
    world.mind.facts = slow_reader(seconds)
    memory = world.open(work_seconds=500)
    for name in ("old", "middle", "new"):
        memory.add_messages(talk(*plots(8)), name)
        world.later(hours=2)
    result = memory.consolidate_all(force=True)
    reason = "the time limit (work_seconds=500) was reached: the rest stays due"
    assert result.conversations == ("old", "middle")
    assert result.left == {"new": reason}
    assert memory.consolidate_all(force=True).conversations == ("new",)


def test_a_sleep_pass_leaves_what_its_time_does_not_allow_and_is_due_at_once(
    world: "World", talk: "Talk", seconds: Seconds
) -> None:
    world.mind.facts = slow_reader(seconds)
    memory = world.open(work_seconds=500)
    for name in ("old", "middle", "new"):
        memory.add_messages(talk(*plots(8)), name)
        world.later(hours=2)
    report = memory.sleep()
    assert (report.left, report.out_of_time, report.problems) == ({"distil": 1}, True, ())
    assert "left for the next sleep pass, because the time limit (work_seconds) was reached" in str(report)
    assert memory.ports.store.scopes_due(memory.ports.now(), 10) == ["t"]
    world.later(seconds=1)
    second = memory.sleep()
    assert (second.left, second.out_of_time, memory.status().unread) == ({}, False, 0)


def test_a_sleep_pass_without_time_for_summaries_reports_them(world: "World", seconds: Seconds) -> None:
    world.mind.summary = slow_summary(seconds)
    memory = world.open(work_seconds=500, immediate_window=4, recent_window=4, min_messages=100)
    water(memory, 30)
    report = memory.sleep()
    assert report.out_of_time
    assert (spans(memory), report.left) == ([(1, 5), (6, 9)], {"cascade": 4})


def test_a_compaction_stops_after_its_time_and_the_next_one_goes_on(world: "World", seconds: Seconds) -> None:
    world.mind.summary = slow_summary(seconds)
    memory = world.open(work_seconds=500, immediate_window=4, recent_window=4)
    water(memory, 24)
    first = memory.compact_conversation("life")
    assert (first.summaries, first.left, spans(memory)) == (2, 3, [(1, 5), (6, 9)])
    memory.compact_conversation("life")
    memory.compact_conversation("life")
    assert spans(memory) == [(1, 5), (6, 9), (10, 13), (14, 17), (18, 20)]


def test_a_compaction_of_a_topic_stops_after_its_time(world: "World", seconds: Seconds) -> None:
    world.mind.summary = slow_summary(seconds)
    memory = world.open(work_seconds=SLOW, consolidation_max_group_size=5)
    for place in range(10):
        memory.add(f"Roses {'in bed' * place} are red", category=("project", "person")[place % 2])
        world.later(seconds=60)
    result = memory.compact_topic("roses", dry_run=True)
    assert len(world.mind.questions("summarise")) == 1
    assert result.left >= 1
