"""A fluent model that says something else than it was told: no negation, swap or invention takes a person's words' place."""

from collections.abc import Callable

import pytest

from slowwave import AgentMemory, Message
from slowwave.testing import FrozenClock, ScriptedLLM

Open = Callable[..., AgentMemory]
STAIRS = ("cellar", "attic", "porch", "tower", "garden")
FACTS = [f"Juno painted the {stair} stairs white on {day} March 2026" for day, stair in enumerate(STAIRS, 7)]
HONEST = ". ".join(FACTS) + "."
UNTRUE = {
    "negating": HONEST.replace("painted", "never painted"),
    "swapping": ". ".join(FACTS[n].replace(STAIRS[n], STAIRS[n - 1]) for n in range(5)) + ".",
    "embroidering": f"{HONEST} Juno stole the paint from a neighbour and lied about it to everyone.",
    "a bag of words": f"Juno destroyed {' '.join(STAIRS)} stairs white: 7, 8, 9, 10 and 11 March 2026.",
}
ADD = {"op": "ADD", "memory": None, "text": None, "relation": "compatible", "because": "new"}
NEW = {"verdicts": [{"fact": 1, **ADD}]}
NUTS = "I am allergic to walnuts but I love hazelnuts."
BOAT = "Ada owns the red boat in hall 3"


def summaries(opened: Open, clock: FrozenClock, text: str) -> list[str]:
    llm = ScriptedLLM(reconcile=NEW, summarise=text)
    memory = opened(llm=llm)
    for fact in FACTS:
        memory.add(fact, category="observation")
    while not llm.count("summarise"):
        clock.advance(days=20)
        memory.sleep()
    return [one.text for one in memory.get_all(phases=("active", "core", "cold")) if one.kind == "summary"]


def test_a_true_summary_is_accepted(opened: Open, clock: FrozenClock) -> None:
    assert summaries(opened, clock, HONEST) == [HONEST]


@pytest.mark.parametrize("way", UNTRUE)
def test_an_untrue_summary_is_refused(opened: Open, clock: FrozenClock, way: str) -> None:
    assert summaries(opened, clock, UNTRUE[way]) == []


@pytest.mark.parametrize(
    ("fact", "quote", "kept"),
    [
        ("The user is allergic to walnuts", "I am allergic to walnuts", "The user is allergic to walnuts"),
        ("The user loves hazelnuts", "I love hazelnuts", "The user loves hazelnuts"),
        ("The user is not allergic to walnuts", "I am allergic to walnuts", f"The user said: {NUTS}"),
        ("The user loves walnuts and hates hazelnuts", NUTS, f"The user said: {NUTS}"),
        ("The user wants to poison walnuts", "I am allergic to walnuts", None),
    ],
)
def test_a_fact_has_the_meaning_of_its_quote(opened: Open, fact: str, quote: str, kept: str | None) -> None:
    reply = {"facts": [{"text": fact, "quote": quote, "message": 1, "category": "person", "confidence": 0.9}]}
    memory = opened(llm=ScriptedLLM(distil=reply, reconcile={"verdicts": []}))
    memory.add_messages([Message(role="user", content=NUTS)], conversation="nuts")
    result = memory.consolidate(force=True)
    assert [one.text for one in memory.get_all()] == ([kept] if kept else [])
    assert len(result.rejected) == (kept != fact)


def consolidated(opened: Open, first: str, second: str, **verdict: object) -> AgentMemory:
    answer = {"verdicts": [{"fact": 1, "memory": 1, "because": "so", **verdict}]}
    memory = opened(llm=ScriptedLLM(reconcile=answer))
    memory.add(first)
    memory.add(second)
    return memory


@pytest.mark.parametrize("relation", ["contradictory", "subsumes", "compatible"])
@pytest.mark.parametrize("text", ["Ada never owned the red boat in hall 3", "Ada owns the red boat in hall 3", None])
def test_a_statement_of_a_person_is_never_lost(opened: Open, text: str | None, relation: str) -> None:
    memory = consolidated(opened, BOAT, f"{BOAT} with a crew", op="UPDATE", text=text, relation=relation)
    texts = [one.text for one in memory.get_all()]
    assert f"{BOAT} with a crew" in texts
    assert not any("never" in one for one in texts)


def test_the_fuller_wording_is_kept_and_the_user_is_its_source(opened: Open) -> None:
    both = "Ada owns the red boat in hall 3 with a crew from Bergen"
    second = "Ada has a crew from Bergen on the red boat"
    memory = consolidated(opened, BOAT, second, op="UPDATE", text=both, relation="compatible")
    (only,) = memory.get_all()
    assert only.text == both
    assert f"stated: {second!r}" in str(memory.explain(only.id))


def test_a_known_fact_is_quoted_and_a_denial_is_never_known(opened: Open) -> None:
    memory = consolidated(opened, BOAT, "Ada owns the red boat", op="NOOP", relation="subsumed")
    (only,) = memory.get_all()
    assert "stated: 'Ada owns the red boat'" in str(memory.explain(only.id))
    memory.add("Ada no longer owns the red boat")
    assert {one.text for one in memory.get_all()} == {BOAT, "Ada no longer owns the red boat"}


@pytest.mark.parametrize("text", ["Ada owns a crew and the red boat", "Ada hates the red boat in hall 3 with a crew"])
def test_a_merged_text_that_loses_or_reverses_a_fact_is_refused(opened: Open, text: str) -> None:
    second = "Ada owns the red boat with a crew"
    memory = consolidated(opened, BOAT, second, op="UPDATE", text=text, relation="compatible")
    assert {one.text for one in memory.get_all()} == {BOAT, second}
