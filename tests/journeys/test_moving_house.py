"""A stranger's first try, offline: they move house, change jobs and numbers, and ask where they live."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from slowwave import AgentMemory, Message
from slowwave.testing import FrozenClock

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
CHANGES = [
    ("I live in Ghent", "I now live in Antwerp", "where do I live"),
    ("I live in Ghent", "I moved to Antwerp", "where do I live"),
    ("I live in Ghent", "I moved from Ghent to Antwerp", "where do I live"),
    ("I work at Acme", "I now work at Globex", "where do I work"),
    ("My phone number is 555-1234", "My new phone number is 555-9999", "what is my phone number"),
    ("We use Postgres 15", "We switched to Postgres 16", "which Postgres do we use"),
]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(START)


@pytest.fixture
def memory(clock: FrozenClock) -> Iterator[AgentMemory]:
    with AgentMemory.open(":memory:", llm=None, clock=clock) as opened:
        yield opened


def _said(memory: AgentMemory, clock: FrozenClock, text: str, conversation: str) -> None:
    """Two messages of a chat, and what is distilled from them."""
    clock.advance(days=1)
    asked = Message(role="user", content=f"{text}.", at=clock())
    memory.add_messages([asked, Message(role="assistant", content="Noted.", at=clock())], conversation=conversation)
    memory.consolidate(conversation, force=True)


@pytest.mark.parametrize(("old", "new", "question"), CHANGES)
def test_a_new_statement_of_a_person_supersedes_the_old_one(
    memory: AgentMemory, clock: FrozenClock, old: str, new: str, question: str
) -> None:
    memory.add(old)
    clock.advance(days=1)
    receipt = memory.add(new)
    assert [fact.text for fact in memory.get_all()] == [new]
    assert memory.search(question)[0].text == new
    outdated = next(hit for hit in memory.search(question, deep=True) if hit.text == old)
    assert outdated.stale
    assert outdated.memory.superseded_by == receipt.ids[0]
    assert outdated.memory.valid_to == clock()
    memory.undo(receipt.run_id)
    assert [fact.text for fact in memory.get_all()] == [old]


@pytest.mark.parametrize(("old", "new", "question"), CHANGES)
def test_a_newer_message_ranks_above_the_marked_older_one(
    memory: AgentMemory, clock: FrozenClock, old: str, new: str, question: str
) -> None:
    _said(memory, clock, old, "monday")
    _said(memory, clock, new, "friday")
    assert len(memory.get_all()) == 1
    hits = memory.search(question)
    places = {hit.text: place for place, hit in enumerate(hits)}
    assert hits[0].text in {new, f"{new}."}
    assert places[f"{new}."] < places[f"{old}."]
    assert [hit.stale for hit in hits if hit.text != f"{old}."] == [False] * (len(hits) - 1)
    assert hits[places[f"{old}."]].stale
    assert new in hits[places[f"{old}."]].because


def test_a_person_who_moved_away_no_longer_lives_there(memory: AgentMemory, clock: FrozenClock) -> None:
    _said(memory, clock, "I live in Ghent with my sister", "monday")
    _said(memory, clock, "I no longer live in Ghent", "friday")
    hits = memory.search("where do I live")
    assert hits[0].text in {"I no longer live in Ghent", "I no longer live in Ghent."}
    assert "sister" not in hits[1].text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Ghent", "I live in Antwerp"),
        ("I live in Ghent with my sister", "I now live in Antwerp"),
        ("I live in Ghent", "I moved to Antwerp last week"),
    ],
)
def test_an_uncertain_contradiction_keeps_both_facts_and_flags_the_older(
    memory: AgentMemory, clock: FrozenClock, old: str, new: str
) -> None:
    memory.add(old)
    clock.advance(days=1)
    memory.add(new)
    assert {fact.text for fact in memory.get_all()} == {old, new}
    first, second = memory.search("where do I live")
    assert (first.text, second.text, second.stale) == (new, old, True)
    assert second.because.startswith("perhaps outdated: ")
    (pair,) = memory.ports.store.links(memory.ports.scope, None)
    assert pair.kind == "value changed?"
    assert "value changed?" in str(memory.health())
    assert f"{old} (perhaps outdated)\n" in str(memory.context("where do I live"))


def test_the_newer_value_is_shown_though_its_words_are_far_from_the_question(
    memory: AgentMemory, clock: FrozenClock
) -> None:
    memory.add("I live in Ghent")
    clock.advance(days=1)
    memory.add("I moved to Antwerp last week")
    for number in range(30):
        memory.add(f"Where the live band number {number} plays is a question of taste")
    hits = memory.search("Where do I live?", top_k=5)
    places = {hit.text: place for place, hit in enumerate(hits)}
    assert places["I moved to Antwerp last week"] < places["I live in Ghent"]
    assert hits[places["I live in Ghent"]].stale
    assert len(hits) == 5


def test_lists_are_no_changes(memory: AgentMemory, clock: FrozenClock) -> None:
    texts = ["I like tea", "I like coffee", "I visited Rome", "I visited Oslo", "I have a dog", "I now have a cat"]
    for text in texts:
        memory.add(text)
        clock.advance(days=1)
    assert {fact.text for fact in memory.get_all()} == set(texts)
    assert memory.ports.store.links(memory.ports.scope, None, ["value changed?", "conflict?"]) == []
    assert not any(hit.stale for hit in memory.search("what do I like, and where have I been?"))
