"""Compares new facts with known ones and plans what each does: add, update, delete, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import numpy as np

from slowwave.errors import ModelError
from slowwave.model.codec import content_key
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import FACT_KINDS, SUMMARY, Memory
from slowwave.model.mind import Candidate, Fact, ReconcileCase, Verdict
from slowwave.model.operations import Operation
from slowwave.model.plan import FREE, Cost, cost_of
from slowwave.model.query import Query, Where
from slowwave.pipelines.ingest.change_set import LIVE, ChangeSet
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.new_memory import new_fact_memories, unknown_category_warnings
from slowwave.pipelines.ingest.review import QUARANTINED, suspect
from slowwave.pipelines.ingest.tombstones import tombstone
from slowwave.policy.comparison.statements import implied
from slowwave.policy.text.tokens import STOP_WORDS, stem, words
from slowwave.ports import Ports

CANDIDATES = 8
"""How many known memories a mind is shown for one new fact."""
RELATED = 0.40
"""The cosine from which two texts are similar, where the embedder brings no number of its own."""

_PLAIN_KINDS = frozenset(FACT_KINDS) - {SUMMARY}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileResult:
    """What reconciling a batch comes to: operations, the facts as they will stand, and what it took.

    `about` are those of the notes that are about one of the facts, by its id.
    """

    operations: tuple[Operation, ...]
    facts: tuple[Memory, ...]
    notes: tuple[str, ...] = ()
    about: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    waiting: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE


@dataclass(slots=True, kw_only=True)
class IncomingFact:
    """A new fact on its way: as proposed, as it would be stored, and what recall needs of it."""

    fact: Fact
    memory: Memory
    entry: IndexEntry
    key: str
    stems: frozenset[str]
    vector: "np.ndarray[tuple[int], np.dtype[np.float32]] | None"
    suspect: str | None = None
    candidates: list[Candidate] = field(default_factory=list)


def reconcile(
    ports: Ports, facts: Sequence[Fact], *, now: datetime, stated: bool, waiting: Sequence[Memory] = ()
) -> ReconcileResult:
    """Decide for each fact what it does to what is known. Performs nothing.

    Args:
        ports: everything to work with.
        facts: the new facts, in order.
        now: the instant of the plan.
        stated: whether a person states them: then what an undo holds is let go, and pinned memories may change.
        waiting: if given, the memories these facts already have in the store, one each, flagged as waiting.
    """
    made, problems = entries(ports, [fact.text for fact in facts])
    memories = waiting or new_fact_memories(ports, facts, now)
    fresh = [_new(fact, memory, entry) for fact, memory, entry in zip(facts, memories, made, strict=True)]
    equals = _equals(ports, fresh)
    held = _held(ports, fresh)
    draft = ChangeSet(ports=ports, now=now, stated=stated, in_store={memory.id for memory in waiting})
    if stated:
        draft.release_holds(held)
        held = frozenset()
    cases = _cases(ports, fresh, equals | dict.fromkeys(held), now, stated=stated)
    verdicts, failed, cost = _decide(ports, cases)
    about: dict[str, tuple[str, ...]] = {}
    for number, new in enumerate(fresh, 1):
        memory = draft.undecided(new.memory)
        if memory is None:
            continue
        known = draft.live_duplicate(memory, new.key, equals)
        because = f"said: {new.fact.quote!r}" if new.fact.quote else "stated"
        noted = len(draft.notes)
        if new.key in held and memory.id not in draft.in_store:
            draft.refuse(memory, new.fact.quote, "a person undid, deleted or erased it", held=True)
        elif new.suspect:
            _put_aside(ports, draft, memory, new)
        elif known is not None:
            draft.reinforce(known, memory, because="the same words are known")
        elif not new.candidates:
            draft.place(memory, new.entry, because=because)
        else:
            draft.judge(memory, new.entry, verdicts.get(number, ()), new.candidates, because=because)
        if (kept := draft.resolved(memory)) is not None and kept.id in draft.facts and draft.notes[noted:]:
            about[kept.id] = (*about.get(kept.id, ()), *draft.notes[noted:])
    return ReconcileResult(
        operations=tuple(draft.operations),
        facts=tuple(draft.facts.values()),
        notes=(*draft.notes, *unknown_category_warnings(ports, draft.facts.values())),
        about=about,
        waiting=draft.waiting,
        problems=(*problems, *failed, *draft.problems),
        cost=cost,
    )


def _put_aside(ports: Ports, draft: ChangeSet, memory: Memory, new: IncomingFact) -> None:
    """A fact that reads as an instruction waits for a person; it meets nothing that is known."""
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset({QUARANTINED}), key=new.key)
    if not ports.store.select((ports.scope,), where):
        draft.quarantine(memory, new.entry, new.suspect or "")


def _held(ports: Ports, fresh: Sequence[IncomingFact]) -> frozenset[str]:
    """The keys of facts that a person undid, deleted or erased."""
    buried = {tombstone(new.fact.text): new.key for new in fresh}
    found = ports.store.suppressed_keys(ports.scope, [*buried, *buried.values()])
    return frozenset(buried.get(key, key) for key in found)


def _new(fact: Fact, memory: Memory, entry: IndexEntry) -> IncomingFact:
    vector = np.frombuffer(entry.vectors, dtype="<f4", count=entry.dim) if entry.dim else None
    said = f"{fact.text} {implied(fact.text)}"
    stems = frozenset(stem(word) for word in words(said) if word not in STOP_WORDS)
    return IncomingFact(
        fact=fact,
        memory=memory,
        entry=entry,
        key=content_key(fact.text),
        stems=stems,
        vector=vector,
        suspect=suspect(fact.text, fact.trust),
    )


def _equals(ports: Ports, fresh: Sequence[IncomingFact]) -> dict[str, Memory]:
    found: dict[str, Memory] = {}
    own = {new.memory.id for new in fresh}
    for key in {new.key for new in fresh}:
        where = Where(kinds=frozenset(FACT_KINDS), phases=LIVE, key=key)
        for memory in ports.store.select((ports.scope,), where):
            if memory.id not in own and (key not in found or memory.is_searchable):
                found[key] = memory
    return found


def _cases(
    ports: Ports, fresh: Sequence[IncomingFact], closed: Mapping[str, object], now: datetime, *, stated: bool
) -> list[ReconcileCase]:
    """The facts that have to do with something known, or with an earlier one of the batch, each with its candidates."""
    cases: list[ReconcileCase] = []
    shown = 0
    for place, new in enumerate(fresh):
        if new.suspect or new.key in closed or any(new.key == earlier.key for earlier in fresh[:place]):
            continue
        for memory, cosine in (*_similar(ports, new, now), *_in_batch(ports, new, fresh[:place])):
            if any(candidate.memory.id == memory.id for candidate in new.candidates):
                continue
            shown += 1
            fixed = memory.pinned and not stated
            new.candidates.append(Candidate(number=shown, memory=memory, cosine=cosine, fixed=fixed))
        if new.candidates:
            at = new.fact.valid_from or new.memory.valid_from
            cases.append(ReconcileCase(number=place + 1, fact=new.fact, at=at, candidates=tuple(new.candidates)))
    return cases


def _similar(ports: Ports, new: IncomingFact, now: datetime) -> list[tuple[Memory, float | None]]:
    """Known hot facts of the scope that share a stem with it, or with what it implies, or that point the same way."""
    query = Query(
        text=f"{new.fact.text} {implied(new.fact.text)}".rstrip(),
        vector=new.vector,
        embedder=new.entry.embedder,
        top_k=CANDIDATES,
        kinds=_PLAIN_KINDS,
        now=now,
    )
    related = similarity(ports, "related", RELATED)
    ranked = {
        one.id: one
        for one in ports.store.search((ports.scope,), query)
        if one.id != new.memory.id and (one.shared > 0 or (one.cosine or -1.0) >= related)
    }
    return [(memory, ranked[memory.id].cosine) for memory in ports.store.get((ports.scope,), ranked)]


def _in_batch(ports: Ports, new: IncomingFact, earlier: Sequence[IncomingFact]) -> list[tuple[Memory, float | None]]:
    related, found = similarity(ports, "related", RELATED), []
    for other in earlier:
        if other.suspect:
            continue
        both = new.vector is not None and other.vector is not None
        cosine = float(new.vector @ other.vector) if both else None  # type: ignore[operator]  # both are there
        if new.stems & other.stems or (cosine is not None and cosine >= related):
            found.append((other.memory, cosine))
    return found[-CANDIDATES:]


def _decide(
    ports: Ports, cases: Sequence[ReconcileCase]
) -> tuple[dict[int, tuple[Verdict, ...]], tuple[str, ...], Cost]:
    """The verdicts by fact, in one call for the whole batch; a failing mind leaves none, and says why."""
    if not cases:
        return {}, (), FREE
    try:
        proposal = ports.mind.decide(cases)
    except ModelError as error:
        return {}, (str(error),), cost_of(error)
    verdicts: dict[int, tuple[Verdict, ...]] = {}
    for verdict in proposal.value:
        verdicts[verdict.fact] = (*verdicts.get(verdict.fact, ()), verdict)
    problems = [*proposal.problems, *(f"refused a verdict: {one.reason}" for one in proposal.rejected)]
    if silent := sum(case.number not in verdicts for case in cases):
        problems.append(f"the mind gave no verdict on {silent} of {len(cases)} facts")
    return verdicts, tuple(problems), proposal.cost


def similarity(ports: Ports, name: str, standard: float) -> float:
    """A similarity threshold: the embedder's own number where it carries one, else the standard one."""
    own: Mapping[str, float] = getattr(ports.embedder, "similarity", {})
    return own.get(name, standard)


SETTLED: Final = ("distinct", "close", "value changed?", "conflict?", "unsure")
"""Kinds of links with which a comparison ends."""


def compared_pair_key(one: Memory, other: Memory) -> str:
    """The key under which two facts are held as compared, whichever comes first: by what they say."""
    return f"pair {' '.join(sorted((content_key(one.text), content_key(other.text))))}"
