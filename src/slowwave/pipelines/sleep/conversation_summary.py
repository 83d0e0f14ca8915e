"""Summarises long conversations: stretches of messages first (depth 1), then eras, which summarise stretches (depth 2).

The stretches of a conversation have no gap and no overlap. A stretch that cannot be summarised stays due, and none
after it is summarised before it.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Final

from slowwave import forks
from slowwave.model.codec import content_key
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operations import Add, Change, MoveCursor, Operation, Suppress
from slowwave.model.plan import FREE, Cost, Group
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.pipelines.conversations import NEWEST_SUMMARIES, conversation_summaries
from slowwave.pipelines.planning import transition
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.pipelines.sleep.summary_writer import SummaryWriter
from slowwave.policy.summaries.spans import ERA_SIZE, Era, Span, due_eras, due_spans
from slowwave.ports import Ports

CURSOR = "cascade"
"""The cursor of the last message that is in a summary."""
ERAS = "cascade/eras"
"""The cursor that counts writes of eras: of two processes that write the same era, the second finds it moved."""
SPANS = 32
"""How many stretches one sleep pass summarises; the others stay due."""
LOOKED_AT = 200
"""In how many of the latest conversations a sleep pass looks for an era at which a mind failed."""

log = logging.getLogger("slowwave")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What was done for one conversation.

    Attributes:
        written: how many stretches were summarised.
        eras: how many eras were written.
        left: how many stretches and eras are still due.
        problems: why something was not written.
        cost: what models cost since the last summary was stored.
        busy: whether another thread of this process is summarising the conversation, so that nothing was done.
    """

    written: int = 0
    eras: int = 0
    left: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    busy: bool = False


def cascade(context: SleepContext) -> StagePlan:
    """Summarise the messages before the immediate window of every conversation that is due; each stretch is a run."""
    ports = context.ports
    problems: list[str] = []
    cost, left, remaining = FREE, 0, SPANS
    for place, conversation in enumerate(context.state.conversations):
        due = len(spans_to_summarise(ports, conversation))
        if not due and (place >= LOOKED_AT or not unwritten_eras(ports, conversation)):
            continue
        if not context.think or remaining <= 0 or context.time.is_over:
            left += max(1, due)
            continue
        result = compact(context, conversation.name, most=remaining)
        remaining -= max(1, result.written)
        left += result.left
        problems += result.problems
        cost += result.cost
    return StagePlan(left=left, problems=tuple(problems), cost=cost)


def compact(context: SleepContext, name: str, *, force: bool = False, most: int = SPANS) -> Compacted:
    """Summarise what is due of one conversation at this moment.

    Each summary is stored in one transaction with the move of its cursor before the next one is written. A crash
    therefore loses at most one summary, and the rest stays due. If another thread of this process is summarising the
    conversation, nothing is done.

    Args:
        context: the sleep pass, or the context of a command.
        name: the conversation.
        force: also summarise a rest that is shorter than the recent window, and summarise again the stretches whose
            summary a person retracted, in the same words if need be.
        most: how many stretches to summarise.
    """
    ports = context.ports
    with _FLIGHTS.claim((ports.store.secret, ports.scope, name)) as claimed:
        conversation = ports.store.conversation(ports.scope, name) if claimed else None
        if conversation is None:
            return Compacted(busy=not claimed)
        spans = spans_to_summarise(ports, conversation, force=force)
        if force:
            spans = (*unsummarised_spans(ports, conversation), *spans)
        compacting = _Compacting(context, conversation, rewrite=force)
        return compacting.run(spans[:most], left=max(0, len(spans) - most))


def spans_to_summarise(ports: Ports, found: ConversationState, *, force: bool = False) -> tuple[Span, ...]:
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


def unsummarised_spans(ports: Ports, found: ConversationState) -> tuple[Span, ...]:
    """The stretches before the cursor that are in no summary and have messages to summarise.

    They exist where a person took back a summary but not the ones after it. Each is cut as it was cut at first.
    """
    stretches, _ = _all_summaries(ports, found.name)
    ends = [(0, 0), *map(_span, stretches), (found.cursor(CURSOR) + 1, 0)]
    gaps = [(before[1], after[0] - 1) for before, after in pairwise(ends)]
    window = ports.config.recent_window
    cut = [due_spans(last, end, immediate_window=0, recent_window=window, force=True) for end, last in gaps]
    return tuple(span for spans in cut for span in spans if summarisable_messages(ports, found.name, span))


def summarisable_messages(ports: Ports, name: str, span: Span) -> list[Memory]:
    """The messages of a stretch that a summary may contain: not those under review, and not retracted ones."""
    where = Where(kinds=frozenset({MESSAGE}), conversation=name, after_seq=span[0] - 1, until_seq=span[1], order="seq")
    messages = ports.store.select((ports.scope,), where)
    return [message for message in messages if message.phase not in {"quarantined", "retracted"}]


def unwritten_eras(ports: Ports, found: ConversationState) -> tuple[Era, ...]:
    """The eras that are due although no stretch is: a mind failed at them."""
    return _due_eras(*_open_summaries(ports, found.name)) if found.cursor(CURSOR) else ()


def _all_summaries(ports: Ports, name: str, limit: int | None = None) -> tuple[list[Memory], list[Memory]]:
    """The summaries of stretches and of eras, each in the order of their spans; of more than `limit` the newest."""
    summaries = [memory for memory in conversation_summaries(ports, name, limit) if memory.span]
    summaries.sort(key=_span)
    stretches = [memory for memory in summaries if memory.depth == 1]
    return stretches, [memory for memory in summaries if memory.depth > 1]


def _open_summaries(ports: Ports, name: str) -> tuple[list[Memory], list[Memory]]:
    """The summaries of stretches that may still join an era, up to the first gap, and the eras that may still change."""
    stretches, eras = _all_summaries(ports, name, NEWEST_SUMMARIES)
    end = _end_of_full_eras(eras)
    stretches = [memory for memory in stretches if _end(memory) > end]
    return contiguous_summaries(ports, name, stretches, end), [era for era in eras if _end(era) > end]


def contiguous_summaries(ports: Ports, name: str, parts: Sequence[Memory], end: int) -> list[Memory]:
    """The summaries up to the first stretch that has none: an era must cover everything between its ends."""
    contiguous: list[Memory] = []
    for memory in parts:
        first, last = _span(memory)
        if first > end + 1 and summarisable_messages(ports, name, (end + 1, first - 1)):
            break
        contiguous.append(memory)
        end = last
    return contiguous


def _due_eras(stretches: Sequence[Memory], eras: Sequence[Memory]) -> tuple[Era, ...]:
    """The eras to write. One that is stored is due again if a stretch of it has been summarised since."""
    spans = {memory.id: _span(memory) for memory in stretches}
    complete = {
        era.span
        for era in eras
        if era.span
        and set(era.members) == {key for key, span in spans.items() if era.span[0] <= span[0] <= era.span[1]}
    }
    return due_eras(list(spans.values()), complete)


def _end_of_full_eras(eras: Sequence[Memory]) -> int:
    """The last message of the eras that are full: they and their stretches change no more."""
    return max((_end(era) for era in eras if len(era.members) >= ERA_SIZE), default=0)


def _span(memory: Memory) -> Span:
    return memory.span or (0, 0)


def _end(memory: Memory) -> int:
    return _span(memory)[1]


class _Compacting:
    """Summarises one conversation step by step. Stops at the first stretch that fails, so that no gap remains.

    With `rewrite`, summaries are also written again that a person took back, and full eras may change.
    """

    def __init__(self, context: SleepContext, conversation: ConversationState, *, rewrite: bool) -> None:
        self.context = context
        self.ports = context.ports
        self.name = conversation.name
        self.last_seq = conversation.last_seq
        self.rewrite = rewrite
        self.writer = SummaryWriter(ports=context.ports, now=context.now, restoring=rewrite)
        self.start = self.cursor = conversation.cursor(CURSOR)
        self.era_writes = conversation.cursor(ERAS)
        load = _all_summaries if rewrite else _open_summaries
        self.stretches, self.eras = load(context.ports, conversation.name)
        self.written = self.eras_written = 0
        self.journaled_cost = FREE
        self.failed_eras: set[Span] = set()

    def run(self, spans: Sequence[Span], *, left: int) -> Compacted:
        """Summarise these stretches, or write the eras at which a mind failed before; `left` stretches remain due."""
        failed_before = _due_eras(self.stretches, self.eras)
        if spans or failed_before:
            config = self.ports.config
            windows = config.immediate_window, config.recent_window
            self._log("Starting compaction (%d memories, %d immediate, %d recent)", self.last_seq, *windows)
            for span in spans:
                if (
                    self._is_overtaken()
                    or not self.context.time.begin_step()
                    or not self._summarise(span, last=span == spans[-1])
                ):
                    break
            if not spans:
                because = f"{len(failed_before)} eras of {self.name} written, which had failed before"
                self._store(self._era_operations(failed_before), [], because)
            self._log_result()
        eras_left = sum(era.span in self.failed_eras for era in _due_eras(self.stretches, self.eras))
        return Compacted(
            written=self.written,
            eras=self.eras_written,
            left=left + len(spans) - self.written + eras_left,
            problems=tuple(self.writer.problems),
            cost=self._unjournaled_cost(),
        )

    def _is_overtaken(self) -> bool:
        """Whether another process has moved the cursor: then no model is asked."""
        stored = self.ports.store.conversation(self.ports.scope, self.name)
        return stored is None or stored.cursor(CURSOR) not in {self.start, self.cursor}

    def _summarise(self, span: Span, *, last: bool) -> bool:
        """Store the summary of one stretch, with the eras that are due; False if it stays due.

        Unfinished eras are written with the last stretch only, because each further stretch would change them.
        """
        because = f"messages {span[0]} to {span[1]} of {self.name} in fewer words"
        messages = summarisable_messages(self.ports, self.name, span)
        summary = self.writer.summary(messages, span) if messages else None
        if messages and summary is None:
            return False
        operations: list[Operation] = []  # stays empty if all messages were retracted
        if summary is not None:
            operations += [summary, *self._release_hold(summary)]
            self._add_stretch(summary.memory)
        end = max(span[1], self.cursor)
        if end > self.cursor:
            operations.append(
                MoveCursor(conversation=self.name, cursor=CURSOR, before=self.cursor, after=end, because=because)
            )
        due = _due_eras(self.stretches, self.eras)
        eras = self._era_operations(due if last else [era for era in due if era.frozen])
        if end == self.cursor and not eras:
            operations.append(self._count_write("a retracted summary is written again"))
        if not self._store(eras, operations, because, messages):
            return False
        self.cursor = end
        self.written += 1
        if eras:
            text = next(operation.memory.text for operation in eras if isinstance(operation, Add))
            self._log("Long-term summary updated (%d chars)", len(text))
        if summary is not None:
            self._log("Short-term summary updated (%d chars)", len(summary.memory.text))
        return True

    def _add_stretch(self, summary: Memory) -> None:
        """Count a new summary among those that may join an era, unless a gap lies before it."""
        end = _span(self.stretches[0])[0] - 1 if self.stretches else self.start
        stretches = sorted([*self.stretches, summary], key=_span)
        if not self.rewrite:
            stretches = contiguous_summaries(self.ports, self.name, stretches, end)
        self.stretches = stretches

    def _era_operations(self, due: Sequence[Era]) -> list[Operation]:
        """The operations that write these eras and replace those that they overlap; one at which a mind fails is left out."""
        by_span = {memory.span: memory for memory in self.stretches}
        operations: list[Operation] = []
        for era in due:
            add = self.writer.summary([by_span[span] for span in era.parts], era.span)
            if add is None:
                self.failed_eras.add(era.span)
                continue
            operations += [add, *self._release_hold(add)]
            replaced = [old for old in self.eras if _span(old)[0] <= era.span[1] and _end(old) >= era.span[0]]
            for old in replaced:
                after = transition(old, "replace", self.ports.config, superseded_by=add.memory.id)
                operations.append(Change(before=old, after=after, because=add.because))
            self.eras = [*(old for old in self.eras if old not in replaced), add.memory]
        if operations:
            operations.append(self._count_write("the eras are written again"))
        return operations

    def _count_write(self, because: str) -> MoveCursor:
        """Move the cursor `ERAS`, so that the store refuses a second process that writes the same summaries."""
        before = self.era_writes
        return MoveCursor(conversation=self.name, cursor=ERAS, before=before, after=before + 1, because=because)

    def _release_hold(self, add: Add) -> list[Operation]:
        """Let words return that a person took back and now asks for."""
        key = content_key(add.memory.text)
        held = self.rewrite and self.ports.store.suppressed_keys(self.ports.scope, [key])
        return [Suppress(key=key, on=False, because="a person asked for it again")] if held else []

    def _store(
        self, eras: Sequence[Operation], stretch: Sequence[Operation], because: str, messages: Sequence[Memory] = ()
    ) -> bool:
        """Store the operations in one transaction; False if there are none, or if they no longer apply.

        `messages` are those that the stretch summarises.
        """
        operations, read = (*eras, *stretch), tuple(message.id for message in messages)
        group = Group(operations=operations, because=because, conversations=(self.name,), rests_on=read)
        if operations:
            self.context.stored_something()
        if not operations or not self.context.store_group(group, self._unjournaled_cost()):
            return False
        self.journaled_cost = self.writer.cost
        self.era_writes += sum(isinstance(step, MoveCursor) and step.cursor == ERAS for step in operations)
        self.eras_written += sum(isinstance(step, Add) and step.memory.depth > 1 for step in operations)
        if not self.rewrite:
            end = _end_of_full_eras(self.eras)
            self.stretches = [memory for memory in self.stretches if _end(memory) > end]
            self.eras = [era for era in self.eras if _end(era) > end]
        return True

    def _unjournaled_cost(self) -> Cost:
        """What models have cost since the last summary was stored."""
        spent, journaled = self.writer.cost, self.journaled_cost
        return Cost(
            calls=spent.calls - journaled.calls,
            tokens_in=spent.tokens_in - journaled.tokens_in,
            tokens_out=spent.tokens_out - journaled.tokens_out,
            money=spent.money - journaled.money,
            seconds=spent.seconds - journaled.seconds,
        )

    def _log_result(self) -> None:
        if self.writer.problems:
            log.warning(
                "[Memory] %s: Compaction waits: `health` and the report of the pass say why", self._shown_name()
            )
        elif self.written or self.eras_written:
            self._log("Compaction complete (%s)", "waterfall" if self.eras_written else "first summary")

    def _log(self, words: str, *values: object) -> None:
        log.info(f"[Memory] %s: {words}", self._shown_name(), *values)  # noqa: G004 - the words are ours

    def _shown_name(self) -> str:
        """A keyed hash of the conversation's name: no erase reaches a log, so it holds no names."""
        return blake2b(
            self.name.encode("utf-8", "surrogatepass"), key=self.ports.store.secret[:64], digest_size=4
        ).hexdigest()


class InProgress:
    """The conversations that threads of this process are summarising, so that no two summarise the same one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: set[tuple[bytes, str, str]] = set()
        forks.watch(self)

    def after_fork(self) -> None:
        """Forget the claims of the parent's threads: they do not run in a forked child."""
        self._lock = threading.Lock()
        self._under_way = set()

    @contextmanager
    def claim(self, what: tuple[bytes, str, str]) -> Iterator[bool]:
        """Yield whether the conversation was free; until the end of the block no other thread can claim it."""
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
