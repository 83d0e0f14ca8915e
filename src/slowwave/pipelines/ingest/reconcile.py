"""Compares new facts with known ones and plans what each does: add, update, delete, or nothing."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import numpy as np

from slowwave.errors import ModelError
from slowwave.model.codec import content_key
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory
from slowwave.model.mind import Candidate, Fact, ReconcileCase, Verdict
from slowwave.model.operations import LinkKind, Operation
from slowwave.model.plan import FREE, Cost, Outcome, cost_of
from slowwave.pipelines.ingest.candidates import IncomingFact, Nearness, reconcile_cases
from slowwave.pipelines.ingest.change_set import ChangeSet, facts_with_key
from slowwave.pipelines.ingest.decisions import LIVE, ComparedPair, decide, may_retract, reason_of
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.new_memory import new_fact_memories, unknown_category_warnings
from slowwave.pipelines.ingest.review import QUARANTINED, suspect
from slowwave.pipelines.ingest.tombstones import stored_keys, tombstone
from slowwave.policy.comparison.statements import implied
from slowwave.policy.guard.trust import PERSONS
from slowwave.policy.retention.categories import is_known
from slowwave.policy.text.tokens import content_terms
from slowwave.ports import Ports

RELATED = 0.40
"""The cosine from which two texts are similar, unless the embedder defines its own."""
SAME_MATTER = 0.70
"""The cosine from which two texts are about the same matter, unless the embedder defines its own."""
DUPLICATE = 0.92
"""The cosine from which two texts say nearly the same, unless the embedder defines its own."""

KEPT_OUT_SHOWN = 3
"""Facts that a note about what a person removed names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileResult:
    """What reconciling a batch of facts would do.

    `facts` are those that are added or reworded. `about` holds the notes about each of them, by its id. `outcomes` has one
    item for each new fact, in their order. `undecided` are the ids of the waiting facts on which a mind that answers gave no
    verdict, because it refused or left them out.
    """

    operations: tuple[Operation, ...]
    facts: tuple[Memory, ...]
    notes: tuple[str, ...] = ()
    about: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    waiting: int = 0
    undecided: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    outcomes: tuple[Outcome, ...] = ()


def reconcile(
    ports: Ports, facts: Sequence[Fact], *, now: datetime, stated: bool, waiting: Sequence[Memory] = ()
) -> ReconcileResult:
    """Decide for each new fact how it changes the known ones. Performs nothing.

    Args:
        ports: the store, the mind, the embedder and the settings.
        facts: the new facts, in order.
        now: the instant of the plan.
        stated: whether they are stated at this moment. If a person states a fact (`trust.PERSONS`), content that an undo
            suppressed may return, and pinned memories may change. What an assistant or a tool states changes neither.
        waiting: if given, the memories these facts already have in the store, one each, flagged as waiting.
    """
    index_entries, problems = entries(ports, [fact.text for fact in facts])
    memories = waiting or new_fact_memories(ports, facts, now)
    incoming = [_incoming(*parts, stated=stated) for parts in zip(facts, memories, index_entries, strict=True)]
    duplicates = _stored_duplicates(ports, incoming)
    suppressed = _suppressed_keys(ports, incoming)
    changes = ChangeSet(ports=ports, now=now, stored={memory.id for memory in waiting})
    returning = suppressed & _stated_again(ports, incoming, suppressed)
    changes.unsuppress(returning)
    suppressed -= returning
    cases = reconcile_cases(ports, incoming, duplicates.keys() | suppressed, now, _nearness(ports))
    verdicts, mind_problems, cost = ask_mind(ports, cases)
    about: dict[str, tuple[str, ...]] = {}
    kept_out: dict[str, str] = {}
    for number, new in enumerate(incoming, 1):
        memory = changes.undecided(new.memory)
        if memory is None:
            continue
        notes_before = len(changes.notes)
        if new.key in suppressed and memory.id not in changes.stored:
            changes.refuse(memory, new.fact.quote, "a person undid, deleted or erased it", held=True)
            kept_out[new.key] = memory.text
        else:
            duplicate = changes.live_duplicate(memory, new.key, duplicates)
            _plan_fact(changes, new, memory, duplicate, verdicts.get(number, ()))
        current = changes.current(memory)
        if current is not None and current.id in changes.facts and (notes := changes.notes[notes_before:]):
            about[current.id] = (*about.get(current.id, ()), *notes)
    return ReconcileResult(
        operations=tuple(changes.operations),
        facts=tuple(changes.facts.values()),
        notes=(
            *changes.notes,
            *unknown_category_warnings(ports, changes.facts.values()),
            *_how_it_comes_back(ports, kept_out),
        ),
        about=about,
        waiting=changes.waiting,
        undecided=frozenset(incoming[number - 1].memory.id for number, given in verdicts.items() if not given),
        problems=(*problems, *mind_problems, *changes.problems),
        cost=cost,
        outcomes=tuple(_outcome(changes, new) for new in incoming),
    )


def _outcome(changes: ChangeSet, new: IncomingFact) -> Outcome:
    """What became of one fact after all of the batch were planned."""
    operation, reason = changes.outcomes.get(new.memory.id, ("NOOP", "another fact of the batch says the same"))
    holder = changes.current(new.memory)
    if holder is None:
        return Outcome(operation="REFUSE", memory_id=None, text=new.fact.text, reason=reason)
    if new.known_under_review is not None:
        holder = new.known_under_review
    if any(holder.metadata.get(name) != value for name, value in new.fact.metadata.items()):
        reason = f"{reason}; its metadata was not stored: the memory keeps its own"
    return Outcome(operation=operation, memory_id=holder.id, text=new.fact.text, reason=reason)


def _plan_fact(
    changes: ChangeSet,
    new: IncomingFact,
    memory: Memory,
    duplicate: Memory | None,
    verdicts: Sequence[Verdict],
) -> None:
    """Plan the operations of one new fact, of which `memory` is the state so far."""
    because = f"said: {new.fact.quote!r}" if new.fact.quote else "stated"
    if new.suspect:
        known = facts_with_key(changes.ports, new.key, {QUARANTINED})
        if known and memory.ref is None:
            new.known_under_review = known[0]
            changes.outcomes[memory.id] = ("REVIEW", "it is under review already")
        else:
            changes.quarantine(memory, new.entry, new.suspect)
    elif duplicate is not None:
        changes.reinforce(duplicate, memory, because="the same words are known")
    elif not new.candidates:
        changes.store(memory, new.entry, because=because)
    elif not verdicts:
        changes.wait(memory, new.entry, because=because)
    else:
        apply_verdicts(changes, memory, new.entry, verdicts, new.candidates, because=because, stated=new.stated)


def apply_verdicts(
    changes: ChangeSet,
    new: Memory,
    entry: IndexEntry | None,
    verdicts: Sequence[Verdict],
    candidates: Sequence[Candidate],
    *,
    because: str,
    stated: bool,
) -> None:
    """Plan the operations of the verdicts on one new fact: one verdict decides about the fact, others may retract known ones.

    Args:
        changes: where the operations are collected.
        new: the new fact as a memory.
        entry: its index entry; None if it is in the store already.
        verdicts: what the mind says about it; at least one.
        candidates: the known facts that the mind compared it with.
        because: the reason for storing it, where a verdict has none.
        stated: whether a person states it.
    """
    known = {
        candidate.number: memory
        for candidate in candidates
        if (memory := changes.current(candidate.memory)) and memory.id != new.id
    }
    fixed = {candidate.number for candidate in candidates if candidate.fixed}
    main = next((verdict for verdict in verdicts if verdict.op != "DELETE"), None)
    target = known.get(main.memory) if main and main.memory is not None else None
    ids = {new.id} if target is None else {new.id, target.id}
    pair = ComparedPair(
        new=new,
        known=target,
        fixed=main is not None and main.memory in fixed,
        stated=stated,
        stored=new.id in changes.stored,
        is_duplicate=partial(changes.has_duplicate, besides=ids),
    )
    stored = changes.carry_out(decide(main, pair, because), new, target, entry)
    for verdict in verdicts:
        if verdict.op != "DELETE" or verdict.memory is None or verdict.memory not in known:
            continue
        old = changes.current(known[verdict.memory])
        if old is None or old.id == stored.id or old.phase not in LIVE:
            continue
        if may_retract(old, new, fixed=verdict.memory in fixed, stated=stated):
            changes.retract(old, stored, because=reason_of(verdict, "no longer true"))
            if changes.outcomes.get(new.id, ("NOOP", ""))[0] == "ADD":
                changes.outcomes[new.id] = ("DELETE", f"retracted {old.text!r}")
        else:
            changes.link(stored, old, "conflict?", because=reason_of(verdict, "it may not change"))


def _how_it_comes_back(ports: Ports, kept_out: Mapping[str, str]) -> Iterator[str]:
    """For each run that keeps facts out, these facts, by their content keys, and what brings them back.

    An erased fact is not named: nothing brings it back.
    """
    by_run: dict[str, list[str]] = {}
    for key, (_, run) in ports.store.suppressed_by(ports.scope, kept_out).items() if kept_out else ():
        by_run.setdefault(run, []).append(kept_out[key])
    for run, texts in by_run.items():
        more = [f"{len(texts) - KEPT_OUT_SHOWN} more"] if len(texts) > KEPT_OUT_SHOWN else []
        shown = "; ".join([*texts[:KEPT_OUT_SHOWN], *more])
        it = "it" if len(texts) == 1 else "them"
        yield f"kept out, because a person removed {it}: {shown}; to bring {it} back, undo the run {run}, or add {it} again"


def _suppressed_keys(ports: Ports, incoming: Sequence[IncomingFact]) -> frozenset[str]:
    """The content keys of facts that a person undid, deleted or erased."""
    keys = {tombstone(new.fact.text): new.key for new in incoming}
    by_tombstone = {stored: keys[plain] for stored, plain in stored_keys(ports, keys).items()}
    found = ports.store.suppressed_keys(ports.scope, [*by_tombstone, *keys.values()])
    return frozenset(by_tombstone.get(key, key) for key in found)


def _stated_again(ports: Ports, incoming: Sequence[IncomingFact], suppressed: Collection[str]) -> frozenset[str]:
    """The content keys of facts that a person states after they were suppressed: at this moment, or in a newer message.

    What a message said before that stays suppressed, however often the message is read again or imported with its date.
    """
    stated = {new.key for new in incoming if new.stated}
    again = [
        new
        for new in incoming
        if new.key in suppressed and new.fact.sources and new.fact.trust in PERSONS and new.key not in stated
    ]
    if not again:
        return frozenset(stated)
    ids = {new.fact.sources[0].memory for new in again}
    messages = {memory.id: memory for memory in ports.store.get((ports.scope,), ids)}
    forms = {new.key: (new.key, *stored_keys(ports, [tombstone(new.fact.text)])) for new in again}
    since = ports.store.suppressed_by(ports.scope, [key for keys in forms.values() for key in keys])
    for new in again:
        ended = [since[key][0] for key in forms[new.key] if key in since]
        message = messages.get(new.fact.sources[0].memory)
        if ended and message is not None and min(message.valid_from, message.recorded_at) > max(ended):
            stated.add(new.key)
    return frozenset(stated)


def _incoming(fact: Fact, memory: Memory, entry: IndexEntry, *, stated: bool) -> IncomingFact:
    vector = np.frombuffer(entry.vectors, dtype="<f4", count=entry.dim) if entry.dim else None
    return IncomingFact(
        fact=fact,
        stated=stated and fact.trust in PERSONS,
        memory=memory,
        entry=entry,
        key=content_key(fact.text),
        stems=content_terms(f"{fact.text} {implied(fact.text)}"),
        vector=vector,
        suspect=_suspicion(fact),
    )


def _suspicion(fact: Fact) -> str | None:
    """Why a fact needs review: its text, or a name that a context shows with it, reads as an instruction to a model."""
    names = (fact.subject, None if is_known(fact.category) else fact.category)
    return next((why for text in (fact.text, *names) if text and (why := suspect(text, fact.trust))), None)


def _stored_duplicates(ports: Ports, incoming: Sequence[IncomingFact]) -> dict[str, Memory]:
    """The known memory with the content key of each new fact, a searchable one if there are several."""
    duplicates: dict[str, Memory] = {}
    ids = {new.memory.id for new in incoming}
    for key in {new.key for new in incoming}:
        for memory in facts_with_key(ports, key, LIVE):
            if memory.id not in ids and (key not in duplicates or memory.is_searchable):
                duplicates[key] = memory
    return duplicates


def ask_mind(
    ports: Ports, cases: Sequence[ReconcileCase]
) -> tuple[dict[int, tuple[Verdict, ...]], tuple[str, ...], Cost]:
    """The verdicts by fact, in one call for the whole batch; a failing mind gives none, and its error is a problem.

    A batch that the mind refuses is asked about in halves, and so on, so that one fact does not keep others waiting. A fact
    that it refuses or leaves out has no verdicts; a fact that is missing was not answered, because the mind failed otherwise.
    """
    if not cases:
        return {}, (), FREE
    try:
        answer = ports.mind.decide(cases)
    except ModelError as error:
        refused = error.refused or error.cut_off
        if not refused or len(cases) == 1:
            return {case.number: () for case in cases if refused}, (str(error),), cost_of(error)
        half = len(cases) // 2
        (first, told, cost), (second, more, rest) = ask_mind(ports, cases[:half]), ask_mind(ports, cases[half:])
        return first | second, tuple(dict.fromkeys((*told, *more))), cost_of(error) + cost + rest
    verdicts: dict[int, tuple[Verdict, ...]] = {}
    for verdict in answer.value:
        verdicts[verdict.fact] = (*verdicts.get(verdict.fact, ()), verdict)
    problems = [*answer.problems, *(f"refused a verdict: {item.reason}" for item in answer.rejected)]
    if silent := [case.number for case in cases if case.number not in verdicts]:
        problems.append(f"the mind gave no verdict on {len(silent)} of {len(cases)} facts")
    return dict.fromkeys(silent, ()) | verdicts, tuple(problems), answer.cost


def _nearness(ports: Ports) -> Nearness:
    return Nearness(
        related=similarity(ports, "related", RELATED),
        matter=similarity(ports, "group", SAME_MATTER),
        duplicate=similarity(ports, "duplicate", DUPLICATE),
    )


def similarity(ports: Ports, name: str, standard: float) -> float:
    """A similarity threshold: the embedder's own number if it has one, else the standard one."""
    thresholds: Mapping[str, float] = getattr(ports.embedder, "similarity", {})
    return thresholds.get(name, standard)


SETTLED: Final[tuple[LinkKind, ...]] = ("distinct", "close", "value changed?", "conflict?", "unsure")
"""Kinds of links with which a comparison ends."""


def compared_pair_key(first: Memory, second: Memory) -> str:
    """The key under which a compared pair of facts is suppressed: made of their content keys, in either order."""
    return f"pair {' '.join(sorted((content_key(first.text), content_key(second.text))))}"
