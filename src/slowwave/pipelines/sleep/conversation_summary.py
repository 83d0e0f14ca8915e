"""Cascade: long conversations become summaries of their stretches, and those become eras; nothing is ever left out."""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from slowwave import forks
from slowwave.model.codec import content_key
from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.operations import Add, Change, MoveCursor, Operation, Suppress
from slowwave.model.plan import FREE, Cost, Group
from slowwave.model.query import Where
from slowwave.model.status import Conversation
from slowwave.pipelines.planning import transition
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.pipelines.sleep.summary_writer import SummaryWriter
from slowwave.policy.summaries.spans import ERA_SIZE, Era, Span, due_eras, due_spans
from slowwave.ports import Ports

CURSOR = "cascade"
"""The last message that stands in a summary."""
ERAS = "cascade/eras"
"""How often an era was written: of two who write the same one, the second finds it moved."""
SPANS = 32
"""How many stretches one night summarises; the rest is left for the next."""
LOOKED_AT = 200
"""In how many conversations, those written to last, a night looks for an era that a mind failed at."""

log = logging.getLogger("slowwave")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What became of one conversation: how many stretches and eras were written, and how many are left."""

    written: int = 0
    eras: int = 0
    left: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    busy: bool = False


def cascade(context: SleepContext) -> StagePlan:
    """Summarise what lies outside the immediate window of every conversation that is due, each stretch a run."""
    problems: list[str] = []
    cost, left, room = FREE, 0, SPANS
    for place, found in enumerate(context.ports.store.conversations(context.ports.scope)):
        due = len(spans_to_summarise(context.ports, found))
        if not due and (place >= LOOKED_AT or not unwritten_eras(context.ports, found)):
            continue
        if not context.think or room <= 0:
            left += max(1, due)
            continue
        done = compact(context, found.name, most=room)
        room -= max(1, done.written)
        left += done.left
        problems += done.problems
        cost += done.cost
    return StagePlan(left=left, problems=tuple(problems), cost=cost)


def compact(context: SleepContext, name: str, *, force: bool = False, most: int = SPANS) -> Compacted:
    """Summarise what is due of one conversation. Bounds are those of this moment.

    Forced, also a shorter rest, and anew what a person took back: stretches that stand in no summary any more, in the
    same words if need be.

    Each summary is stored, with the cursor that tells of it, before the next is thought of: whatever ends this, what
    was done stands and the rest stays due. Where this process is at it already, nothing is done.
    """
    ports = context.ports
    with _FLIGHTS.claim((ports.store.secret, ports.scope, name)) as alone:
        found = ports.store.conversation(ports.scope, name) if alone else None
        if found is None:
            return Compacted(busy=not alone)
        spans = spans_to_summarise(ports, found, force=force)
        if force:
            spans = (*unsummarised_spans(ports, found), *spans)
        return _Compacting(context, found, anew=force).done(spans[:most], left=max(0, len(spans) - most))


def spans_to_summarise(ports: Ports, found: Conversation, *, force: bool = False) -> tuple[Span, ...]:
    """The stretches of a conversation that are due, in order."""
    if not found.name:
        return ()
    return due_spans(
        found.last_seq,
        found.cursor(CURSOR),
        immediate_window=ports.config.immediate_window,
        recent_window=ports.config.recent_window,
        force=force,
    )


def unsummarised_spans(ports: Ports, found: Conversation) -> tuple[Span, ...]:
    """The stretches before the cursor that stand in no summary, though they have something to summarise.

    So it is where a person took back a summary and not those after it; each is cut as it would have been at first.
    """
    parts, _ = _standing(ports, found.name, whole=True)
    ends = [(0, 0), *map(_place, parts), (found.cursor(CURSOR) + 1, 0)]
    between = [(before[1], after[0] - 1) for before, after in pairwise(ends)]
    window = ports.config.recent_window
    cut = [due_spans(last, end, immediate_window=0, recent_window=window, force=True) for end, last in between]
    return tuple(span for spans in cut for span in spans if summarisable_messages(ports, found.name, span))


def summarisable_messages(ports: Ports, name: str, span: Span) -> list[Memory]:
    """The messages of a stretch that may be told of."""
    where = Where(kinds=frozenset({MESSAGE}), conversation=name, after_seq=span[0] - 1, until_seq=span[1], order="seq")
    shown = ports.store.select((ports.scope,), where)
    return [memory for memory in shown if memory.phase not in {"quarantined", "retracted"}]


def unwritten_eras(ports: Ports, found: Conversation) -> tuple[Era, ...]:
    """Eras that are still to be written, because a mind failed at them."""
    return _due_eras(*_standing(ports, found.name)) if found.cursor(CURSOR) else ()


def _standing(ports: Ports, name: str, *, whole: bool = False) -> tuple[list[Memory], list[Memory]]:
    """The summaries that eras are still made of, those of depth 1 up to the first hole, and these eras.

    Of the newest, as many as the last frozen era, the next and its parts can be. The `whole` of them has every summary,
    also what is frozen and what comes after a hole.
    """
    where = Where(
        kinds=frozenset({SUMMARY}),
        phases=frozenset(HOT),
        conversation=name,
        cascade=True,
        order="newest",
        limit=None if whole else 2 * ERA_SIZE + 4,
    )
    found = [memory for memory in ports.store.select((ports.scope,), where) if memory.span]
    found.sort(key=_place)
    eras = [memory for memory in found if memory.depth > 1]
    parts = [memory for memory in found if memory.depth == 1]
    if whole:
        return parts, eras
    frozen = max((_end(era) for era in eras if len(era.members) >= ERA_SIZE), default=0)
    parts = [memory for memory in parts if _end(memory) > frozen]
    return contiguous_summaries(ports, name, parts, frozen), [era for era in eras if _end(era) > frozen]


def contiguous_summaries(ports: Ports, name: str, parts: Sequence[Memory], end: int) -> list[Memory]:
    """The summaries up to the first stretch without one: an era speaks of all between its ends."""
    kept: list[Memory] = []
    for memory in parts:
        first, last = _place(memory)
        if first > end + 1 and summarisable_messages(ports, name, (end + 1, first - 1)):
            break
        kept.append(memory)
        end = last
    return kept


def _due_eras(parts: Sequence[Memory], eras: Sequence[Memory]) -> tuple[Era, ...]:
    """Those that stand as they are are not due: an era that lacks a part which has come since is."""
    ids = {memory.id: _place(memory) for memory in parts}
    written = {
        era.span
        for era in eras
        if era.span and set(era.members) == {one for one, span in ids.items() if era.span[0] <= span[0] <= era.span[1]}
    }
    return due_eras(list(ids.values()), written)


def _place(memory: Memory) -> Span:
    return memory.span or (0, 0)


def _end(memory: Memory) -> int:
    return _place(memory)[1]


class _Compacting:
    """One conversation, worked through step by step. Stops at the first stretch that fails: spans leave no gap."""

    def __init__(self, context: SleepContext, found: Conversation, *, anew: bool) -> None:
        self.context = context
        self.ports = context.ports
        self.found = found
        self.anew = anew
        self.writer = SummaryWriter(ports=context.ports, now=context.now, anew=anew)
        self.start = self.cursor = found.cursor(CURSOR)
        self.turn = found.cursor(ERAS)
        self.parts, self.eras = _standing(context.ports, found.name, whole=anew)
        self.written = self.eras_written = 0
        self.paid = FREE
        self.left_out: set[Span] = set()

    def done(self, spans: Sequence[Span], *, left: int) -> Compacted:
        """All of it, as far as it goes."""
        late = _due_eras(self.parts, self.eras)
        if spans or late:
            config = self.ports.config
            told = self.found.last_seq, config.immediate_window, config.recent_window
            self._log("Starting compaction (%d memories, %d immediate, %d recent)", *told)
            for span in spans:
                if self._overtaken() or not self._step(span, last=span == spans[-1]):
                    break
            if not spans:
                self._store([], self._eras(late), f"{len(late)} eras of {self.found.name} written at last")
            self._told()
        eras_left = len([era for era in _due_eras(self.parts, self.eras) if era.span in self.left_out])
        return Compacted(
            written=self.written,
            eras=self.eras_written,
            left=left + len(spans) - self.written + eras_left,
            problems=tuple(self.writer.problems),
            cost=self._unpaid(),
        )

    def _overtaken(self) -> bool:
        """Whether somebody else has come further: then no model is asked."""
        stored = self.ports.store.conversation(self.ports.scope, self.found.name)
        return stored is None or stored.cursor(CURSOR) not in {self.start, self.cursor}

    def _step(self, span: Span, *, last: bool) -> bool:
        """One stretch, and at the last of them, or where an era becomes full, the eras that it completes or extends."""
        because = f"messages {span[0]} to {span[1]} of {self.found.name} in fewer words"
        spoken = summarisable_messages(self.ports, self.found.name, span)
        add = self.writer.summary(spoken, span) if spoken else None
        if spoken and add is None:
            return False
        made: list[Operation] = []  # all of a stretch may have been taken back: there is nothing to say of it
        if add is not None:
            made += [add, *self._let_go(add)]
            self._take_in(add.memory)
        end = max(span[1], self.cursor)
        if end > self.cursor:
            name = self.found.name
            made.append(MoveCursor(conversation=name, cursor=CURSOR, before=self.cursor, after=end, because=because))
        due = _due_eras(self.parts, self.eras)
        eras = self._eras(due if last else [era for era in due if era.frozen])
        if end == self.cursor and not eras:
            made.append(self._turned("a summary that was taken back is written anew"))
        if not self._store(eras, made, because):
            return False
        self.cursor = end
        self.written += 1
        if eras:
            self._log("Long-term summary updated (%d chars)", len(_first(eras).text))
        if add is not None:
            self._log("Short-term summary updated (%d chars)", len(add.memory.text))
        return True

    def _take_in(self, memory: Memory) -> None:
        """One summary more that eras are made of, unless it comes after a hole."""
        end = _place(self.parts[0])[0] - 1 if self.parts else self.start
        parts = sorted([*self.parts, memory], key=_place)
        self.parts = parts if self.anew else contiguous_summaries(self.ports, self.found.name, parts, end)

    def _eras(self, due: Sequence[Era]) -> list[Operation]:
        """What writes these eras in place of those they have outgrown; one that a mind fails at is left out."""
        by_span = {memory.span: memory for memory in self.parts}
        operations: list[Operation] = []
        for era in due:
            add = self.writer.summary([by_span[span] for span in era.parts], era.span)
            if add is None:
                self.left_out.add(era.span)
                continue
            operations += [add, *self._let_go(add)]
            outgrown = [old for old in self.eras if _place(old)[0] <= era.span[1] and _end(old) >= era.span[0]]
            operations += [self._outgrown(old, add) for old in outgrown]
            self.eras = [*(old for old in self.eras if old not in outgrown), add.memory]
        if operations:
            operations.append(self._turned("the eras are written anew"))
        return operations

    def _turned(self, because: str) -> MoveCursor:
        """Of two who write the same past anew, the second finds this moved."""
        name = self.found.name
        return MoveCursor(conversation=name, cursor=ERAS, before=self.turn, after=self.turn + 1, because=because)

    def _let_go(self, add: Add) -> list[Operation]:
        """Words that a person took back and now asks for are not held any longer."""
        key = content_key(add.memory.text)
        held = self.anew and self.ports.store.suppressed_keys(self.ports.scope, [key])
        return [Suppress(key=key, on=False, because="a person asked for it again")] if held else []

    def _outgrown(self, old: Memory, add: Add) -> Change:
        after = transition(old, "replace", self.ports.config, superseded_by=add.memory.id)
        return Change(before=old, after=after, because=add.because)

    def _store(self, eras: Sequence[Operation], made: Sequence[Operation], because: str) -> bool:
        operations = (*eras, *made)
        group = Group(operations=operations, because=because, conversations=(self.found.name,))
        if not operations or not self.context.store_group(group, self._unpaid()):
            return False
        self.paid = self.writer.cost
        written = [one for one in operations if isinstance(one, Add) and one.memory.depth > 1]
        self.turn += sum(isinstance(one, MoveCursor) and one.cursor == ERAS for one in operations)
        self.eras_written += len(written)
        self._freeze()
        return True

    def _freeze(self) -> None:
        """Eras that are full are looked at no more, unless the past is written anew."""
        if self.anew:
            return
        frozen = max((_end(era) for era in self.eras if len(era.members) >= ERA_SIZE), default=0)
        self.parts = [memory for memory in self.parts if _end(memory) > frozen]
        self.eras = [era for era in self.eras if _end(era) > frozen]

    def _unpaid(self) -> Cost:
        """What thinking has cost since the last summary was stored."""
        spent, paid = self.writer.cost, self.paid
        return Cost(
            calls=spent.calls - paid.calls,
            tokens_in=spent.tokens_in - paid.tokens_in,
            tokens_out=spent.tokens_out - paid.tokens_out,
            money=spent.money - paid.money,
            seconds=spent.seconds - paid.seconds,
        )

    def _told(self) -> None:
        if self.writer.problems:
            log.warning("[Memory] %s: Compaction waits (%s)", self.found.name, self.writer.problems[-1])
        elif self.written or self.eras_written:
            self._log("Compaction complete (%s)", "waterfall" if self.eras_written else "first summary")

    def _log(self, words: str, *values: object) -> None:
        log.info(f"[Memory] %s: {words}", self.found.name, *values)  # noqa: G004 - the words are ours


def _first(operations: Sequence[Operation]) -> Memory:
    return next(one.memory for one in operations if isinstance(one, Add))


class InProgress:
    """Which conversations of which stores this process is summarising: of several who try, one does it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: set[tuple[bytes, str, str]] = set()
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: its parent's threads summarise nothing here."""
        self._lock = threading.Lock()
        self._under_way = set()

    @contextmanager
    def claim(self, what: tuple[bytes, str, str]) -> Iterator[bool]:
        """Whether nobody else is at it, and until the end nobody else will be."""
        with self._lock:
            free = what not in self._under_way
            self._under_way |= {what}
        try:
            yield free
        finally:
            if free:
                with self._lock:
                    self._under_way.discard(what)


_FLIGHTS: Final = InProgress()
