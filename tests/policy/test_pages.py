"""Topic pages are groups of facts by subject and category, made when they are read."""

from datetime import UTC, datetime, timedelta

from slowwave import AgentMemory, Message
from slowwave.model.memory import Memory
from slowwave.policy.summaries.pages import pages

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def fact(text: str, category: str, subject: str | None, day: int = 0, **values: object) -> Memory:
    at = NOW + timedelta(days=day)
    return Memory(
        id=text,
        scope="s",
        kind="semantic",
        text=text,
        category=category,
        subject=subject,
        recorded_at=at,
        valid_from=at,
        **values,
    )


def test_facts_are_grouped_by_subject_and_category_oldest_first() -> None:
    found = pages(
        [
            fact("Ann moved to Graz", "person", "Ann", 2),
            fact("Ann is a baker", "work", "ann", 1),
            fact("Ann has a dog", "person", "Ann"),
            fact("The user sings", "preference", None),
            fact("The user rows", "preference", "user", 1),
        ],
        NOW + timedelta(days=3),
    )
    assert [(page.subject, page.topic, [fact.text for fact in page.facts]) for page in found] == [
        ("Ann", "person", ["Ann has a dog", "Ann moved to Graz"]),
        ("Ann", "work", ["Ann is a baker"]),
        ("user", "preference", ["The user sings", "The user rows"]),
    ]


def test_what_has_ended_and_summaries_are_on_no_page() -> None:
    over = fact("Ann is in Rome", "person", "Ann", expires_at=NOW + timedelta(days=1))
    assert len(pages([over], NOW)) == 1
    assert pages([over], NOW + timedelta(days=2)) == []


def test_pages_are_a_view_that_stores_nothing_and_takes_no_place_in_search_and_context() -> None:
    with AgentMemory.open(":memory:", llm=None, clock=lambda: NOW) as memory:
        memory.add_message(Message(role="user", content="My sister Paula lives in Braga. I love rye bread."), "c")
        memory.consolidate("c", force=True)
        before = memory.ports.store.sequence(memory.scope)
        facts = {fact.id for fact in memory.get_all()}
        assert {fact.id for page in memory.pages() for fact in page.facts} == facts
        assert memory.ports.store.sequence(memory.scope) == before
        assert {summary.id for summary in memory.get_all(kinds=["summary"])} == set()
