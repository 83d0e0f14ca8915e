"""Forty malformed replies, every task, twenty seeds, through the facade: no fact lost, none invented, each refusal told."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slowwave import AgentMemory, Config, Message
from slowwave.composition import with_mind
from slowwave.model.memory import PHASES
from slowwave.policy.text.tokens import words
from slowwave.testing import SHAPES, FrozenClock, ScriptedLLM, malformed

SEEDS = range(20)
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
SAID = ("Alice owns the deploy pipeline.", "By the way, Matteo is allergic to shellfish!")
OWNS, ALLERGIC = "Alice owns the deploy pipeline", "Matteo is allergic to shellfish"
ZURICH, BERN, CATS = "Matteo lives in Zurich", "Matteo lives in Bern", "Matteo owns two cats"
ONE_ITEM = {"07 an object for the list", "09 a bare item"}
"""Shapes that carry only the first of the items."""
WORDS = frozenset(words("Alice looked after the garden and sold her tools. Lost words."))
GARDEN = ("Alice: I looked after the garden.", "And then?", "I sold my tools.", "All of them?", "Yes.")


@pytest.fixture(scope="module")
def base() -> Iterator[AgentMemory]:
    config = Config(min_messages=1, immediate_window=1, recent_window=1)
    with AgentMemory.open(":memory:", embedder="none", llm=None, clock=FrozenClock(NOW), config=config) as memory:
        yield memory


def scoped(base: AgentMemory, name: str, llm: ScriptedLLM) -> AgentMemory:
    """The same store, a scope of its own, this model."""
    ports = replace(base.ports, scope=name.replace(" ", "-"), scopes=(name.replace(" ", "-"),))
    return AgentMemory(ports=with_mind(ports, llm))


def say(memory: AgentMemory, *lines: str) -> None:
    memory.add_messages([Message(role="user", content=line, at=NOW) for line in lines], conversation="c1")


def facts(*texts: str) -> dict[str, list[dict[str, object]]]:
    return {"facts": [{"text": text, "message": place, "quote": text} for place, text in enumerate(texts, 1)]}


@pytest.mark.parametrize("shape", SHAPES)
def test_malformed_distil_replies_lose_and_invent_no_facts(base: AgentMemory, shape: str) -> None:
    for seed in SEEDS:
        llm = ScriptedLLM(distil=malformed(shape, "distil", seed=seed))
        memory = scoped(base, f"distil/{shape}/{seed}", llm)
        say(memory, *SAID)
        result = memory.consolidate()
        stored = {fact.text for fact in memory.get_all(phases=PHASES)}
        assert stored <= {OWNS, ALLERGIC}, (seed, stored)
        assert stored == {fact.text for fact in result.facts}
        reported = result.rejected or result.skipped_reason or shape in ONE_ITEM
        assert stored == {OWNS, ALLERGIC} or reported, (seed, result)
        assert (memory.status().unread == 2) == bool(result.skipped_reason)
        assert len(memory.get_conversation_messages("c1")) == 2
        assert memory.search("deploy pipeline")
        assert memory.cost().total.calls == len(llm.asked) <= 2 * len({"both", "the first", "two harmless words"})
        llm.answers["distil"] = facts(OWNS, ALLERGIC)
        memory.consolidate()
        assert result.skipped_reason is None or {fact.text for fact in memory.get_all()} == {OWNS, ALLERGIC}


@pytest.mark.parametrize("shape", SHAPES)
def test_malformed_verdicts_lose_and_invent_no_facts(base: AgentMemory, shape: str) -> None:
    for seed in SEEDS:
        llm = ScriptedLLM(distil=[facts(ZURICH), facts(BERN, CATS)], reconcile=malformed(shape, "reconcile", seed=seed))
        memory = scoped(base, f"reconcile/{shape}/{seed}", llm)
        say(memory, ZURICH)
        memory.consolidate()
        say(memory, BERN, CATS)
        result = memory.consolidate()
        kept = {fact.text: fact for fact in memory.get_all(phases=PHASES)}
        assert kept.keys() == {ZURICH, BERN, CATS}, (seed, kept.keys())
        assert kept[BERN].is_searchable
        assert kept[CATS].is_searchable
        assert kept[ZURICH].is_searchable or kept[ZURICH].superseded_by == kept[BERN].id
        assert result.waiting == memory.status().waiting
        assert not result.waiting or result.problems, (seed, result)
        assert 1 <= llm.count("reconcile") <= 2


@pytest.mark.parametrize("shape", SHAPES)
def test_malformed_summaries_invent_nothing_and_the_range_stays_due(base: AgentMemory, shape: str) -> None:
    for seed in SEEDS:
        llm = ScriptedLLM(summarise=malformed(shape, "summarise", seed=seed))
        memory = scoped(base, f"summarise/{shape}/{seed}", llm)
        say(memory, *GARDEN)
        reported = memory.command("@compact-memories")
        for summary in memory.summaries():
            assert set(words(summary.text)) <= WORDS, summary.text
        assert memory.summaries() or "refused" in reported or "could not be read" in reported or "failed" in reported, (
            seed,
            reported,
        )
        assert len(memory.get_conversation_messages("c1")) == 5
        llm.answers["summarise"] = "Alice looked after the garden and sold her tools."
        memory.command("@compact-memories")
        assert memory.summaries()
