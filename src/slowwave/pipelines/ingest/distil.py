"""Distils conversations: reads them from their cursors, and checks each proposed fact against its quote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slowwave.errors import ModelError
from slowwave.model.counted import counted
from slowwave.model.memory import Memory, SourceRef
from slowwave.model.mind import Fact, MindAnswer, Rejected, Transcript
from slowwave.model.operations import RejectFact
from slowwave.model.plan import FREE, Cost, Group, Plan, Receipt, cost_of
from slowwave.model.progress import DISTIL_CURSOR, FailedReading
from slowwave.model.status import ConversationState
from slowwave.pipelines.conversations import idle_from
from slowwave.pipelines.ingest.chunks import (
    MESSAGES,
    Chunk,
    is_partly_read,
    next_chunk,
    read_again,
    released_messages,
    transcript,
    unreadable_messages,
)
from slowwave.pipelines.ingest.reconcile import ReconcileResult, reconcile
from slowwave.pipelines.planning import TRIES, new_id, record_unapplied_cost
from slowwave.pipelines.work_time import WorkTime
from slowwave.policy.guard.grounding import ground, trust_sources
from slowwave.policy.guard.redaction import hollow, redact
from slowwave.policy.guard.trust import least
from slowwave.ports import Ports, Progress

MANY = 10
"""From how many messages a note says that a model found no fact in them; an empty list is an answer, not a failure."""
_HELLO = "Hello there."
REFUSED_KEPT = 100
"""How many refused facts of one chunk the journal keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFew:
    """How many messages are unread, where that is less than the configured minimum."""

    unread: int
    minimum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult:
    """What a consolidation did.

    `facts` are those that were added or changed. `skipped_reason` is None if everything due was read, else why not, such
    as the error of the model; then the messages stay due. `undo` of `run_id` undoes all chunks. `waiting` counts the
    facts that wait for a model, which the next sleep pass asks again. `about` holds the notes about each fact, by its id.
    `too_few` is set if nothing was read because too few messages are unread and the conversation goes on. Of a consolidation
    of all conversations, `conversations` are those that were read, and `left` has the reason for each one that was not, by
    name; `by_conversation` has the result of each.
    """

    facts: tuple[Memory, ...] = ()
    raw_text: str = ""
    skipped_reason: str | None = None
    run_id: str | None = None
    cost: Cost = FREE
    rejected: tuple[Rejected, ...] = ()
    waiting: int = 0
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    about: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    receipts: tuple[Receipt, ...] = field(default=(), repr=False)
    too_few: TooFew | None = field(default=None, repr=False)
    conversations: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    by_conversation: Mapping[str, "ConsolidationResult"] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        reason = f"; {self.skipped_reason}" if self.skipped_reason else ""
        waits = f"; {self.waiting} of them wait for a model, sleep asks again" if self.waiting else ""
        lines = [f"{counted(len(self.facts), 'fact')}, {len(self.rejected)} refused{waits}{reason}"]
        for fact in self.facts:
            lines.append(f"  [{fact.category}] {fact.text} ({fact.confidence:.2f})")
            lines += [f"    {note}" for note in self.about.get(fact.id, ())]
        of_facts = {note for notes in self.about.values() for note in notes}
        lines += [f"  {note}" for note in dict.fromkeys(self.notes) if note not in of_facts]
        lines += [f"  refused {rejected.text!r}: {rejected.reason}" for rejected in self.rejected]
        return "\n".join(lines)


def consolidate(
    ports: Ports,
    conversation: str | None,
    *,
    force: bool = False,
    parent: str | None = None,
    on_progress: Progress | None = None,
    time: WorkTime | None = None,
    pace: "Pace | None" = None,
) -> ConsolidationResult:
    """Distil what is new in a conversation and reconcile it with what is known.

    The facts of a chunk are stored in one transaction with the move of the cursor. If the model fails, the rest stays
    due.

    Args:
        ports: the store, the mind, the embedder and the settings.
        conversation: its name; None: the one written to last.
        force: also read a conversation that goes on and has fewer unread messages than `Config.min_messages`.
        parent: the run that all chunks are parts of; None: a run of their own.
        on_progress: called after each chunk with the number of messages that were read, and of all to read.
        time: when it is over, no further chunk is read; None: `Config.work_seconds` from now.
        pace: what was learnt of the mind in other conversations; None: nothing.
    """
    time = time or WorkTime(ports.config.work_seconds)
    found = _conversation(ports, conversation)
    if found is not None:
        parent = _read_again(ports, found.name, parent, by_any=force)
    unread = ports.store.unread(ports.scope, found.name).get(found.name, 0) if found else 0
    released = found is not None and bool(released_messages(ports, found.name))
    if found is None or (unread == 0 and not released):
        return ConsolidationResult(skipped_reason="no new messages")
    minimum, now = ports.config.min_messages, ports.now()
    enough = force or unread >= minimum or is_partly_read(found) or idle_from(ports, found, now) <= now
    if not enough and not released:
        return ConsolidationResult(
            skipped_reason=f"{counted(unread, 'unread message')} of a conversation that goes on, fewer than "
            f"min_messages={minimum}: end it, or pass force=True",
            too_few=TooFew(unread=unread, minimum=minimum),
        )
    until = found.last_seq if enough else 0
    results: list[ConsolidationResult] = []
    pace = pace or Pace()
    pace.begin()
    while time.begin_step() and (read := planned(ports, found.name, pace, until=until)) is not None:
        if parent is None and not results and read.chunk.more:
            parent = new_id(ports.now())  # the parent of the runs of all chunks
        results.append(_applied(ports, read, parent, pace))  # either a cursor moves, or there is a reason to stop
        pace.learn(read)
        if on_progress:
            on_progress(read.chunk.position - found.cursor(DISTIL_CURSOR), max(unread, 1))
        if results[-1].skipped_reason:
            break
    joined = _joined(results, parent)
    if time.is_over and not joined.skipped_reason and _due_chunk(ports, found.name, until) is not None:
        joined = replace(joined, skipped_reason=str(time))
    return joined


def _read_again(ports: Ports, name: str, parent: str | None, *, by_any: bool) -> str | None:
    """Let messages be due again that another mind, or with `by_any` any, could not read. Returns the parent of the run."""
    changes = read_again(ports, unreadable_messages(ports, name), by_any=by_any)
    if not changes:
        return parent
    now = ports.now()
    parent = parent or new_id(now)
    group = Group(operations=changes, because="messages that could not be read are tried again", conversations=(name,))
    ports.store.apply(
        Plan(id=new_id(now), scope=ports.scope, cause="consolidate", at=now, groups=(group,), parent=parent)
    )
    return parent


def _due_chunk(ports: Ports, name: str, until: int | None) -> Chunk | None:
    """The next chunk of a conversation, if it is a released one or begins before the message `until` (None: any)."""
    found = ports.store.conversation(ports.scope, name)
    chunk = next_chunk(ports, found) if found is not None else None
    return chunk if chunk is not None and (until is None or chunk.released or chunk.span[0] < until) else None


def _conversation(ports: Ports, name: str | None) -> ConversationState | None:
    if name is not None:
        return ports.store.conversation(ports.scope, name)
    return next(iter(ports.store.conversations(ports.scope)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkReading:
    """The plan for a chunk, and its result. If the mind failed, the plan has the cost, and perhaps a pause.

    The answer of the mind is kept, so that planning again after a conflict does not call it again. `fits` is how many
    messages the next chunk should have, because the answer about more of them was refused or, with `cut`, cut off; None if
    it was not. `passed` is why the only message of the chunk is passed over, "" if it is not.
    """

    chunk: Chunk
    facts: tuple[Fact, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    raw: str = ""
    spent: Cost = FREE
    plan: Plan
    result: ConsolidationResult
    fits: int | None = None
    cut: bool = False
    passed: str = ""

    @property
    def failed(self) -> bool:
        """Whether the mind failed: then the chunk stays due."""
        return self.result.skipped_reason is not None


@dataclass(slots=True, kw_only=True)
class Pace:
    """What one run learnt of its mind.

    Attributes:
        others: whether the run reads other conversations too, so that it is asked at each failure whether it answers.
        answers: whether it answers; False: it does not, and the run stops; None: it was not asked with success yet.
        most: how many messages the next chunk of the conversation has.
        limit: how many they are at most, since the answer about more of them was cut off.
    """

    others: bool = False
    answers: bool | None = None
    most: int = MESSAGES
    limit: int = MESSAGES

    def begin(self) -> None:
        """Begin another conversation, whose messages may be shorter."""
        self.most = self.limit = MESSAGES

    def learn(self, read: ChunkReading) -> None:
        """Let the next chunk be smaller if this one had to be, else larger again."""
        if read.fits is not None and read.cut and not read.passed:
            self.limit = read.fits
        self.most = read.fits or min(self.limit, 2 * self.most)

    def is_of_use(self, ports: Ports, shown: Transcript, *, afresh: bool) -> tuple[bool, Cost]:
        """Whether the mind answers at all, and what asking it costs: it is asked about two words, if need be.

        A mind that refuses every question would else be asked about each message, and all would be passed over. With
        `afresh` it is asked although it answered before: it may have become unreachable since.
        """
        cost = FREE
        if self.answers is None or afresh:
            first = shown.turns[0]
            hello = replace(first, memory=replace(first.memory, text=_HELLO, speaker=None))
            question = Transcript(conversation="", turns=(hello,), most=1)
            try:
                cost, self.answers = ports.mind.distil(question).cost, True
            except ModelError as error:
                cost, self.answers = cost_of(error), False
        return self.answers, cost


def planned(
    ports: Ports, name: str, pace: Pace, again: ChunkReading | None = None, until: int | None = None
) -> ChunkReading | None:
    """Plan the next chunk of a conversation; None if all is read.

    If the mind refuses the chunk, cannot be read about it, or its answer is cut off, the chunk is halved and asked about
    again, down to one message. That one is passed over and marked, so that it does not keep others from being read.

    Args:
        ports: the store, the mind, the embedder and the settings.
        name: the conversation.
        pace: how many messages the chunk may have, and whether the mind answers.
        again: a plan that was dropped because of a conflict.
        until: read no chunk that begins after this message, except released messages.
    """
    chunk = _due_chunk(ports, name, until)
    if chunk is None:
        return None
    if again is not None and again.chunk.same(same := chunk.first(len(again.chunk.messages))):
        if again.passed:
            return _passed_over(ports, same, again.passed, again.problems, again.spent)
        return _reconciled(
            ports, same, again.facts, again.rejected, again.problems, again.notes, again.raw, again.spent
        )
    return _read(ports, chunk.first(pace.most), pace, FREE, ())


def _read(ports: Ports, chunk: Chunk, pace: Pace, spent: Cost, problems: tuple[str, ...]) -> ChunkReading:
    """The reading of a chunk; of its first half if the mind refused it or its answer was cut off, and so on.

    Facts of an answer that was cut off are dropped: the messages are read again, and would give them twice.
    """
    shown = transcript(ports, chunk)
    try:
        proposal: MindAnswer[tuple[Fact, ...]] = ports.mind.distil(shown) if shown.turns else MindAnswer(value=())
    except ModelError as error:
        spent += cost_of(error)
        refused = error.refused or error.cut_off
        if refused and len(chunk.messages) > 1:
            half = len(chunk.messages) // 2
            deeper = _read(ports, chunk.first(half), pace, spent, (*problems, str(error)))
            return replace(deeper, fits=deeper.fits or half, cut=deeper.cut or error.cut_off)
        answers = False
        if refused or pace.others:
            answers, cost = pace.is_of_use(ports, shown, afresh=not refused)
            spent += cost
        if refused and answers:
            return _passed_over(ports, chunk, str(error), problems, spent)
        return _failed(ports, chunk, str(error), problems, spent, pauses=answers)
    if proposal.cost.calls:
        pace.answers = True
    facts, rejected = _supported(ports, shown, proposal)
    problems = (*problems, *proposal.problems)
    found_none = proposal.cost.calls and not (proposal.value or rejected) and len(shown.turns) >= MANY
    notes = ("the model found no fact",) if found_none else proposal.notes
    return _reconciled(ports, chunk, facts, rejected, problems, notes, proposal.raw, spent + proposal.cost)


def _passed_over(ports: Ports, chunk: Chunk, reason: str, problems: tuple[str, ...], spent: Cost) -> ChunkReading:
    """The reading of one message that the mind cannot read: it is marked as still due, and the next one is read."""
    now = ports.now()
    because = f"{chunk} could not be read by {ports.mind.name}"
    told = f"{because}, and waits for another model or a forced consolidation: {reason}"
    group = Group(
        operations=chunk.passed_over(ports.mind.name, f"{because}: {reason}"),
        because=because,
        conversations=(chunk.conversation.name,),
        rests_on=tuple(message.id for message in chunk.messages),
    )
    plan = Plan(id=new_id(now), scope=ports.scope, cause="consolidate", at=now, groups=(group,), cost=spent)
    result = ConsolidationResult(run_id=plan.id, cost=spent, problems=(told,))
    return ChunkReading(chunk=chunk, problems=problems, spent=spent, plan=plan, result=result, passed=reason, fits=1)


def _failed(
    ports: Ports, chunk: Chunk, reason: str, problems: tuple[str, ...], cost: Cost, *, pauses: bool
) -> ChunkReading:
    """The reading of a chunk that stays due. If its conversation `pauses`, the plan says so, else it has the cost only."""
    now, name = ports.now(), chunk.conversation.name
    told = reason
    groups: tuple[Group, ...] = ()
    if pauses:
        because = f"{chunk} could not be read by {ports.mind.name}"
        move = chunk.failed(now, f"{because}: {reason}")
        groups = (Group(operations=(move,), because=because, conversations=(name,)),)
        failed = FailedReading.unpack(move.after)
        told = f"{because}, and {name} is left until {failed.until:%Y-%m-%d %H:%M} UTC: {reason}" if failed else reason
    plan = Plan(id=new_id(now), scope=ports.scope, cause="consolidate", at=now, groups=groups, cost=cost)
    result = ConsolidationResult(skipped_reason=reason, problems=tuple(dict.fromkeys((*problems, told))), cost=cost)
    return ChunkReading(chunk=chunk, plan=plan, result=result)


def _reconciled(
    ports: Ports,
    chunk: Chunk,
    facts: tuple[Fact, ...],
    rejected: tuple[Rejected, ...],
    problems: tuple[str, ...],
    notes: tuple[str, ...],
    raw: str,
    spent: Cost,
) -> ChunkReading:
    now = ports.now()
    done = reconcile(ports, facts, now=now, stated=False)
    spent += done.cost
    plan = _plan(ports, chunk, done, rejected, notes, spent, now)
    result = ConsolidationResult(
        facts=done.facts,
        raw_text=raw,
        run_id=plan.id,
        cost=spent,
        rejected=rejected,
        waiting=done.waiting,
        problems=(*problems, *done.problems),
        notes=(*(f"{note} in {chunk}" for note in notes), *done.notes),
        about=done.about,
    )
    return ChunkReading(
        chunk=chunk,
        facts=facts,
        rejected=rejected,
        problems=problems,
        notes=notes,
        raw=raw,
        spent=spent,
        plan=plan,
        result=result,
    )


def _applied(ports: Ports, read: ChunkReading, parent: str | None, pace: Pace) -> ConsolidationResult:
    """Apply the plan of a chunk; after a conflict with other writers, reconcile again on the present state."""
    for _ in range(TRIES):
        plan = replace(read.plan, parent=parent)
        if read.failed:
            if not (plan.groups and ports.store.apply(plan).applied):
                because = f"{read.chunk}: {read.result.skipped_reason}"
                record_unapplied_cost(ports, plan, because, (read.chunk.conversation.name,))
            return read.result
        receipt = ports.store.apply(plan)
        if not receipt.dropped:
            return replace(read.result, receipts=(receipt,), problems=(*read.result.problems, *receipt.problems))
        fresh = planned(ports, read.chunk.conversation.name, pace, again=read)
        if fresh is None or not fresh.chunk.same(read.chunk):
            record_unapplied_cost(ports, plan, "another process distilled these messages")
            return ConsolidationResult(notes=("another process distilled these messages",), cost=read.spent)
        read = fresh
    record_unapplied_cost(ports, plan, receipt.dropped[0].reason)
    reason = f"other writers were faster {TRIES} times: {receipt.dropped[0].reason}"
    return ConsolidationResult(skipped_reason=reason, cost=read.spent)


def _supported(
    ports: Ports, transcript: Transcript, proposal: MindAnswer[tuple[Fact, ...]]
) -> tuple[tuple[Fact, ...], tuple[Rejected, ...]]:
    """The facts that their quotes support and that are confident enough, with their sources; and the rejected ones."""
    kept: list[Fact] = []
    rejected = list(proposal.rejected)
    messages = {turn.number: turn.memory for turn in transcript.turns}
    threshold = ports.config.confidence_threshold
    for fact in proposal.value:
        found = ground(fact, transcript)
        if isinstance(found, Rejected):
            rejected.append(found)
        elif fact.confidence < threshold:
            reason = f"confidence {fact.confidence:.2f} is below {threshold:.2f}"
            rejected.append(Rejected(text=fact.text, quote=fact.quote, reason=reason))
        elif len(kept) == transcript.most:
            reason = f"over the {transcript.most} facts of one pass"
            rejected.append(Rejected(text=fact.text, quote=fact.quote, reason=reason))
        elif hollow(fact.text):
            rejected.append(Rejected(text=fact.text, quote=fact.quote, reason="says nothing without its secret"))
        elif found.turn is not None:
            kept.append(_sourced(found, messages[found.turn], transcript))
            if found.text != fact.text:
                reason = "no message denies it in these words: what was said is stored instead"
                rejected.append(Rejected(text=fact.text, quote=fact.quote, reason=reason))
    return tuple(kept), tuple(map(_redacted, rejected))


def _sourced(fact: Fact, message: Memory, transcript: Transcript) -> Fact:
    """The fact with its sources, the quoted one first, without secrets; only the messages keep them.

    It is trusted as the least trusted of the messages that hold its content.
    """
    quote = redact(fact.quote).text
    turns = {turn.number: turn.memory for turn in transcript.turns}
    named = tuple(turns[number] for number in fact.turns if number != fact.turn)
    sources = (
        SourceRef(memory=message.id, ref=message.ref or message.id, quote=quote),
        *(SourceRef(memory=other.id, ref=other.ref or other.id) for other in named),
    )
    said = [memory for memory in trust_sources(fact, transcript) if not _asks(memory, fact)]
    trust = least(memory.trust for memory in said or [message])
    text = redact(fact.text).text
    return replace(fact, text=text, quote=quote, sources=sources, valid_from=fact.valid_from or message.at, trust=trust)


def _asks(memory: Memory, fact: Fact) -> bool:
    """Whether an assistant only asks what a fact answers: who answers says it, who asked does not. An order is never an answer."""
    asked, mark, _ = fact.text.rpartition("?")
    by_assistant = memory.role == "assistant" and fact.kind != "procedural"
    return bool(mark) and by_assistant and f"{asked}?" in memory.text


def _redacted(rejected: Rejected) -> Rejected:
    return replace(rejected, text=redact(rejected.text).text, quote=redact(rejected.quote).text)


def _plan(
    ports: Ports,
    chunk: Chunk,
    done: ReconcileResult,
    rejected: Sequence[Rejected],
    notes: Sequence[str],
    cost: Cost,
    now: datetime,
) -> Plan:
    because = "; ".join((f"{chunk} were distilled", *notes))
    refused = [
        RejectFact(text=fact.text, quote=fact.quote, reason=fact.reason, because=fact.reason)
        for fact in rejected[:REFUSED_KEPT]
    ]
    group = Group(
        operations=(*chunk.moves(because), *done.operations, *refused),
        because=because,
        conversations=(chunk.conversation.name,),
        rests_on=tuple(message.id for message in chunk.messages),
    )
    return Plan(id=new_id(now), scope=ports.scope, cause="consolidate", at=now, groups=(group,), cost=cost)


def _joined(results: Sequence[ConsolidationResult], parent: str | None) -> ConsolidationResult:
    """The results of all chunks in one. Its run is that of the single chunk, or the parent of all."""
    run = next((result.run_id for result in reversed(results) if result.run_id), None)
    run = parent if run and parent else run
    if len(results) == 1:
        return replace(results[0], run_id=run)
    facts = {fact.id: fact for result in results for fact in result.facts}
    return ConsolidationResult(
        facts=tuple(facts.values()),
        raw_text="\n".join(result.raw_text for result in results if result.raw_text),
        skipped_reason=results[-1].skipped_reason if results else "no new messages",
        run_id=run,
        cost=sum((result.cost for result in results), FREE),
        rejected=tuple(rejected for result in results for rejected in result.rejected),
        waiting=sum(result.waiting for result in results),
        problems=tuple(problem for result in results for problem in result.problems),
        notes=tuple(note for result in results for note in result.notes),
        about={fact: tuple(note for result in results for note in result.about.get(fact, ())) for fact in facts},
        receipts=tuple(receipt for result in results for receipt in result.receipts),
    )
