"""The newer of two values moves above the older one only for a question that asks for the present value."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave import AgentMemory, Message

START = datetime(2026, 1, 1, tzinfo=UTC)
OLDER, NEWER = "Our choir has 18 singers", "Our choir has now grown to 25 singers"


def _places(question: str) -> tuple[int, int, bool]:
    """The places of the newer and of the older statement, and whether the older one is marked."""
    now = [START]
    with AgentMemory.open(":memory:", llm=None, clock=lambda: now[0]) as memory:
        for day, text in enumerate((OLDER, "I like long walks", "We painted the hall", NEWER, "I bought milk")):
            now[0] = START + timedelta(days=5 * day)
            memory.add_message(Message(role="user", content=text), conversation=f"day {day}")
        hits = memory.search(question)
        texts = [hit.text for hit in hits]
        return texts.index(NEWER), texts.index(OLDER), hits[texts.index(OLDER)].stale


@pytest.mark.parametrize(
    "question", ["How many singers does our choir have?", "How many singers are in our choir now?"]
)
def test_the_present_value_comes_first_and_the_older_one_is_marked(question: str) -> None:
    assert _places(question) == (0, 1, True)


@pytest.mark.parametrize(
    "question", ["How many singers did our choir have before?", "How many singers did our choir use to have?"]
)
def test_for_the_past_the_order_is_that_of_the_ranking_and_nothing_is_marked(question: str) -> None:
    newer, older, marked = _places(question)
    assert older < newer
    assert not marked
