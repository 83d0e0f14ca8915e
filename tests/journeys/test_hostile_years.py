"""A year of daily sleeps under minds that mean harm or are broken: what people stated can be recalled at its end."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave import AgentMemory, Config, Message
from slowwave.errors import ModelError
from slowwave.model.memory import KINDS, PHASES, Memory
from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Summary, SummaryRequest, Transcript, Verdict
from slowwave.model.query import Where
from slowwave.pipelines.sleep.change_limit import MIN_CHANGES, count_changes
from slowwave.policy.guard.grounding import invented_details
from slowwave.testing import FrozenClock

YEAR = 365
WEEKS = 42
STATED = 2 / 3
"""Facts a day."""
START = datetime(2027, 1, 1, 3, tzinfo=UTC)
NAMES = ("Mia", "Noah", "Lena", "Theo", "Ida", "Emil", "Clara", "Jonas", "Ella", "Oskar")
THINGS = ("kayak", "piano", "orchard", "bakery", "telescope", "garden", "workshop", "sailboat", "beehive", "archive")
CONFIG = Config(retention_policy="half_life", half_life_days=14, min_messages=2, consolidate_every_turns=1)


@dataclass
class Persona:
    """A mind that answers everything in one bad way."""

    name: str
    summary: Callable[[SummaryRequest], str]
    verdicts: Callable[[Sequence[ReconcileCase]], Iterable[Verdict]]
    facts: Callable[[Transcript], Iterable[Fact]]
    fails: bool = False
    asked: int = field(default=0)

    def distil(self, transcript: Transcript, /) -> MindAnswer[tuple[Fact, ...]]:
        self._ask()
        return MindAnswer(value=tuple(self.facts(transcript)))

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        self._ask()
        return MindAnswer(value=tuple(self.verdicts(cases)))

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        self._ask()
        return MindAnswer(value=Summary(text=self.summary(brief)))

    def _ask(self) -> None:
        self.asked += 1
        if self.fails:
            raise ModelError("the model is down")


def joined(brief: SummaryRequest) -> str:
    return "; ".join(memory.text for memory in brief.memories)


def every(op: str, relation: str, text: str | None = None) -> Callable[[Sequence[ReconcileCase]], Iterable[Verdict]]:
    """The same verdict on everything that is shown."""

    def verdicts(cases: Sequence[ReconcileCase]) -> Iterable[Verdict]:
        for case in cases:
            shown = case.candidates if op == "DELETE" else case.candidates[:1]
            for one in shown:
                words = None if op in {"DELETE", "NOOP"} else text or case.fact.text
                yield Verdict(fact=case.number, op=op, memory=one.number, text=words, relation=relation)

    return verdicts


def foreign(cases: Sequence[ReconcileCase]) -> Iterable[Verdict]:
    return [Verdict(fact=case.number + 7, op="DELETE", memory=10_000, relation="contradictory") for case in cases]


def quoted(transcript: Transcript) -> Iterable[Fact]:
    return [Fact(text=turn.memory.text, turn=turn.number, quote=turn.memory.text) for turn in transcript.turns]


def inventing(transcript: Transcript) -> Iterable[Fact]:
    return [
        Fact(
            text=f"Zebedee owes {turn.number * 7919} euros since May 3, 1999",
            turn=turn.number,
            quote=turn.memory.text[:20],
        )
        for turn in transcript.turns
    ]


def nothing(_: object) -> tuple[()]:
    return ()


PERSONAS = {
    "down": lambda: Persona("down", joined, nothing, nothing, fails=True),
    "empty": lambda: Persona("empty", lambda _: "", nothing, nothing),
    "unrelated": lambda: Persona("unrelated", lambda _: "A tale of something else entirely.", nothing, nothing),
    "inventing": lambda: Persona(
        "inventing",
        lambda b: joined(b) + "; Zebedee paid 7919 on May 3, 1999",
        every("UPDATE", "contradictory", "Zebedee owns 7919 houses"),
        inventing,
    ),
    "merging": lambda: Persona("merging", joined, every("UPDATE", "subsumes"), quoted),
    "known": lambda: Persona("known", joined, every("NOOP", "subsumed"), quoted),
    "superseding": lambda: Persona("superseding", joined, every("UPDATE", "contradictory"), quoted),
    "ending": lambda: Persona("ending", joined, every("DELETE", "contradictory"), quoted),
    "foreign": lambda: Persona("foreign", joined, foreign, quoted),
}


def stated(number: int) -> str:
    name, thing = NAMES[number % 10], THINGS[number // 10 % 10]
    return f"{name} bought a {thing} in {1900 + number} for {number * 17 + 3} crowns"


def all_of(memory: AgentMemory) -> list[Memory]:
    where = Where(kinds=frozenset(KINDS), phases=frozenset(PHASES), cascade=None)
    return memory.ports.store.select((memory.ports.scope,), where)


def check_summaries(memory: AgentMemory) -> None:
    known = {one.id: one for one in all_of(memory)}
    for one in known.values():
        if one.kind != "summary":
            continue
        if one.members:
            under: list[Memory] = [known[member] for member in one.members]
        else:
            first, last = one.span or (0, 0)
            under = [m for m in known.values() if m.conversation == one.conversation and first <= m.seq <= last]
        assert invented_details(one.text, under) == ()


@pytest.mark.long
@pytest.mark.parametrize("persona", PERSONAS)
def test_a_year_of_nights_loses_nothing_that_was_stated(persona: str, tmp_path: Path) -> None:
    live(persona, tmp_path, YEAR)


@pytest.mark.parametrize("persona", PERSONAS)
def test_weeks_of_nights_lose_nothing_that_was_stated(persona: str, tmp_path: Path) -> None:
    live(persona, tmp_path, WEEKS)


def live(persona: str, tmp_path: Path, days: int) -> None:
    clock, mind = FrozenClock(START), PERSONAS[persona]()
    dice = random.Random(persona)
    with AgentMemory.open(
        tmp_path / "m.db", scope="t", llm=mind, embedder="static", clock=clock, config=CONFIG
    ) as memory:
        given: list[str] = []
        for day in range(days):
            if day * STATED >= len(given):
                given.append(stated(len(given)))
                memory.add(given[-1], kind=("semantic", "episodic")[len(given) % 2])
            if day % 9 == 0:
                talk = [
                    Message(role=("user", "assistant")[n % 2], content=f"We spoke of {dice.choice(THINGS)} {day}-{n}")
                    for n in range(4)
                ]
                memory.add_messages(talk, "life")
            if dice.random() < 0.2 and given:
                memory.record_retrieval(memory.search(dice.choice(given), top_k=2))
            clock.advance(days=1)
            report = memory.sleep()
            by_minds = [
                part
                for part in report.plan.parts
                if part.cause.removeprefix("sleep/") in {"distil", "retry", "duplicates", "compress"}
            ]
            assert sum(count_changes(group) for part in by_minds for group in part.groups) <= MIN_CHANGES
        texts = {one.text for one in all_of(memory) if one.phase != "quarantined"}
        there = sum(text in texts for text in given)
        found = sum(any(text == hit.text for hit in memory.search(text, deep=True, top_k=50)) for text in given)
        print(f"{persona}: {there}/{len(given)} kept, {found} found by deep recall, {mind.asked} questions")  # noqa: T201 - the figure
        assert there == len(given)
        assert found >= 0.999 * len(given)
        check_summaries(memory)
        assert not any("Zebedee" in one.text for one in all_of(memory))
        assert memory.doctor(deep=True) == []


def test_clocks_that_jump_break_nothing(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2027, 3, 28, 0, 30, tzinfo=UTC))  # the night in which Europe loses an hour
    with AgentMemory.open(
        tmp_path / "m.db", scope="t", llm=None, embedder="static", clock=clock, config=CONFIG
    ) as memory:
        ids = [memory.add(stated(number)).ids[0] for number in range(20)]
        for days in (0, -1 / 24, 1 / 24, -400, 3650, -3650, 0.5, 3650, 217, 1 / 24):
            clock.advance(days=days)
            memory.add_message(Message(role="user", content=f"It is {clock():%Y}"), "life")
            memory.record_retrieval(memory.search(stated(3), deep=True, top_k=1))
            memory.consolidate(force=True)
            memory.sleep()
            assert all(0.0 < memory.strength(identity) <= 1.0 for identity in ids)
            assert memory.health()
            str(memory.context("kayak"))
        texts = {one.text for one in all_of(memory)}
        assert all(any(stated(number) in text for text in texts) for number in range(20))
        assert memory.doctor(deep=True) == []
