"""The newer of two values moves above the older one only for a question that asks for the present value."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave import AgentMemory, Message

START = datetime(2026, 1, 1, tzinfo=UTC)
OLDER, NEWER = "The choir meets on Monday at ten", "The choir was moved to Thursday at two"


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


@pytest.mark.parametrize("question", ["When is the choir?", "When does the choir meet now?"])
def test_the_present_value_comes_first_and_the_older_one_is_marked(question: str) -> None:
    assert _places(question) == (0, 1, True)


@pytest.mark.parametrize("question", ["When did the choir meet before?", "On which day did the choir use to meet?"])
def test_for_the_past_the_order_is_that_of_the_ranking_and_nothing_is_marked(question: str) -> None:
    newer, older, marked = _places(question)
    assert older < newer
    assert not marked


def test_a_title_before_a_name_does_not_end_the_statement() -> None:
    now = [START]
    with AgentMemory.open(":memory:", llm=None, clock=lambda: now[0]) as memory:
        for day, text in enumerate(
            ("Our doctor is Dr. Adler", "We painted the hall", "Our doctor is Dr. Brandt since March")
        ):
            now[0] = START + timedelta(days=5 * day)
            memory.add_message(Message(role="user", content=text), conversation=f"day {day}")
        newer, older = memory.search("Who is our doctor?", top_k=2)
    assert (newer.text, older.text, older.stale) == (
        "Our doctor is Dr. Brandt since March",
        "Our doctor is Dr. Adler",
        True,
    )
