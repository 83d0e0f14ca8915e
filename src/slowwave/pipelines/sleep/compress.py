"""Compress: what fades together becomes one summary, stored and findable in the same transaction that retires it."""

from math import isinf
from statistics import fmean

import numpy as np

from slowwave.errors import ModelError
from slowwave.model.codec import content_key
from slowwave.model.fact import Brief
from slowwave.model.memory import SUMMARY, Memory
from slowwave.model.message import clean
from slowwave.model.operation import Add, Change, Link, Operation
from slowwave.model.plan import FREE, Group, cost_of
from slowwave.model.query import Where
from slowwave.pipelines.entries import entries
from slowwave.pipelines.making import new_id
from slowwave.pipelines.moves import dated, moved
from slowwave.pipelines.reconcile import similarity
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.policy.categories import later
from slowwave.policy.grounding import adds, keeps, related
from slowwave.policy.grouping import groups as clusters
from slowwave.policy.retention import USES_THAT_KEEP, curve_of, fading, protected
from slowwave.policy.trust import least
from slowwave.ports import Ports

DEPTH_MAX = 2
HOT_MAX = 2000
COLD_MAX = 1000
"""How many fading memories of one kind and category are looked at together; of those in cold storage, the newest."""
SUMMARIES = 20
"""How many summaries one night asks for."""
PROVENANCE = 0.8
"""The weight of a summary's link to each member; it never decays."""
WORDS_PER_MEMBER = 20


def compress(night: Night) -> Staged:
    """Clusters of the fading band around what is due, each replaced by a validated summary."""
    ports = night.ports
    bands = {(m.kind, m.category, m.depth) for m in night.open() if fading(m, ports.config, night.now)}
    found = [cluster for band in sorted(bands) for cluster in _clusters(night, *band)]
    if not night.think:
        night.waiting.update(member.id for members in found for member in members)
        return Staged(left=len(found))
    groups: list[Group] = []
    problems: list[str] = []
    cost, refused = FREE, 0
    undecided = list(found)
    room = night.budget.left
    for members in found[:SUMMARIES]:
        if len(members) > room:
            break
        try:
            proposal = ports.mind.summarise(
                Brief(memories=members, style="cluster", words=WORDS_PER_MEMBER * len(members))
            )
        except ModelError as error:
            problems.append(str(error))
            cost += cost_of(error)
            break
        undecided.remove(members)
        cost += proposal.cost
        text = clean(proposal.value.text).strip()
        if problem := _refusal(ports, text, members):
            problems.append(problem)
            refused += 1
            continue
        group, troubles = _replacement(night, members, text)
        groups.append(group)
        problems += troubles
        night.taken.update(member.id for member in members)
        room -= len(members)
    night.waiting.update(member.id for members in undecided for member in members)
    left = len(undecided) + refused
    return Staged(groups=tuple(groups), left=left, problems=tuple(problems), cost=cost)


def _clusters(night: Night, kind: str, category: str, depth: int) -> list[tuple[Memory, ...]]:
    ports, config = night.ports, night.ports.config
    if depth >= DEPTH_MAX:
        return []
    band = [m for m in _band(night, kind, category) if m.depth == depth]
    known = ports.store.entries(ports.scope, [memory.id for memory in band])
    name = ports.embedder.name if ports.embedder else None
    band = [memory for memory in band if (entry := known.get(memory.id)) and entry.dim and entry.embedder == name]
    if len(band) < config.consolidation_group_size:
        return []
    vectors = np.stack([np.frombuffer(known[m.id].vectors, dtype="<f4", count=known[m.id].dim) for m in band])
    line = similarity(ports, "group", config.consolidation_similarity_threshold)
    found = clusters(
        vectors,
        threshold=line,
        keys=[memory.id for memory in band],
        smallest=config.consolidation_group_size,
        largest=config.consolidation_max_group_size,
    )
    return [tuple(sorted((band[place] for place in group), key=lambda m: (m.valid_from, m.id))) for group in found]


def _band(night: Night, kind: str, category: str) -> list[Memory]:
    """Hot and below the consolidation threshold, or cold because it faded; never what a person protects."""
    store, scope = night.ports.store, night.ports.scope
    cold = Where(
        kinds=frozenset({kind}),
        categories=frozenset({category}),
        phases=frozenset({"cold"}),
        order="newest",
        limit=COLD_MAX,
    )
    band = [*_weak(night, kind, category), *store.select((scope,), cold)]
    return [memory for memory in band if memory.id not in night.taken and _fades(memory, night)]


def _weak(night: Night, kind: str, category: str) -> list[Memory]:
    """Hot facts that may lie in the fading band: each lane gives those whose anchor lies far enough back."""
    store, scope, config = night.ports.store, night.ports.scope, night.ports.config
    found: list[Memory] = []
    lanes = store.lanes(scope)
    curves = {pace: curve_of(pace, config) for pace in {lane.pace for lane in lanes} if pace is not None}
    for pace, uses, _ in lanes:
        curve = None if pace is None else curves[pace]
        if pace is None or curve is None:  # their order tells nothing: look at them all
            where = Where(
                kinds=frozenset({kind}), categories=frozenset({category}), phases=frozenset({"active"}), limit=HOT_MAX
            )
            return store.select((scope,), where)
        days = curve.reach(config.consolidation_retention_threshold)
        until = None if isinf(days) or uses >= USES_THAT_KEEP else later(night.now, -days)
        if until is not None:
            found += store.faded(scope, (pace, uses), until, (kind, category), HOT_MAX - len(found))
    return found


def _fades(memory: Memory, night: Night) -> bool:
    """Hot, it fades by its curve, which use may hold up; cold, it did, and only a person's protection counts."""
    if memory.phase == "cold":
        return memory.reason == "faded" and not protected(memory)
    return fading(memory, night.ports.config, night.now)


def _refusal(ports: Ports, text: str, members: tuple[Memory, ...]) -> str | None:
    """Why a summary may not stand for these memories, or None."""
    if not text:
        return f"an empty summary of {len(members)} memories was refused"
    if lost := keeps(text, members):
        return f"a summary of {len(members)} memories was refused: it loses {', '.join(map(repr, lost[:3]))}"
    if invented := adds(text, members):
        return f"a summary of {len(members)} memories was refused: it invents {', '.join(map(repr, invented[:3]))}"
    if ports.store.held(ports.scope, [content_key(text)]):
        return f"a summary of {len(members)} memories was refused: a person undid these very words"
    if not related(text, members):
        return f"a summary of {len(members)} memories was refused: it speaks of something else"
    return None


def _replacement(night: Night, members: tuple[Memory, ...], text: str) -> tuple[Group, tuple[str, ...]]:
    """Store and index the summary, and supersede its members, as one."""
    ports, now = night.ports, night.now
    made, problems = entries(ports, [text])
    summary = Memory(
        id=new_id(now),
        scope=ports.scope,
        kind=SUMMARY,
        text=text,
        category=members[0].category,
        recorded_at=now,
        valid_from=min(member.valid_from for member in members),
        confidence=min(member.confidence for member in members),
        importance=max(member.importance for member in members),
        stability=fmean(member.stability for member in members),
        accesses=max(member.accesses for member in members),
        trust=least(member.trust for member in members),
        depth=members[0].depth + 1,
        members=tuple(member.id for member in members),
    )
    summary = dated(summary, ports.config)
    because = f"{len(members)} fading memories of category {summary.category} became one summary"
    # The members first: a summary may have the words of one of them, and a scope holds the same words once.
    operations: list[Operation] = [
        Change(
            before=member,
            after=moved(member, "consolidate", ports.config, superseded_by=summary.id),
            because=because,
        )
        for member in members
    ]
    operations.append(Add(memory=summary, because=because, entry=made[0]))
    operations += [
        Link(
            source=summary.id,
            target=member.id,
            kind="provenance",
            weight=PROVENANCE,
            before=0.0,
            because=because,
            at=now,
        )
        for member in members
    ]
    return Group(operations=tuple(operations), because=because), problems
