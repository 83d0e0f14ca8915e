"""A month of talk with a sleep every night, and a process that ends without warning in the middle of it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from slowwave import AgentMemory, Message
from slowwave.errors import ModelError
from slowwave.model.mind import Fact, Transcript

if TYPE_CHECKING:
    from tests.conftest import World

PEOPLE = ("Ann", "Bert", "Cecilia", "Dan", "Eve")
PLACES = ("Basel", "Bern", "Chur", "Davos", "Einsiedeln", "Fribourg")
DAYS = 30


def _day(number: int, at: datetime) -> Iterator[Message]:
    """Eight messages: two that are worth keeping, and small talk."""
    person, place = PEOPLE[number % len(PEOPLE)], PLACES[number % len(PLACES)]
    lines = (
        f"{person} drove to {place} and paid {100 + number} francs.",
        "I see.",
        f"Invoice {number} of {person} is due in {place}.",
        "Noted.",
        "Nice weather today.",
        "Indeed.",
        "Bye.",
        "See you tomorrow.",
    )
    for n, line in enumerate(lines):
        role = "user" if n % 2 == 0 else "assistant"
        yield Message(role=role, content=line, at=at + timedelta(minutes=n), id=f"d{number}-{n}")


def _read(transcript: Transcript) -> list[Fact]:
    """A model that keeps what holds a name, in the words it was said."""
    return [
        Fact(text=turn.memory.text, kind="episodic", category="observation", turn=turn.number, quote=turn.memory.text)
        for turn in transcript.turns
        if any(person in turn.memory.text for person in PEOPLE)
    ]


def _said(memory: AgentMemory) -> list[str]:
    return [message.id for message in memory.get_conversation_messages("month")]


def test_a_month_of_talk_and_sleep_loses_nothing(world: "World") -> None:
    memory = world.open(consolidation_group_size=3, hot_messages_max=120)
    world.mind.facts = _read
    stored: set[str] = set()
    for day in range(1, DAYS + 1):
        memory.add_messages(list(_day(day, world.clock())), conversation="month")
        world.mind.facts = ModelError("model down") if day % 7 == 0 else _read
        memory.consolidate("month")
        world.mind.summary = ModelError("model down") if day % 5 == 0 else None
        memory.sleep()
        memory.record_retrieval(memory.search(f"what did {PEOPLE[day % 5]} pay?", top_k=2))
        if day % 4 == 0:  # without a word of farewell: whatever was acknowledged is there
            memory = world.open(consolidation_group_size=3, hot_messages_max=120)
        world.later(days=1)
        stored |= {f"d{day}-{n}" for n in range(8)}
        assert set(_said(memory)) == stored
    world.mind.facts, world.mind.summary = _read, None
    memory.consolidate("month", force=True)
    assert memory.status().unread == 0
    every = memory.get_all(kinds=["episodic"], phases=["active", "core", "cold", "superseded"])
    assert {fact.text for fact in every} >= {
        message.content
        for day in range(1, DAYS + 1)
        for message in _day(day, world.clock())
        if message.id[-2:] in {"-0", "-2"}
    }
    spans = [summary.span for summary in memory.summaries("month") if summary.depth == 1]
    assert [first for first, _ in spans] == [1, *(last + 1 for _, last in spans[:-1])], "spans tile"
    for day in (1, 13, 30):
        person, place = PEOPLE[day % 5], PLACES[day % 6]
        hits = memory.search(f"what did {person} pay in {place}?", top_k=5, deep=True)
        assert any(str(100 + day) in hit.text for hit in hits), day
    assert memory.doctor(deep=True) == []


def test_years_later_all_is_cold_and_still_found(world: "World") -> None:
    memory = world.open()
    world.mind.facts = _read
    for day in range(1, 11):
        memory.add_messages(list(_day(day, world.clock())), conversation="month")
        memory.consolidate("month")
        world.later(days=1)
    for _ in range(40):
        world.later(days=90)
        memory.sleep()
    hot = memory.get_all()
    assert len(hot) < 20
    found = memory.search("Invoice 3 of Dan", deep=True, top_k=5)
    assert any("Invoice 3" in hit.text for hit in found)


CRASH = """
import os, sys
from slowwave import AgentMemory, Message
memory = AgentMemory.open(sys.argv[1], scope="t", llm=None, embedder="none")
for n in range(1000):
    memory.add_message(Message(role="user", content=f"I planted tree number {n}", id=f"t-{n}"), conversation="c")
    memory.add(f"Tree {n} stands by the river")
    if n % 10 == 9:
        memory.sleep()
    print(n, flush=True)
    if n == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
"""


def test_a_process_that_is_killed_loses_nothing_it_acknowledged(world: "World") -> None:
    for last in (3, 25):
        done = subprocess.run(
            [sys.executable, "-c", CRASH, str(world.path), str(last)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "SLOWWAVE_CONFIG": ""},
        )
        acknowledged = [int(line) for line in done.stdout.split()]
        assert (done.returncode, acknowledged[-1]) == (-9, last), done.stderr
        with world.open(embedder="none") as memory:
            assert len(memory.get_conversation_messages("c")) == last + 1
            texts = {fact.text for fact in memory.get_all(phases=["active", "core", "cold", "superseded"])}
            assert {f"Tree {n} stands by the river" for n in acknowledged} <= texts
            assert memory.doctor(deep=True) == []
