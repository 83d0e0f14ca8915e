"""Sleep stages that give waiting messages and facts to a mind."""

from dataclasses import replace

from slowwave.model.memory import FACT_KINDS, HOT, UNRECONCILED, Memory
from slowwave.model.mind import Fact
from slowwave.model.operations import Change
from slowwave.model.plan import FREE, Group
from slowwave.model.query import Where
from slowwave.pipelines.ingest.chunks import is_partly_read, released_messages
from slowwave.pipelines.ingest.distil import planned
from slowwave.pipelines.ingest.reconcile import reconcile
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.ports import Ports


def distil(context: SleepContext) -> StagePlan:
    """Distil one chunk of each conversation that is due, if automatic distilling is on or a person released a message.

    Released messages are read in either case: the messages around them were distilled before.
    """
    ports = context.ports
    released = {message.conversation for message in released_messages(ports)}
    automatic = ports.config.consolidate_every_turns is not None
    unread = ports.store.unread(ports.scope) if automatic else {}
    waiting = [
        found.name
        for found in (ports.store.conversations(ports.scope) if automatic or released else ())
        if found.name in released
        or (automatic and (unread.get(found.name, 0) >= ports.config.min_messages or is_partly_read(found)))
    ]
    if not context.think:
        return StagePlan(left=len(waiting))
    staged = StagePlan()
    for name in waiting:
        read = planned(ports, name)
        if read is None:
            continue
        staged = StagePlan(
            groups=(*staged.groups, *read.plan.groups),
            left=staged.left + (read.failed or (automatic and read.chunk.more)),
            problems=(*staged.problems, *read.result.problems),
            cost=staged.cost + read.result.cost,
        )
        if read.failed:
            return replace(staged, left=len(waiting))
    return staged


BATCH = 20
"""How many waiting facts one pass decides about."""


def retry(context: SleepContext) -> StagePlan:
    """Reconcile waiting facts, oldest first; they are changed in place."""
    ports = context.ports
    facts = waiting(ports)
    if not facts or not context.think:
        return StagePlan(left=len(facts))
    groups: list[Group] = []
    problems: tuple[str, ...] = ()
    cost, left = FREE, len(facts) - len(facts[:BATCH])
    for stated in (True, False):  # a distilled fact may change less of what a person stated
        batch = [memory for memory in facts[:BATCH] if stated is not bool(memory.sources)]
        if batch:
            done = reconcile(
                ports, [as_fact(memory) for memory in batch], now=context.now, stated=stated, waiting=batch
            )
            because = f"{len(batch) - done.waiting} of {len(batch)} waiting facts were decided"
            groups += [Group(operations=done.operations, because=because)] if done.operations else []
            problems, cost, left = (*problems, *done.problems), cost + done.cost, left + done.waiting
    context.taken.update(memory.id for memory in facts[:BATCH])
    context.taken.update(
        change.before.id for group in groups for change in group.operations if isinstance(change, Change)
    )
    return StagePlan(groups=tuple(groups), left=left, problems=problems, cost=cost)


def waiting(ports: Ports) -> list[Memory]:
    """The live facts that wait for a mind, oldest first."""
    return ports.store.select(
        (ports.scope,), Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), flag=UNRECONCILED)
    )


def as_fact(memory: Memory) -> Fact:
    """A stored fact as a proposal."""
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
