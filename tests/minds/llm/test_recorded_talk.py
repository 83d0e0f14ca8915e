"""A talk of two invented people over two months, with replies of a model to each prompt that were written by hand.

It has spans of dates, pictures, a meal, plans that are carried out, a value that changes, and a state of work that becomes a
lasting fact.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Message
from slowwave.model.memory import SUMMARY
from slowwave.testing import FrozenClock, ScriptedLLM

Open = Callable[..., AgentMemory]
TALK: dict[str, Any] = json.loads((Path(__file__).parent / "boat_house.json").read_text(encoding="utf-8"))
SESSIONS: list[dict[str, Any]] = TALK["sessions"]


def numbered(reply: Mapping[str, Any]) -> Callable[[str], dict[str, Any]]:
    """A recorded reply whose changes name a memory by its first words, with the number that the prompt gives this memory."""

    def answer(prompt: str) -> dict[str, Any]:
        shown = re.findall(r"^K(\d+) \([^)]*\): (.+)$", prompt, re.MULTILINE)
        changes = [
            {**change, "memory": next(int(number) for number, text in shown if text.startswith(change["memory"]))}
            for change in reply["changes"]
        ]
        return {**reply, "changes": changes}

    return answer


class Lived:
    """The talk, consolidated after each session."""

    def __init__(self, opened: Open) -> None:
        changes = [numbered(one["reconcile"]) for one in SESSIONS if one["reconcile"]]
        self.llm = ScriptedLLM(distil=[one["distil"] for one in SESSIONS], reconcile=changes)
        self.clock = FrozenClock(datetime.fromisoformat(SESSIONS[0]["at"]))
        self.memory = opened(llm=self.llm, clock=self.clock)
        self.results = []
        for number, session in enumerate(SESSIONS, 1):
            at = datetime.fromisoformat(session["at"])
            self.clock.now = at + timedelta(hours=1)
            messages = [
                Message(role=TALK["people"][who], speaker=who, content=text, at=at + timedelta(seconds=30 * place))
                for place, (who, text) in enumerate(session["said"])
            ]
            self.memory.add_messages(messages, conversation=f"talk-{number}")
            self.results.append(self.memory.consolidate(f"talk-{number}", force=True))


@pytest.fixture
def lived(opened: Open) -> Lived:
    return Lived(opened)


def test_every_fact_of_the_replies_is_stored_and_every_change_is_made(lived: Lived) -> None:
    assert [(one.rejected, one.problems, one.waiting) for one in lived.results] == [((), (), 0)] * 3
    assert [asked.task for asked in lived.llm.asked] == ["distil", "distil", "reconcile", "distil", "reconcile"]
    current = [(one.text, one.category, str(one.valid_from.date())) for one in lived.memory.get_all()]
    assert sorted(current) == sorted((one["text"], one["category"], one["said"]) for one in TALK["current"])
    over = lived.memory.get_all(phases=["superseded"])
    assert {one.text for one in over} == set(TALK["over"])


def test_the_prompts_show_each_change_to_the_memory_that_it_changes_and_little_else(lived: Lived) -> None:
    shown = [asked.text for asked in lived.llm.asked if asked.task == "reconcile"]
    lines = [
        [line for line in text.splitlines() if line.startswith(("K", "F")) and line[1].isdigit()] for text in shown
    ]
    assert [sum(line.startswith("K") for line in each) for each in lines] == [3, 5]
    assert all("may 2023" not in line.lower() for each in lines for line in each)
    assert "(at most 5 facts: a limit, no target)" in lived.llm.asked[0].text


def test_an_event_that_was_planned_has_its_own_date_and_does_not_end_with_the_plan(lived: Lived) -> None:
    course = next(one for one in lived.memory.get_all() if "first course of sailing" in one.text)
    assert (course.category, course.kind, course.valid_from.date()) == ("observation", "episodic", lived.clock().date())
    power = next(one for one in lived.memory.get_all() if "solar lamps" in one.text)
    assert (power.category, len(power.sources)) == ("observation", 3)


def test_a_year_of_nights_later_the_plan_is_over_and_what_lasts_is_hot(lived: Lived) -> None:
    for _ in range(12):
        lived.clock.advance(days=30.5)
        lived.memory.sleep(think=False)
    hot = {one.text for one in lived.memory.get_all() if one.kind != SUMMARY}
    expired = {one.text for one in lived.memory.get_all(phases=["cold"]) if one.reason == "expired"}
    assert expired == {"Hanne plans another course in the week of 10 August 2026"}
    lasting = {one["text"] for one in TALK["current"] if one["category"] == "person" or "solar lamps" in one["text"]}
    assert len(lasting) == 4
    assert lasting <= hot
