"""A dry run plans what the night then does, if nothing else happens."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import pytest

from slowwave import AgentMemory, Config, Message
from slowwave.model.memory import KINDS, PHASES
from slowwave.model.operations import Add, Change, Link, MoveCursor, Operation, Suppress
from slowwave.testing import FrozenClock

Opened = Callable[..., AgentMemory]
PLACES = ("Rome", "Oslo", "Kyiv", "Lima", "Riga")
THINGS = ("trams", "ferries", "domes", "fog", "bridges", "walnut trees", "geese")
SETTINGS: tuple[dict[str, object], ...] = (
    {"hot_messages_max": 20},
    {"hot_words_max": 90},
    {"hot_facts_max": 6},
    {"category_tokens_max": {"observation": 30}, "hot_messages_max": 15},
    {"hot_messages_max": 18, "hot_words_max": 80, "hot_facts_max": 5, "consolidate_every_turns": 10},
)


def lived(settings: dict[str, object], seed: int) -> AgentMemory:
    """A store that chance made, the same for the same seed."""
    chance, clock = Random(seed), FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    config = Config(
        category_ttl_days={"finding": 5},
        retention_policy="half_life",
        half_life_days=14.0,
        consolidation_group_size=2,
        **settings,
    )
    memory = AgentMemory.open(":memory:", llm=None, clock=clock, config=config)
    for number in range(chance.randint(1, 3)):
        said = [
            Message(role=chance.choice(("user", "assistant")), content=f"{chance.choice(PLACES)} {n}: {_said(chance)}")
            for n in range(chance.randint(2, 12))
        ]
        memory.add_messages(said, conversation=f"c{number}")
        clock.advance(days=chance.randint(0, 3))
    for _ in range(chance.randint(6, 16)):
        memory.add(_said(chance), category=chance.choice(("observation", "finding", "preference")), kind="episodic")
        clock.advance(hours=chance.randint(1, 20))
    for fact in chance.sample(memory.get_all(), 2):
        memory.record_retrieval([fact] * chance.choice((1, 12)))
    memory.consolidate_all(force=True)  # a dry run cannot compare the facts of two conversations that are both unread
    clock.advance(days=chance.choice((4, 36, 90)))
    return memory


def _said(chance: Random) -> str:
    return f"I like the {chance.choice(THINGS)} of {chance.choice(PLACES)}, {chance.randint(1, 4)} at most"


def kinds_of(memory: AgentMemory, operations: list[Operation]) -> Counter[object]:
    """What a plan does, whatever names it gives to what is new."""
    texts = {one.id: one.text for one in memory.get_all(kinds=KINDS, phases=PHASES)}
    texts |= {one.memory.id: one.memory.text for one in operations if isinstance(one, Add)}

    def name(identity: str | None) -> str | None:
        return texts.get(identity or "", identity)

    return Counter(filter(None, (_told(one, name) for one in operations)))


def _told(operation: Operation, name: Callable[[str | None], str | None]) -> tuple[object, ...] | None:
    match operation:
        case Add(memory=one):
            return "add", one.kind, one.text
        case Change(before=before, after=after):
            successor = name(after.superseded_by)
            return "change", before.kind, before.text, after.text, after.gist, after.phase, after.reason, successor
        case Link(source=source, target=target, kind=kind):
            return "link", name(source), name(target), kind
        case Suppress(key=key):
            return "hold", key
        case MoveCursor(cursor=cursor):
            return "advance", cursor
        case _:
            return None


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))])
def test_a_dry_run_plans_what_a_sleep_pass_does(settings: dict[str, object], seed: int) -> None:
    with lived(settings, seed) as one, lived(settings, seed) as other:
        foreseen, night = one.sleep(dry_run=True), other.sleep()
        done = [operation for receipt in night.receipts for operation in receipt.applied]
        planned = kinds_of(one, list(foreseen.plan.operations))
        assert planned == kinds_of(other, done)
        applied = [operation for receipt in one.apply(foreseen.plan) for operation in receipt.applied]
        assert kinds_of(one, applied) == planned, "and it can be executed as it stands"


def test_expired_facts_free_budget_for_messages(clock: FrozenClock, opened: Opened) -> None:
    memory = opened(hot_messages_max=20, category_ttl_days={"observation": 5})
    memory.add_messages([Message(role="user", content=f"Remark {n} on garden {n * 7}") for n in range(18)], "a")
    for colour in ("red", "blue", "green", "black", "white", "pink"):
        memory.add(f"The {colour} shed holds spades", category="observation")
    clock.advance(days=6)
    foreseen = memory.sleep(dry_run=True)
    assert "6 changed" in str(foreseen).splitlines()[0]
    assert "6 changed" in str(memory.sleep()).splitlines()[0]
