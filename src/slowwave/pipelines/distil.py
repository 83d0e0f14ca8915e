"""Distil: read a conversation from its cursor and keep what is worth a fact, each checked against its own words."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slowwave.errors import ModelError
from slowwave.model.fact import Fact, Proposal, Rejected, Transcript, Turn
from slowwave.model.memory import MESSAGE, Memory, SourceRef
from slowwave.model.operation import Advance, Refuse
from slowwave.model.plan import FREE, Cost, Group, Plan, Receipt
from slowwave.model.query import Where
from slowwave.model.state import Conversation
from slowwave.pipelines.making import TRIES, new_id
from slowwave.pipelines.reconcile import Reconciled, reconcile
from slowwave.policy.fence import strip_fenced
from slowwave.policy.grounding import ground
from slowwave.policy.packing import estimate
from slowwave.ports import Ports

CURSOR = "distil"
CHUNK_MESSAGES = 30
CHUNK_TOKENS = 6000
REFUSED_KEPT = 100
"""How many refused facts of one chunk the journal keeps."""
BEFORE = 3
"""How many messages before a chunk a mind sees for context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult:
    """What a consolidation did.

    `facts` are those written or changed this time. `skipped_reason` is None when everything due was read; else why
    not, in the model's own words if it failed: then the messages stay due.
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
    receipts: tuple[Receipt, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        head = (
            f"{len(self.facts)} facts" if not self.skipped_reason else f"{len(self.facts)} facts; {self.skipped_reason}"
        )
        lines = [f"{head}, {len(self.rejected)} refused, {self.waiting} waiting"]
        lines += [f"  [{fact.category}] {fact.text} ({fact.confidence:.2f})" for fact in self.facts]
        lines += [f"  refused {one.text!r}: {one.reason}" for one in self.rejected]
        return "\n".join(lines)


def consolidate(ports: Ports, conversation: str | None, *, force: bool = False) -> ConsolidationResult:
    """Distil what is new in a conversation (None: the one written to last) and reconcile it with what is known.

    Each chunk's facts and its cursor move in one transaction; a failing model leaves the rest due.
    """
    found = _conversation(ports, conversation)
    unread = found.last_seq - found.cursor(CURSOR) if found else 0
    if found is None or unread == 0:
        return ConsolidationResult(skipped_reason="no new messages")
    if unread < ports.config.min_messages and not force:
        return ConsolidationResult(skipped_reason=f"only {unread} messages (min {ports.config.min_messages})")
    results: list[ConsolidationResult] = []
    for _ in range(unread):  # every chunk reads at least one message
        chunk = planned(ports, found.name)
        if chunk is None:
            break
        results.append(_applied(ports, found.name, chunk))
        if results[-1].skipped_reason:
            break
    return _joined(results)


def _conversation(ports: Ports, name: str | None) -> Conversation | None:
    if name is not None:
        return ports.store.conversation(ports.scope, name)
    return next(iter(ports.store.conversations(ports.scope)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One chunk of a conversation, read: the plan (None if the mind failed) and what will be said of it."""

    span: tuple[int, int]
    read: "_Read"
    plan: Plan | None
    result: ConsolidationResult


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What a mind made of a chunk; kept, so that planning again does not ask again."""

    facts: tuple[Fact, ...]
    rejected: tuple[Rejected, ...]
    raw: str
    cost: Cost


def planned(ports: Ports, name: str, again: Chunk | None = None) -> Chunk | None:
    """Plan the next chunk of a conversation; None when nothing is left. `again` is a plan that others overtook."""
    found = ports.store.conversation(ports.scope, name)
    cursor = found.cursor(CURSOR) if found else 0
    messages = _unread(ports, name, cursor)
    if not messages:
        return None
    span = (cursor, messages[-1].seq)
    if again is not None and again.span == span:
        read = again.read
    else:
        transcript = _transcript(ports, name, cursor, messages)
        try:
            proposal = _distilled(ports, transcript)
        except ModelError as error:
            failed = ConsolidationResult(skipped_reason=str(error), problems=(str(error),), cost=Cost(calls=1))
            return Chunk(span=span, read=_Read(facts=(), rejected=(), raw="", cost=FREE), plan=None, result=failed)
        facts, rejected = _supported(ports, transcript, proposal)
        read = _Read(facts=tuple(facts), rejected=rejected, raw=proposal.raw, cost=proposal.cost)
    now = ports.now()
    done = reconcile(ports, read.facts, now=now, stated=False)
    plan = _plan(ports, name, span, done, read, now)
    result = ConsolidationResult(
        facts=done.facts,
        raw_text=read.raw,
        run_id=plan.id,
        cost=plan.cost,
        rejected=read.rejected,
        waiting=done.waiting,
        problems=done.problems,
        notes=done.notes,
    )
    return Chunk(span=span, read=read, plan=plan, result=result)


def _applied(ports: Ports, name: str, chunk: Chunk) -> ConsolidationResult:
    """Apply a chunk; where other writers were faster, reconcile again on what stands now."""
    for _ in range(TRIES):
        if chunk.plan is None:
            return chunk.result
        receipt = ports.store.apply(chunk.plan)
        if not receipt.dropped:
            return replace(chunk.result, receipts=(receipt,), problems=(*chunk.result.problems, *receipt.problems))
        fresh = planned(ports, name, again=chunk)
        if fresh is None or fresh.span[0] != chunk.span[0]:
            return ConsolidationResult(notes=("another process distilled these messages",))
        chunk = fresh
    return ConsolidationResult(skipped_reason=f"other writers were faster {TRIES} times: {receipt.dropped[0].reason}")


def _unread(ports: Ports, name: str, cursor: int) -> list[Memory]:
    where = Where(kinds=frozenset({MESSAGE}), conversation=name, after_seq=cursor, order="seq", limit=CHUNK_MESSAGES)
    chunk: list[Memory] = []
    spent = 0
    for message in ports.store.select((ports.scope,), where):
        spent += estimate(message.text)
        if chunk and spent > CHUNK_TOKENS:
            break
        chunk.append(message)
    return chunk


def _transcript(ports: Ports, name: str, cursor: int, messages: Sequence[Memory]) -> Transcript:
    """What the mind reads. Text this system itself put into a prompt is taken out first."""
    before = Where(
        kinds=frozenset({MESSAGE}), conversation=name, after_seq=max(0, cursor - BEFORE), until_seq=cursor, order="seq"
    )
    turns = []
    for number, message in enumerate(messages, 1):
        own = strip_fenced(message.text).strip()
        if own and message.phase not in {"quarantined", "retracted"}:
            turns.append(Turn(number=number, memory=replace(message, text=own)))
    return Transcript(
        conversation=name,
        turns=tuple(turns),
        most=ports.config.max_facts_per_pass,
        before=tuple(ports.store.select((ports.scope,), before)),
        speakers=ports.store.speakers(ports.scope),
    )


def _distilled(ports: Ports, transcript: Transcript) -> Proposal[tuple[Fact, ...]]:
    return ports.mind.distil(transcript) if transcript.turns else Proposal(value=())


def _supported(
    ports: Ports, transcript: Transcript, proposal: Proposal[tuple[Fact, ...]]
) -> tuple[list[Fact], tuple[Rejected, ...]]:
    """The facts whose words are really there and that the mind is sure enough of, with their sources; and the rest."""
    kept: list[Fact] = []
    rejected = list(proposal.rejected)
    said = {turn.number: turn.memory for turn in transcript.turns}
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
        elif found.turn is not None:
            kept.append(_sourced(found, said[found.turn]))
    return kept, tuple(rejected)


def _sourced(fact: Fact, message: Memory) -> Fact:
    source = SourceRef(memory=message.id, ref=message.ref or message.id, quote=fact.quote)
    return replace(fact, sources=(source,), valid_from=fact.valid_from or message.at, trust=message.trust)


def _plan(ports: Ports, name: str, span: tuple[int, int], done: Reconciled, read: _Read, now: datetime) -> Plan:
    because = f"messages {span[0] + 1} to {span[1]} of {name} were distilled"
    move = Advance(conversation=name, cursor=CURSOR, before=span[0], after=span[1], because=because)
    refused = [
        Refuse(text=one.text, quote=one.quote, reason=one.reason, because=one.reason)
        for one in read.rejected[:REFUSED_KEPT]
    ]
    group = Group(operations=(move, *done.operations, *refused), because=because)
    cost = read.cost + done.cost
    return Plan(id=new_id(now), scope=ports.scope, cause="consolidate", at=now, groups=(group,), cost=cost)


def _joined(results: Sequence[ConsolidationResult]) -> ConsolidationResult:
    if len(results) == 1:
        return results[0]
    facts = {fact.id: fact for result in results for fact in result.facts}
    return ConsolidationResult(
        facts=tuple(facts.values()),
        raw_text="\n".join(result.raw_text for result in results if result.raw_text),
        skipped_reason=results[-1].skipped_reason if results else "no new messages",
        run_id=next((result.run_id for result in reversed(results) if result.run_id), None),
        cost=sum((result.cost for result in results), FREE),
        rejected=tuple(one for result in results for one in result.rejected),
        waiting=sum(result.waiting for result in results),
        problems=tuple(problem for result in results for problem in result.problems),
        notes=tuple(note for result in results for note in result.notes),
        receipts=tuple(receipt for result in results for receipt in result.receipts),
    )
