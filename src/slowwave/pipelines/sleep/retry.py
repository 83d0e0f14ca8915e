"""Retry: facts that were stored while no mind could decide meet what is known again."""

from slowwave.model.fact import Fact
from slowwave.model.memory import FACT_KINDS, HOT, Memory
from slowwave.model.operation import Change
from slowwave.model.plan import FREE, Group
from slowwave.model.query import Where
from slowwave.pipelines.reconcile import reconcile
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.pipelines.verdicts import WAITS
from slowwave.ports import Ports

BATCH = 20


def retry(night: Night) -> Staged:
    """Decide again for waiting facts, oldest first; their verdict replaces them in place."""
    ports = night.ports
    facts = waiting(ports)
    if not facts or not night.think:
        return Staged(left=len(facts))
    groups: list[Group] = []
    problems: tuple[str, ...] = ()
    cost, left = FREE, len(facts) - len(facts[:BATCH])
    for stated in (True, False):  # what rests on messages was distilled, and may do less to what a person said
        batch = [memory for memory in facts[:BATCH] if stated is not bool(memory.sources)]
        if batch:
            done = reconcile(ports, [as_fact(memory) for memory in batch], now=night.now, stated=stated, waiting=batch)
            because = f"{len(batch) - done.waiting} of {len(batch)} waiting facts were decided"
            groups += [Group(operations=done.operations, because=because)] if done.operations else []
            problems, cost, left = (*problems, *done.problems), cost + done.cost, left + done.waiting
    night.taken.update(memory.id for memory in facts[:BATCH])
    night.taken.update(
        change.before.id for group in groups for change in group.operations if isinstance(change, Change)
    )
    return Staged(groups=tuple(groups), left=left, problems=problems, cost=cost)


def waiting(ports: Ports) -> list[Memory]:
    """The live facts that wait for a mind, oldest first."""
    return ports.store.select((ports.scope,), Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), flag=WAITS))


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
