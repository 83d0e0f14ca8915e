"""The first version of a fact's memory: everything that is frozen when it is written."""

from dataclasses import replace
from datetime import datetime

from slowwave.model.fact import Fact
from slowwave.model.memory import Memory
from slowwave.pipelines.making import new_id
from slowwave.policy.categories import category, expires_at
from slowwave.policy.retention import due_at, initial_stability
from slowwave.ports import Ports


def born(ports: Ports, fact: Fact, now: datetime) -> Memory:
    """The memory a fact becomes if it is stored."""
    importance = fact.importance if fact.importance is not None else _importance(ports, fact)
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
        valid_from=fact.valid_from or now,
        expires_at=fact.expires_at or expires_at(fact.category, now, None, ports.config.category_ttl_days),
        sources=fact.sources,
        metadata=fact.metadata,
    )
    return replace(memory, due_at=due_at(memory, ports.config))


def _importance(ports: Ports, fact: Fact) -> float:
    ...
