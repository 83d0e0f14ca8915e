"""Compares changed facts with their nearest neighbours; a mind decides about each near pair as about a new fact."""

from collections.abc import Sequence

import numpy as np

from slowwave.model.memory import STATEMENT_KINDS, UNRECONCILED, Memory
from slowwave.model.mind import Candidate, ReconcileCase, Verdict
from slowwave.model.operations import MoveCursor
from slowwave.model.plan import Group
from slowwave.model.query import Query
from slowwave.pipelines.ingest.change_set import ChangeSet
from slowwave.pipelines.ingest.reconcile import SETTLED, apply_verdicts, ask_mind, compared_pair_key, similarity
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.pipelines.sleep.unread import as_fact
from slowwave.policy.retention.policies import protection_reason

CURSOR = "duplicates"
LOOKED_AT = 200
"""How many changed facts one pass compares with their neighbours."""
NEIGHBOURS = 4
"""How many of the nearest facts are read for each, itself among them."""
CASES = 20
"""How many pairs one pass gives to the mind."""

_KINDS = frozenset(STATEMENT_KINDS)


def duplicates(context: SleepContext) -> StagePlan:
    """Decide about pairs above the duplicate threshold that no mind has compared yet: the newer fact is the new one."""
    ports = context.ports
    cursor, (facts, reached) = context.state.cursors.get(CURSOR, 0), context.state.changed[CURSOR]
    if not facts:
        return StagePlan()
    pairs, looked_at = _pairs(context, facts)
    if pairs and not (context.think and context.time.begin_step()):
        return StagePlan(left=len(pairs))
    if looked_at < len(facts):  # the cursor moves to the last fact that was compared
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
    verdicts, problems, cost = ask_mind(ports, cases)
    if len(verdicts) < len(cases):
        return StagePlan(left=len(pairs), problems=problems, cost=cost)
    changes.problems += problems
    for case, (newer, older, _) in zip(cases, pairs, strict=True):
        _carry_out(changes, case, newer, older, next(reversed(verdicts[case.number]), None))
    context.taken.update(changes.states)
    groups = [
        Group(
            operations=(*changes.operations, move),
            because=f"near another: {len(pairs)} of the {looked_at} that changed",
        )
    ]
    left = len(facts) - looked_at or int(len(facts) == LOOKED_AT)
    return StagePlan(groups=tuple(groups), left=left, problems=tuple(changes.problems), cost=cost)


def _pairs(context: SleepContext, facts: Sequence[Memory]) -> tuple[list[tuple[Memory, Memory, float]], int]:
    """As many pairs as one pass gives to the mind, and how many changed facts were read for them."""
    near = _near(context, [fact for fact in facts if _is_fresh(context, fact)])
    newer = {fact.id: fact for fact in facts}
    keys = {(one, other.id): compared_pair_key(newer[one], other) for one in near for other, _ in near[one]}
    suppressed = context.ports.store.suppressed_keys(context.ports.scope, keys.values())
    compared = {pair for pair, key in keys.items() if key in suppressed}
    for link in context.ports.store.links(context.ports.scope, list(near), SETTLED):
        compared |= {(link.source, link.target), (link.target, link.source)}
    pairs: list[tuple[Memory, Memory, float]] = []
    for place, fact in enumerate(facts):
        if len(pairs) == CASES:
            return pairs, place
        for older, cosine in near.get(fact.id, ()):
            is_older = (older.recorded_at, older.id) < (fact.recorded_at, fact.id)
            is_free = older.id not in context.taken and not protection_reason(older)
            if is_older and is_free and (fact.id, older.id) not in compared:
                pairs.append((fact, older, cosine))
                break
    return pairs, len(facts)


def _is_fresh(context: SleepContext, fact: Memory) -> bool:
    return (
        fact.is_searchable
        and fact.kind in _KINDS
        and fact.id not in context.taken
        and UNRECONCILED not in fact.flags
        and not protection_reason(fact)
    )


def _near(context: SleepContext, facts: Sequence[Memory]) -> dict[str, list[tuple[Memory, float]]]:
    """The facts above the duplicate threshold near each of these, nearest first, with the cosine; only where there are any."""
    ports = context.ports
    store, scopes = ports.store, (ports.scope,)
    entries = store.entries(ports.scope, [fact.id for fact in facts]) if facts else {}
    queries = {
        identity: Query(
            text="",
            vector=np.frombuffer(entry.vectors, dtype="<f4", count=entry.dim),
            embedder=entry.embedder,
            top_k=NEIGHBOURS,
            kinds=_KINDS,
            now=context.now,
        )
        for identity, entry in entries.items()
        if entry.dim
    }
    if not queries:
        return {}
    threshold = similarity(ports, "duplicate", ports.config.dedup_similarity_threshold)
    found: dict[str, list[tuple[Memory, float]]] = {}
    with store.reading(scopes) as reading:
        reading.begin()
        for query in queries.values():
            reading.rank(query)
        for identity, query in queries.items():
            ranked = {place.id: place.cosine or -1.0 for place in store.search(scopes, query)}
            near = [one for one in ranked if one != identity and ranked[one] > threshold]
            if near:
                found[identity] = [(memory, ranked[memory.id]) for memory in store.get(scopes, near)]
    return found


def _carry_out(changes: ChangeSet, case: ReconcileCase, newer: Memory, older: Memory, verdict: Verdict | None) -> None:
    if verdict is None:
        changes.link(newer, older, "unsure", because="the mind did not say")
    elif verdict.op == "ADD":
        changes.link(newer, older, "distinct", because=verdict.because or "two different things")
    elif (current := changes.undecided(newer)) is not None:
        apply_verdicts(changes, current, None, [verdict], case.candidates, because="compared in sleep", stated=False)
