"""Compares changed facts with their nearest neighbours; a mind decides about each near pair as about a new fact."""

import numpy as np

from slowwave.errors import ModelError
from slowwave.model.memory import FACT_KINDS, SUMMARY, UNRECONCILED, Memory
from slowwave.model.mind import Candidate, ReconcileCase, Verdict
from slowwave.model.operations import MoveCursor
from slowwave.model.plan import FREE, Group, cost_of
from slowwave.model.query import Query
from slowwave.pipelines.ingest.change_set import ChangeSet
from slowwave.pipelines.ingest.reconcile import SETTLED, apply_verdicts, compared_pair_key, similarity
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.pipelines.sleep.unread import as_fact
from slowwave.policy.retention.policies import protection_reason

CURSOR = "duplicates"
LOOKED_AT = 200
"""How many changed facts one pass compares with their neighbours."""
CASES = 20
"""How many pairs one pass gives to the mind."""

_KINDS = frozenset(FACT_KINDS) - {SUMMARY}


def duplicates(context: SleepContext) -> StagePlan:
    """Decide about pairs above the duplicate threshold that no mind has compared yet: the newer fact is the new one."""
    ports = context.ports
    cursor = _cursor(context)
    ids, reached = ports.store.changed(ports.scope, cursor, LOOKED_AT)
    if not ids:
        return StagePlan()
    pairs, looked_at = _pairs(context, ids)
    if pairs and not context.think:
        return StagePlan(left=len(pairs))
    if looked_at < len(ids):  # the cursor moves to the last fact that was compared
        reached = ports.store.changed(ports.scope, cursor, looked_at)[1]
    move = MoveCursor(conversation="", cursor=CURSOR, before=cursor, after=reached, because="compared what changed")
    changes = ChangeSet(ports=ports, now=context.now, stored={newer.id for newer, _, _ in pairs})
    cases = [
        ReconcileCase(
            number=number,
            fact=as_fact(newer),
            at=newer.valid_from,
            candidates=(Candidate(number=number, memory=older, cosine=cosine),),
        )
        for number, (newer, older, cosine) in enumerate(pairs, 1)
    ]
    try:
        proposal = ports.mind.decide(cases) if cases else None
    except ModelError as error:
        return StagePlan(left=len(pairs), problems=(str(error),), cost=cost_of(error))
    changes.problems += proposal.problems if proposal else ()
    verdicts = {verdict.fact: verdict for verdict in proposal.value} if proposal else {}
    for case, (newer, older, _) in zip(cases, pairs, strict=True):
        _carry_out(changes, case, newer, older, verdicts.get(case.number))
    context.taken.update(changes.states)
    groups = [
        Group(
            operations=(*changes.operations, move),
            because=f"near another: {len(pairs)} of the {looked_at} that changed",
        )
    ]
    left = len(ids) - looked_at or int(len(ids) == LOOKED_AT)
    cost = proposal.cost if proposal else FREE
    return StagePlan(groups=tuple(groups), left=left, problems=tuple(changes.problems), cost=cost)


def _pairs(context: SleepContext, ids: list[str]) -> tuple[list[tuple[Memory, Memory, float]], int]:
    """As many pairs as one pass gives to the mind, and how many changed facts were read for them."""
    fresh = {memory.id: memory for memory in _fresh(context, ids)}
    pairs: list[tuple[Memory, Memory, float]] = []
    for place, identity in enumerate(ids):
        if len(pairs) == CASES:
            return pairs, place
        if identity in fresh and (pair := _nearest(context, fresh[identity])) is not None:
            pairs.append(pair)
    return pairs, len(ids)


def _cursor(context: SleepContext) -> int:
    scope_cursors = context.ports.store.conversation(context.ports.scope, "")
    return scope_cursors.cursor(CURSOR) if scope_cursors else 0


def _fresh(context: SleepContext, ids: list[str]) -> list[Memory]:
    return [
        memory
        for memory in context.ports.store.get((context.ports.scope,), ids)
        if memory.is_searchable
        and memory.kind in _KINDS
        and memory.id not in context.taken
        and UNRECONCILED not in memory.flags
        and not protection_reason(memory)
    ]


def _nearest(context: SleepContext, newer: Memory) -> tuple[Memory, Memory, float] | None:
    """The fact, the nearest older one above the duplicate threshold, and their cosine; None if all were compared before."""
    ports = context.ports
    entry = ports.store.entries(ports.scope, [newer.id]).get(newer.id)
    if entry is None or not entry.dim:
        return None
    vector = np.frombuffer(entry.vectors, dtype="<f4", count=entry.dim)
    query = Query(text="", vector=vector, embedder=entry.embedder, top_k=4, kinds=_KINDS, now=context.now)
    threshold = similarity(ports, "duplicate", ports.config.dedup_similarity_threshold)
    ranked = {place.id: place.cosine or -1.0 for place in ports.store.search((ports.scope,), query)}
    near = [memory for memory in ports.store.get((ports.scope,), ranked) if ranked[memory.id] > threshold]
    compared = {link.other(newer.id) for link in ports.store.links(ports.scope, [newer.id], SETTLED)}
    keys = {older.id: compared_pair_key(newer, older) for older in near}
    suppressed = ports.store.suppressed_keys(ports.scope, keys.values())
    compared |= {identity for identity, key in keys.items() if key in suppressed}
    for older in near:
        is_older = (older.recorded_at, older.id) < (newer.recorded_at, newer.id)
        if is_older and older.id not in compared and older.id not in context.taken and not protection_reason(older):
            return newer, older, ranked[older.id]
    return None


def _carry_out(changes: ChangeSet, case: ReconcileCase, newer: Memory, older: Memory, verdict: Verdict | None) -> None:
    if verdict is None:
        changes.link(newer, older, "unsure", because="the mind did not say")
    elif verdict.op == "ADD":
        changes.link(newer, older, "distinct", because=verdict.because or "two different things")
    elif (current := changes.undecided(newer)) is not None:
        apply_verdicts(changes, current, None, [verdict], case.candidates, because="compared in sleep", stated=False)
