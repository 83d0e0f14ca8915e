"""A fact that tells that a plan was carried out takes the place of the plan; other facts leave it alone."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave import AgentMemory
from slowwave.minds.offline.rules.carried_out import is_carried_out
from slowwave.testing import FrozenClock

PLANNED = datetime(2026, 5, 1, tzinfo=UTC)
LATER = datetime(2026, 5, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana is going to adopt a cat", "Ana adopted the cat on 9 May 2026"),
        ("Ana is thinking about adopting a cat", "On 9 May 2026, Ana adopted a cat"),
        ("Ana plans to visit the Munch museum in Oslo in June 2026", "Ana visited the Munch museum in Oslo on 9 May 2026"),
        ("The user wants to build a sauna", "The user has finally built the sauna"),
    ],
)  # fmt: skip
def test_the_same_deed_of_the_same_person_carries_a_plan_out(old: str, new: str) -> None:
    assert is_carried_out(new, LATER, old, PLANNED)
    assert not is_carried_out(new, PLANNED - timedelta(days=1), old, PLANNED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana wants to buy a car", "Ana bought a car seat"),
        ("Ana wants to buy a car", "Ben bought a car"),
        ("Ana wants to buy a car", "Ana sold a car"),
        ("Ana wants to buy a car", "Ana is going to buy a car in June 2026"),
        ("Ana wants to buy a car", "Ana didn't buy a car"),
        ("Ana wants to buy a car", "Ana bought a car in 2019"),
        ("Ana wants to buy another car", "Ana bought a car"),
        ("Ana plans to visit the Munch museum in Oslo", "Ana visited the Munch museum"),
        ("Ana plans to swim a mile every day", "Ana swam a mile every day"),
        ("Ana likes to buy cars", "Ana bought cars"),
        ("Ana is thinking about going camping in May 2026", "Ana went camping with the kids in July 2026"),
    ],
)
def test_another_deed_or_person_carries_no_plan_out(old: str, new: str) -> None:
    assert not is_carried_out(new, LATER, old, PLANNED)


def test_a_plan_that_was_carried_out_is_no_longer_current() -> None:
    clock = FrozenClock(PLANNED)
    with AgentMemory.open(":memory:", llm=None, embedder="none", clock=clock) as memory:
        memory.add("Ana is going to adopt a cat")
        clock.advance(days=19)
        receipt = memory.add("Ana adopted the cat on 18 May 2026")
        assert [fact.text for fact in memory.get_all()] == ["Ana adopted the cat on 18 May 2026"]
        memory.undo(receipt)
        assert [fact.text for fact in memory.get_all()] == ["Ana is going to adopt a cat"]
