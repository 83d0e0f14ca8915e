"""Reconcile: the single path for every write of a fact. What is new meets what is known, and a mind decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from slowwave.errors import ModelError
from slowwave.model.codec import content_key
from slowwave.model.entry import Entry
from slowwave.model.fact import Candidate, Case, Fact, Verdict
from slowwave.model.memory import FACT_KINDS, SUMMARY, Memory
from slowwave.model.operation import Operation
from slowwave.model.plan import FREE, Cost, cost_of
from slowwave.model.query import Query, Where
from slowwave.pipelines.born import born, unfamiliar
from slowwave.pipelines.entries import entries
from slowwave.pipelines.review import QUARANTINED, suspect
from slowwave.pipelines.tombstone import tombstone
from slowwave.pipelines.verdicts import LIVE, Draft
from slowwave.policy.segment import STOP_WORDS, stem, words
from slowwave.policy.statements import implied
from slowwave.ports import Ports

CANDIDATES = 8
"""How many known memories a mind is shown for one new fact."""
RELATED = 0.40
"""The cosine from which two texts are similar, where the embedder brings no number of its own."""

_PLAIN_KINDS = frozenset(FACT_KINDS) - {SUMMARY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
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
class _New:
    """A new fact on its way: as proposed, as it would be stored, and what recall needs of it."""

    fact: Fact
    memory: Memory
    entry: Entry
    key: str
    stems: frozenset[str]
    vector: "np.ndarray[tuple[int], np.dtype[np.float32]] | None"
    suspect: str | None = None
    candidates: list[Candidate] = field(default_factory=list)


def reconcile(
    ports: Ports, facts: Sequence[Fact], *, now: datetime, stated: bool, waiting: Sequence[Memory] = ()
) -> Reconciled:
    """Decide for each fact what it does to what is known. Performs nothing.

    Args:
        ports: everything to work with.
        facts: the new facts, in order.
        now: the instant of the plan.
        stated: whether a person states them: then what an undo holds is let go, and pinned memories may change.
        waiting: if given, the memories these facts already have in the store, one each, flagged as waiting.
    """
    made, problems = entries(ports, [fact.text for fact in facts])
    memories = waiting or born(ports, facts, now)
    fresh = [_new(fact, memory, entry) for fact, memory, entry in zip(facts, memories, made, strict=True)]
    equals = _equals(ports, fresh)
    held = _held(ports, fresh)
    draft = Draft(ports=ports, now=now, stated=stated, in_store={memory.id for memory in waiting})
    if stated:
        draft.let_go(held)
        held = frozenset()
    cases = _cases(ports, fresh, equals | dict.fromkeys(held), now, stated=stated)
    verdicts, failed, cost = _decide(ports, cases)
    about: dict[str, tuple[str, ...]] = {}
    for number, new in enumerate(fresh, 1):
        memory = draft.undecided(new.memory)
        if memory is None:
            continue
        known = draft.known(memory, new.key, equals)
        because = f"said: {new.fact.quote!r}" if new.fact.quote else "stated"
        noted = len(draft.notes)
        if new.key in held and memory.id not in draft.in_store:
            draft.refuse(memory, new.fact.quote, "a person undid, deleted or erased it")
        elif new.suspect:
            _put_aside(ports, draft, memory, new)
        elif known is not None:
            draft.reinforce(known, memory, because="the same words are known")
        elif not new.candidates:
            draft.place(memory, new.entry, because=because)
        else:
            draft.judge(memory, new.entry, verdicts.get(number, ()), new.candidates, because=because)
        if (kept := draft.became(memory)) is not None and kept.id in draft.facts and draft.notes[noted:]:
            about[kept.id] = (*about.get(kept.id, ()), *draft.notes[noted:])
    return Reconciled(
        operations=tuple(draft.operations),
        facts=tuple(draft.facts.values()),
        notes=(*draft.notes, *unfamiliar(ports, draft.facts.values())),
        about=about,
        waiting=draft.waiting,
        problems=(*problems, *failed, *draft.problems),
        cost=cost,
    )


def _put_aside(ports: Ports, draft: Draft, memory: Memory, new: _New) -> None:
    """A fact that reads as an instruction waits for a person; it meets nothing that is known."""
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset({QUARANTINED}), key=new.key)
    if not ports.store.select((ports.scope,), where):
        draft.quarantine(memory, new.entry, new.suspect or "")


def _held(ports: Ports, fresh: Sequence[_New]) -> frozenset[str]:
    """The keys of facts that a person undid, deleted or erased."""
    buried = {tombstone(new.fact.text): new.key for new in fresh}
    found = ports.store.held(ports.scope, [*buried, *buried.values()])
    return frozenset(buried.get(key, key) for key in found)


def _new(fact: Fact, memory: Memory, entry: Entry) -> _New:
    vector = np.frombuffer(entry.vectors, dtype="<f4", count=entry.dim) if entry.dim else None
    said = f"{fact.text} {implied(fact.text)}"
    stems = frozenset(stem(word) for word in words(said) if word not in STOP_WORDS)
    return _New(
        fact=fact,
        memory=memory,
        entry=entry,
        key=content_key(fact.text),
        stems=stems,
        vector=vector,
        suspect=suspect(fact.text, fact.trust),
    )


def _equals(ports: Ports, fresh: Sequence[_New]) -> dict[str, Memory]:
    found: dict[str, Memory] = {}
    own = {new.memory.id for new in fresh}
    for key in {new.key for new in fresh}:
        where = Where(kinds=frozenset(FACT_KINDS), phases=LIVE, key=key)
        for memory in ports.store.select((ports.scope,), where):
            if memory.id not in own and (key not in found or memory.hot):
                found[key] = memory
    return found


def _cases(
    ports: Ports, fresh: Sequence[_New], closed: Mapping[str, object], now: datetime, *, stated: bool
) -> list[Case]:
    """The facts that have to do with something known, or with an earlier one of the batch, each with its candidates."""
    cases: list[Case] = []
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
            cases.append(Case(number=place + 1, fact=new.fact, at=at, candidates=tuple(new.candidates)))
    return cases


def _similar(ports: Ports, new: _New, now: datetime) -> list[tuple[Memory, float | None]]:
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


def _in_batch(ports: Ports, new: _New, earlier: Sequence[_New]) -> list[tuple[Memory, float | None]]:
    related, found = similarity(ports, "related", RELATED), []
    for other in earlier:
        if other.suspect:
            continue
        both = new.vector is not None and other.vector is not None
        cosine = float(new.vector @ other.vector) if both else None  # type: ignore[operator]  # both are there
        if new.stems & other.stems or (cosine is not None and cosine >= related):
            found.append((other.memory, cosine))
    return found[-CANDIDATES:]


def _decide(ports: Ports, cases: Sequence[Case]) -> tuple[dict[int, tuple[Verdict, ...]], tuple[str, ...], Cost]:
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
