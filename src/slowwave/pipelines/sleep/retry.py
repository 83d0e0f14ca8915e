"""Retry: facts that were stored while no mind could decide meet what is known again."""

from slowwave.model.fact import Fact
from slowwave.model.memory import FACT_KINDS, Memory
from slowwave.model.plan import Group
from slowwave.model.query import Where
from slowwave.pipelines.reconcile import reconcile
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.pipelines.verdicts import WAITS

BATCH = 20


def retry(night: Night) -> Staged:
    """Decide again for waiting facts, oldest first; their verdict replaces them in place."""
    ports = night.ports
    where = Where(kinds=frozenset(FACT_KINDS), flag=WAITS)
    waiting = ports.store.select((ports.scope,), where)
    if not waiting or not night.think:
        return Staged(left=len(waiting))
    batch = waiting[:BATCH]
    done = reconcile(ports, [as_fact(memory) for memory in batch], now=night.now, stated=True, waiting=batch)
    night.taken.update(memory.id for memory in batch)
    because = f"{len(batch) - done.waiting} of {len(batch)} waiting facts were decided"
    groups = (Group(operations=done.operations, because=because),) if done.operations else ()
    left = len(waiting) - len(batch) + done.waiting
    return Staged(groups=groups, left=left, problems=done.problems, cost=done.cost)


def as_fact(memory: Memory) -> Fact:
    """A stored fact as it would be proposed anew."""
    return Fact(
        text=memory.text,
        category=memory.category,
        kind=memory.kind,
        subject=memory.subject,
        confidence=memory.confidence,
        importance=memory.importance,
        quote=memory.sources[0].quote if memory.sources else "",
        valid_from=memory.valid_from,
        expires_at=memory.expires_at,
        sources=memory.sources,
        trust=memory.trust,
        metadata=memory.metadata,
    )
