"""Cascade: long conversations become summaries of their stretches, and those become eras; nothing is ever left out."""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.operation import Add, Advance, Change, Operation
from slowwave.model.plan import FREE, Cost, Group
from slowwave.model.query import Where
from slowwave.model.state import Conversation
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.pipelines.stretch import Writer
from slowwave.policy.cascade import ERA_SIZE, Era, Span, due_eras, due_spans
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


def cascade(night: Night) -> Staged:
    """Summarise what lies outside the immediate window of every conversation that is due, each stretch a run."""
    problems: list[str] = []
    cost, left, room = FREE, 0, SPANS
    for place, found in enumerate(night.ports.store.conversations(night.ports.scope)):
        due = len(spans_of(night.ports, found))
        if not due and (place >= LOOKED_AT or not _late_eras(night.ports, found)):
            continue
        if not night.think or room <= 0:
            left += max(1, due)
            continue
        done = compact(night, found.name, most=room)
        room -= max(1, done.written)
        left += done.left
        problems += done.problems
        cost += done.cost
    return Staged(left=left, problems=tuple(problems), cost=cost)


def compact(night: Night, name: str, *, force: bool = False, most: int = SPANS) -> Compacted:
    """Summarise what is due of one conversation; forced, also a shorter rest. Bounds are those of this moment.

    Each summary is stored, with the cursor that tells of it, before the next is thought of: whatever ends this, what
    was done stands and the rest stays due. Where this process is at it already, nothing is done.
    """
    ports = night.ports
    with _FLIGHTS.alone((ports.store.secret, ports.scope, name)) as alone:
        found = ports.store.conversation(ports.scope, name) if alone else None
        if found is None:
            return Compacted(busy=not alone)
        spans = spans_of(ports, found, force=force)
        return _Compacting(night, found).done(spans[:most], left=max(0, len(spans) - most))


def spans_of(ports: Ports, found: Conversation, *, force: bool = False) -> tuple[Span, ...]:
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


def _late_eras(ports: Ports, found: Conversation) -> tuple[Era, ...]:
    """Eras that are still to be written, because a mind failed at them."""
    return _due_eras(*_standing(ports, found.name)) if found.cursor(CURSOR) else ()


def _standing(ports: Ports, name: str) -> tuple[list[Memory], list[Memory]]:
    """Of the newest summaries, as many as the last frozen era, the next and its parts can be: depth 1, and eras."""
    where = Where(
        kinds=frozenset({SUMMARY}),
        phases=frozenset(HOT),
        conversation=name,
        cascade=True,
        order="newest",
        limit=2 * ERA_SIZE + 4,
    )
    found = [memory for memory in ports.store.select((ports.scope,), where) if memory.span]
    found.sort(key=_place)
    eras = [memory for memory in found if memory.depth > 1]
    frozen = max((_end(era) for era in eras if len(era.members) >= ERA_SIZE), default=0)
    return [m for m in found if m.depth == 1 and _end(m) > frozen], [era for era in eras if _end(era) > frozen]


def _due_eras(parts: Sequence[Memory], eras: Sequence[Memory]) -> tuple[Era, ...]:
    return due_eras([memory.span for memory in parts if memory.span], {era.span for era in eras if era.span})


def _place(memory: Memory) -> Span:
    return memory.span or (0, 0)


def _end(memory: Memory) -> int:
    return _place(memory)[1]


class _Compacting:
    """One conversation, worked through step by step. Stops at the first stretch that fails: spans leave no gap."""

    def __init__(self, night: Night, found: Conversation) -> None:
        self.night = night
        self.ports = night.ports
        self.found = found
        self.writer = Writer(ports=night.ports, now=night.now)
        self.start = self.cursor = found.cursor(CURSOR)
        self.turn = found.cursor(ERAS)
        self.parts, self.eras = _standing(night.ports, found.name)
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
        move = Advance(conversation=self.found.name, cursor=CURSOR, before=self.cursor, after=span[1], because=because)
        said = self._messages(span)
        add = self.writer.summary(said, span) if said else None
        if said and add is None:
            return False
        made: list[Operation] = [move]  # all of a stretch may have been taken back: there is nothing to say of it
        if add is not None:
            made.insert(0, add)
            self.parts.append(add.memory)
        due = _due_eras(self.parts, self.eras)
        eras = self._eras(due if last else [era for era in due if era.frozen])
        if not self._store(eras, made, because):
            return False
        self.cursor = span[1]
        self.written += 1
        if eras:
            self._log("Long-term summary updated (%d chars)", len(_first(eras).text))
        if add is not None:
            self._log("Short-term summary updated (%d chars)", len(add.memory.text))
        return True

    def _eras(self, due: Sequence[Era]) -> list[Operation]:
        """What writes these eras in place of those they have outgrown; one that a mind fails at is left out."""
        by_span = {memory.span: memory for memory in self.parts}
        operations: list[Operation] = []
        for era in due:
            add = self.writer.summary([by_span[span] for span in era.parts], era.span)
            if add is None:
                self.left_out.add(era.span)
                continue
            operations.append(add)
            operations += [self._outgrown(old, add) for old in self.eras if _place(old)[0] == era.span[0]]
            self.eras = [*(old for old in self.eras if _place(old)[0] != era.span[0]), add.memory]
        if operations:
            operations.append(
                Advance(
                    conversation=self.found.name,
                    cursor=ERAS,
                    before=self.turn,
                    after=self.turn + 1,
                    because="the eras are written anew",
                )
            )
        return operations

    def _outgrown(self, old: Memory, add: Add) -> Change:
        after = moved(old, "replace", self.ports.config, superseded_by=add.memory.id)
        return Change(before=old, after=after, because=add.because)

    def _store(self, eras: Sequence[Operation], made: Sequence[Operation], because: str) -> bool:
        operations = (*eras, *made)
        if not operations or not self.night.keep(Group(operations=operations, because=because), self._unpaid()):
            return False
        self.paid = self.writer.cost
        written = [one for one in operations if isinstance(one, Add) and one.memory.depth > 1]
        self.turn += bool(written)
        self.eras_written += len(written)
        self._freeze()
        return True

    def _freeze(self) -> None:
        """Eras that are full are looked at no more."""
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

    def _messages(self, span: Span) -> list[Memory]:
        where = Where(
            kinds=frozenset({MESSAGE}),
            conversation=self.found.name,
            after_seq=span[0] - 1,
            until_seq=span[1],
            order="seq",
        )
        shown = self.ports.store.select((self.ports.scope,), where)
        return [memory for memory in shown if memory.phase not in {"quarantined", "retracted"}]

    def _told(self) -> None:
        if self.writer.problems:
            log.warning("[Memory] %s: Compaction waits (%s)", self.found.name, self.writer.problems[-1])
        elif self.written or self.eras_written:
            self._log("Compaction complete (%s)", "waterfall" if self.eras_written else "first summary")

    def _log(self, words: str, *values: object) -> None:
        log.info(f"[Memory] %s: {words}", self.found.name, *values)  # noqa: G004 - the words are ours


def _first(operations: Sequence[Operation]) -> Memory:
    return next(one.memory for one in operations if isinstance(one, Add))


class _Flights:
    """Which conversations of which stores this process is summarising: of several who try, one does it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: set[tuple[bytes, str, str]] = set()

    @contextmanager
    def alone(self, what: tuple[bytes, str, str]) -> Iterator[bool]:
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


_FLIGHTS: Final = _Flights()
