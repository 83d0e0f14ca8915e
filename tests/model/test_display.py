"""How results look at a prompt and in logs, and their use in sets."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Message
from slowwave.model.memory import beginning
from slowwave.model.query import Hit
from slowwave.testing.builders import fact

if TYPE_CHECKING:
    from tests.conftest import World

LONG = "Alice owns the deploy pipeline and everything " * 20


def test_each_result_is_one_short_line_with_its_id(world: "World") -> None:
    memory = world.open()
    receipt = memory.add(LONG, metadata={"team": "platform"})
    memory.add_message(Message(role="user", content="Bob waters the tulips"), conversation="garden")
    stored = memory.get(receipt.ids[0])
    (hit,) = memory.search("who owns the deploy pipeline?", top_k=1)
    (event, *_) = memory.history(stored.id)
    run = memory.runs()[0]
    named = ((stored, stored.id), (hit, stored.id), (event, event.run_id), (receipt, receipt.run_id), (run, run.id))
    for value, identity in named:
        assert identity in repr(value)
        assert len(repr(value)) <= 200
        assert "\n" not in repr(value)
    context = memory.context("who owns the deploy pipeline?")
    assert len(repr(context)) <= 150
    assert f"{context.tokens} tokens" in repr(context)
    (conversation,) = memory.ports.store.conversations("t")
    assert "'garden'" in repr(conversation)
    assert len(repr(memory.search("tulips and pipelines", top_k=10))) < 1000


def test_a_plan_and_a_report_of_many_changes_are_one_short_line(world: "World") -> None:
    memory = world.open()
    memory.add_all([f"Box {number} stands in hall {number}" for number in range(30)])
    world.clock.advance(days=900)
    report = memory.sleep(dry_run=True)
    assert len(list(report.plan.operations)) >= 30
    assert report.plan.id in repr(report)
    assert len(repr(report.plan)) <= 200
    assert len(repr(report)) <= 600
    assert "\n" not in repr(report)


def test_a_hit_as_text_is_what_it_says_with_date_and_relevance() -> None:
    at = datetime(2026, 3, 14, tzinfo=UTC)
    hit = Hit(memory=fact("Alice owns\nthe pipeline", valid_from=at), score=1.2, relevance=0.456, because="may be old")
    assert str(hit) == "Alice owns the pipeline (2026-03-14, relevance 0.46, may be old)"


def test_memories_and_hits_are_members_of_sets_by_value() -> None:
    first = fact("Alice owns the pipeline", id="a", metadata={"team": "platform"})
    same = fact("Alice owns the pipeline", id="a", metadata={"team": "platform"})
    newer = fact("Alice owns the pipeline", id="a", metadata={"team": "platform"}, version=2)
    assert len({first, same, newer}) == 2
    hits = [Hit(memory=one, score=1.0, parts={"words": 1.0}) for one in (first, same, newer)]
    assert len(set(hits)) == 2
    assert hash(hits[0]) == hash(hits[1])


@pytest.mark.parametrize("text", ["", "short", "x" * 59, "x" * 60])
def test_a_short_text_begins_with_all_of_it(text: str) -> None:
    assert beginning(text) == text


def test_a_long_text_begins_with_sixty_characters() -> None:
    assert beginning("x" * 61) == "x" * 59 + "…"
    assert len(beginning(LONG)) <= 60


def test_a_run_with_parts_counts_their_operations() -> None:
    with AgentMemory.open(":memory:", llm=None, embedder="none") as memory:
        memory.add_message(Message(role="user", content="I live in Porto."), "monday")
        result = memory.consolidate_all(force=True)
        (run,) = memory.runs(1, parts="none")
        assert (run.id, run.part_count, run.totals["add"]) == (result.run_id, 1, 1)
        assert "no change" not in repr(run)
        assert "1 added" in repr(run)
