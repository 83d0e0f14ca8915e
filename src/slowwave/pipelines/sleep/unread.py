"""Sleep stages that give unread messages and waiting facts to a mind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from slowwave.model.memory import FACT_KINDS, HOT, UNRECONCILED, Memory
from slowwave.model.mind import Fact
from slowwave.model.operations import Change, Suppress
from slowwave.model.plan import FREE, Cost, Group
from slowwave.model.progress import FAILED_CURSOR, FailedReading
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.pipelines.conversations import idle_from
from slowwave.pipelines.ingest.chunks import (
    RELEASED_MESSAGES,
    UNREADABLE_MESSAGES,
    is_partly_read,
    read_again,
    released_messages,
)
from slowwave.pipelines.ingest.distil import ChunkReading, Pace, planned
from slowwave.pipelines.ingest.reconcile import reconcile
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.ports import Ports

CHUNKS_MAX: Final = 100
"""How many chunks of messages one pass reads; the rest stays due at once."""
RETRY: Final = timedelta(minutes=15)
"""Time after which messages that could not be read are due again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """The unread messages of a scope at one instant.

    Attributes:
        due: the conversations to read now, the one that was idle longest first; those at which a mind failed come last.
        paused: those that are left out for a while, because a mind failed at them (`FailedReading`).
        waiting: how many messages wait, because fewer than `Config.min_messages` are unread and their conversation goes on.
        from_: when the first of those that are paused or wait are due; None if there are none.
    """

    due: tuple[ConversationState, ...] = ()
    paused: tuple[ConversationState, ...] = ()
    waiting: int = 0
    from_: datetime | None = None


def unread(ports: Ports, now: datetime, name: str | None = None) -> Unread:
    """The unread messages of a scope, or of one conversation.

    A conversation is due if at least `Config.min_messages` are unread, if it is idle, if a long message was read in
    part, or if a person released a message of it; but not during the pause after a failure.
    """
    counts, released = ports.store.unread(ports.scope, name), released_messages(ports, name)
    return _sorted(ports, now, counts, released, _conversations(ports, name) if counts or released else ())


def _unread_of(context: SleepContext) -> Unread:
    """The unread messages of the scope of a pass."""
    state = context.state
    return _sorted(
        context.ports, context.now, state.unread, context.select(RELEASED_MESSAGES), state.conversations[::-1]
    )


def _sorted(
    ports: Ports,
    now: datetime,
    counts: Mapping[str, int],
    released_ones: Iterable[Memory],
    conversations: Iterable[ConversationState],
) -> Unread:
    """The conversations that are due, those that pause, and those that wait."""
    released = {message.conversation for message in released_ones}
    due: list[ConversationState] = []
    paused: list[ConversationState] = []
    later: list[datetime] = []
    waiting = 0
    for one in conversations:
        count = counts.get(one.name, 0)
        if not count and one.name not in released:
            continue
        failed = FailedReading.unpack(one.cursor(FAILED_CURSOR))
        enough = one.name in released or count >= ports.config.min_messages or is_partly_read(one)
        if failed and failed.pauses(now):
            paused.append(one)
            later.append(failed.until)
        elif not enough and (at := idle_from(ports, one, now)) > now:
            waiting += count
            later.append(at)
        else:
            due.append(one)
    due.sort(key=lambda one: one.cursor(FAILED_CURSOR))
    return Unread(due=tuple(due), paused=tuple(paused), waiting=waiting, from_=min(later, default=None))


def _conversations(ports: Ports, name: str | None) -> Sequence[ConversationState]:
    """All conversations, or the one of this name; the one that was idle longest first."""
    if name is None:
        return ports.store.conversations(ports.scope)[::-1]
    found = ports.store.conversation(ports.scope, name)
    return [] if found is None else [found]


def distil(context: SleepContext) -> StagePlan:
    """Distil the conversations that are due, chunk by chunk; each chunk is stored before the next is read.

    The short last stretch of a conversation that goes on waits. A dry run reads one chunk of each conversation, because
    the next one depends on what the first would store.
    """
    again = read_again(context.ports, context.select(UNREADABLE_MESSAGES)) if context.think else ()
    if again and not context.dry_run:
        context.store(Group(operations=again, because="another model reads what one could not read"), FREE)
    found = _unread_of(context)
    context.unread_waiting = found.waiting
    if not context.think:
        return StagePlan(left=len(found.due), again=context.now + RETRY if found.due else found.from_)
    reader = _Reader(context=context, chunks=CHUNKS_MAX)
    left = reader.read_all([one.name for one in found.due])
    if found.due and not context.dry_run:
        found = _unread_of(context)
        context.unread_waiting = found.waiting
    later = context.now + RETRY if reader.problems else context.now
    return StagePlan(
        left=left,
        problems=tuple(dict.fromkeys(reader.problems)),
        cost=reader.unjournaled,
        again=later if left else found.from_,
    )


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Reads conversations in one sleep pass.

    Attributes:
        context: the pass.
        chunks: how many chunks it may still read.
        problems: what failed.
        unjournaled: the cost of calls that led to nothing.
        pace: what the pass learnt of the mind.
    """

    context: SleepContext
    chunks: int
    problems: list[str] = field(default_factory=list)
    unjournaled: Cost = FREE
    pace: Pace = field(default_factory=lambda: Pace(others=True))

    def read_all(self, names: Sequence[str]) -> int:
        """Read the conversations in this order, until the mind does not answer; how many are still due."""
        left = 0
        for place, name in enumerate(names):
            if self.pace.answers is False or not self.chunks or self.context.time.is_over:
                return left + len(names) - place
            left += not self._read(name)
        return left

    def _read(self, name: str) -> bool:
        """Read a conversation; whether it is no longer due: everything due of it was read, or the mind failed at it and it pauses."""
        context = self.context
        self.pace.begin()
        while self.chunks and context.time.begin_step():
            read = planned(context.ports, name, self.pace)
            if read is None:
                return True
            self.pace.learn(read)
            self.chunks -= 1
            self.problems += read.result.problems
            if read.failed and not read.plan.groups:
                self.unjournaled += read.result.cost
                return False
            if not self._store(read):
                return False
            if context.dry_run:
                return read.failed or not read.chunk.more
            if name not in {one.name for one in _unread_of(context).due}:
                return True
        return False

    def _store(self, read: ChunkReading) -> bool:
        """Store a chunk unless it exceeds the budget of the pass, or others changed its memories meanwhile."""
        allowed = StagePlan(groups=read.plan.groups).limited(self.context.budget)
        self.problems += allowed.problems
        if not allowed.groups:
            self.unjournaled += read.result.cost
        return all(self.context.store(group, read.result.cost) for group in allowed.groups) and not allowed.left


WAITING: Final = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), flag=UNRECONCILED)
"""The live facts that wait for a mind, oldest first."""
BATCH = 20
"""How many waiting facts one pass decides about."""


def retry(context: SleepContext) -> StagePlan:
    """Reconcile waiting facts, a batch in each pass; they are changed in place. Those that a mind refuses pause for the day."""
    ports = context.ports
    waiting = context.select(WAITING)
    keys = [context.key_of_today([memory]) for memory in waiting]
    paused = ports.store.suppressed_keys(ports.scope, keys) if keys else ()
    facts = [memory for memory, key in zip(waiting, keys, strict=True) if key not in paused]
    again = context.tomorrow if paused else None
    if not facts or not context.think or not context.time.begin_step():
        return StagePlan(left=len(facts), again=again)
    groups: list[Group] = []
    problems: tuple[str, ...] = ()
    asked = _some(facts, context.now)
    cost, left = FREE, len(facts) - len(asked)
    for stated in (True, False):  # a distilled fact may change less of what a person stated
        batch = [memory for memory in asked if stated is not bool(memory.sources)]
        if batch:
            done = reconcile(
                ports, [as_fact(memory) for memory in batch], now=context.now, stated=stated, waiting=batch
            )
            because = f"{len(batch) - done.waiting} of {len(batch)} waiting facts were decided"
            groups += [Group(operations=done.operations, because=because)] if done.operations else []
            refused = [memory for memory in batch if memory.id in done.undecided]
            because = (
                f"{len(refused)} of {len(batch)} waiting facts have no verdict, and are asked about on the next day"
            )
            holds = tuple(Suppress(key=context.key_of_today([memory]), because=because) for memory in refused)
            if holds:
                groups.append(Group(operations=holds, because=because))
                again = context.tomorrow
            problems, cost = (*problems, *done.problems), cost + done.cost
            left += done.waiting - len(refused)
    context.taken.update(memory.id for memory in asked)
    context.taken.update(
        change.before.id for group in groups for change in group.operations if isinstance(change, Change)
    )
    return StagePlan(groups=tuple(groups), left=left, problems=problems, cost=cost, again=again)


def _some(facts: Sequence[Memory], now: datetime) -> Sequence[Memory]:
    """The facts of one pass: the oldest, or of many others in each hour, so that those a mind refuses do not block the rest."""
    if len(facts) <= BATCH:
        return facts
    hour = int(now.timestamp() // timedelta(hours=1).total_seconds())
    batches = -(-len(facts) // BATCH)
    start = hour % batches * BATCH
    return facts[start : start + BATCH]


def waiting(ports: Ports) -> list[Memory]:
    """The live facts that wait for a mind, oldest first."""
    return ports.store.select((ports.scope,), WAITING)


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
