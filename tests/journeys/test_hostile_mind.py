"""A mind that says anything: whatever its verdicts, nothing a person said is lost, doubled or turned in a circle."""

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import ModelError
from slowwave.model.codec import content_key
from slowwave.model.memory import FACT_KINDS, PHASES
from slowwave.model.mind import Fact, ReconcileCase, SummaryRequest, Transcript, Verdict

if TYPE_CHECKING:
    from tests.conftest import World

NAMES = ("Ann", "Bert", "Cecilia", "Dan")
THINGS = ("owns pipeline 7", "likes green tea", "lives in Bern", "pays 300 francs", "left on May 3, 2026")
OPS = ("ADD", "UPDATE", "UPDATE", "DELETE", "NOOP", "LINK")
RELATIONS = ("compatible", "subsumes", "subsumed", "contradictory", "conflict?")


class Liar:
    """Says what chance tells it, about what it was shown and what it was not."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.texts: list[str] = [f"{name} {thing}" for name in NAMES for thing in THINGS]

    def verdicts(self, cases: Sequence[ReconcileCase]) -> list[Verdict]:
        if self.chance.random() < 0.15:
            raise ModelError("model down")
        return [self._verdict(case) for case in cases for _ in range(self.chance.randrange(4))]

    def _verdict(self, case: ReconcileCase) -> Verdict:
        chance = self.chance
        numbers = [candidate.number for candidate in case.candidates] + [None, 99]
        text = chance.choice([None, "", "ok", chance.choice(self.texts), case.fact.text, "Zoe flew to Mars"])
        return Verdict(
            fact=chance.choice([case.number, case.number, 1, 99]),
            op=chance.choice(OPS),
            memory=chance.choice(numbers),
            text=text,
            relation=chance.choice(RELATIONS),
        )

    def facts(self, transcript: Transcript) -> list[Fact]:
        if self.chance.random() < 0.15:
            raise ModelError("model down")
        kept = [Fact(text=turn.memory.text, turn=turn.number, quote=turn.memory.text) for turn in transcript.turns]
        return [*kept, Fact(text="Zoe flew to Mars", turn=1, quote="flew to Mars")]

    def summary(self, brief: SummaryRequest) -> str:
        if self.chance.random() < 0.3:
            raise ModelError("model down")
        whole = "; ".join(memory.text for memory in brief.memories)
        return self.chance.choice([whole, whole, "", "Zoe flew to Mars", brief.memories[0].text])


def _every(memory: AgentMemory) -> dict[str, str]:
    return {fact.id: fact.text for fact in memory.get_all(kinds=FACT_KINDS, phases=PHASES)}


def _sound(memory: AgentMemory) -> None:
    every = {fact.id: fact for fact in memory.get_all(kinds=FACT_KINDS, phases=PHASES)}
    live = [content_key(fact.text) for fact in every.values() if fact.is_searchable]
    assert len(set(live)) == len(live)
    assert not any("Zoe" in fact.text for fact in every.values()), "what nobody said is stored nowhere"
    for fact in every.values():
        seen: set[str] = set()
        while fact.superseded_by is not None:
            assert fact.id not in seen
            seen.add(fact.id)
            fact = every[fact.superseded_by]  # noqa: PLW2901 - walking along the chain
    for fact in every.values():
        for link in memory.links(fact.id):
            assert {link.source, link.target} <= every.keys()


@pytest.mark.parametrize("seed", range(6))
def test_any_answer_of_a_mind_keeps_the_invariants(world: "World", seed: int) -> None:
    liar, chance = Liar(seed), Random(-seed)
    world.mind.verdicts, world.mind.facts, world.mind.summary = liar.verdicts, liar.facts, liar.summary
    memory = world.open(consolidation_group_size=2, dedup_similarity_threshold=0.8, min_messages=1)
    pinned = memory.add("Pia keeps the keys").ids[0]
    memory.pin(pinned)
    said = 0
    for day in range(40):
        match chance.randrange(4):
            case 0:
                before = _every(memory)
                memory.add(chance.choice(liar.texts), kind=chance.choice(["semantic", "episodic"]))
                assert before.keys() <= _every(memory).keys(), "no row ever goes"
            case 1:
                lines = chance.sample(liar.texts, 3)
                messages = [Message(role="user", content=line, id=f"{day}-{n}") for n, line in enumerate(lines)]
                memory.add_messages(messages, conversation=f"c{day % 3}")
                memory.consolidate(f"c{day % 3}")
                said += 3
            case 2:
                memory.record_retrieval(memory.search(chance.choice(liar.texts), deep=True))
            case _:
                memory.sleep()
        world.later(days=chance.choice([0.1, 5, 40]))
        _sound(memory)
    assert sum(len(memory.get_conversation_messages(f"c{n}")) for n in range(3)) == said
    assert memory.get(pinned).is_searchable
    assert memory.get(pinned).text == "Pia keeps the keys"
    world.mind.verdicts, world.mind.facts, world.mind.summary = None, (), None
    for _ in range(4):
        memory.sleep()
    assert memory.status().waiting == 0, "what waited was decided once the mind was back"
