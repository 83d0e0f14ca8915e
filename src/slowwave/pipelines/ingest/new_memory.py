"""Builds the memories of new facts."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from slowwave.model.memory import FACT_KINDS, Memory
from slowwave.model.mind import Fact
from slowwave.model.query import Where
from slowwave.model.zone import local
from slowwave.pipelines.planning import new_id, reschedule
from slowwave.policy.retention.categories import is_known
from slowwave.policy.retention.importance import Frequencies, importance as importance_of
from slowwave.policy.retention.policies import initial_stability
from slowwave.ports import Ports


def new_fact_memories(ports: Ports, facts: Sequence[Fact], now: datetime) -> list[Memory]:
    """The memories of facts, with importance and schedule."""
    importances = [fact.importance for fact in facts]
    if None in importances:
        frequency, documents = ports.store.frequencies(ports.scope)
        common, speakers = Frequencies(documents=documents, frequency=frequency), ports.store.speakers(ports.scope)
        importances = [
            round(importance_of(fact.text, frequencies=common, speakers=speakers), 3)
            if fact.importance is None
            else fact.importance
            for fact in facts
        ]
    return [_memory(ports, fact, value or 0.0, now) for fact, value in zip(facts, importances, strict=True)]


def _memory(ports: Ports, fact: Fact, importance: float, now: datetime) -> Memory:
    memory = Memory(
        id=new_id(now),
        scope=ports.scope,
        kind=fact.kind,
        text=fact.text,
        category=fact.category,
        subject=fact.subject,
        confidence=fact.confidence,
        importance=importance,
        stability=initial_stability(importance),
        trust=fact.trust,
        recorded_at=now,
        valid_from=fact.valid_from or local(now, ports.zone),
        expires_at=fact.expires_at,
        sources=fact.sources,
        metadata=fact.metadata,
        ref=fact.ref,
    )
    return reschedule(memory, ports.config)


def unknown_category_warnings(ports: Ports, memories: Iterable[Memory]) -> tuple[str, ...]:
    """A warning for each category that neither the registry nor the scope contains."""
    notes = []
    for name in sorted({memory.category for memory in memories}):
        where = Where(kinds=frozenset(FACT_KINDS), categories=frozenset({name}), limit=1)
        if not is_known(name) and not ports.store.select((ports.scope,), where):
            notes.append(f"the category {name!r} is not a known one: it is kept, and treated as 'other'")
    return tuple(notes)
