"""Compress: what fades together becomes one summary, stored and findable in the same transaction that retires it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isinf
from statistics import fmean

import numpy as np

from slowwave.errors import ModelError
from slowwave.model.codec import content_key
from slowwave.model.memory import SUMMARY, Memory
from slowwave.model.message import clean
from slowwave.model.mind import SummaryRequest
from slowwave.model.operations import Add, Change, Link, Operation, Suppress
from slowwave.model.plan import FREE, Group, cost_of
from slowwave.model.query import Where
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.reconcile import similarity
from slowwave.pipelines.planning import new_id, reschedule, transition
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.policy.guard.grounding import invented_details, missing_details, shares_content
from slowwave.policy.guard.summary_support import unsupported_by_facts
from slowwave.policy.guard.trust import least
from slowwave.policy.retention.categories import later
from slowwave.policy.retention.policies import USES_THAT_KEEP, curve_of, is_in_fading_band, protection_reason
from slowwave.policy.summaries.grouping import groups as together
from slowwave.ports import Ports

DEPTH_MAX = 2
HOT_MAX = 2000
COLD_MAX = 250
"""How many fading memories of one kind and category are looked at together; of those in cold storage, the newest."""
FAINT_MAX = 20_000
"""How many fading memories are told apart by kind and category in one night."""
SUMMARIES = 20
"""How many summaries one night asks for."""
PROVENANCE = 0.8
"""The weight of a summary's link to each member; it never decays."""
WORDS_PER_MEMBER = 20

Sort = tuple[str, str, int]
"""Kind, category and depth: what is compared with each other."""


def compress(context: SleepContext) -> StagePlan:
    """Clusters of the fading band around what is due, each replaced by a validated summary."""
    found = not_yet_refused(context, _found(context))
    if not context.think:
        context.waiting.update(member.id for members in found for member in members)
        return StagePlan(left=len(found))
    return without_refused(context, found, summarised(context, found, what="fading memories"))


def not_yet_refused(context: SleepContext, found: Sequence[tuple[Memory, ...]]) -> list[tuple[Memory, ...]]:
    """The clusters of which this mind's summary was not refused before: of the same words it would say the same."""
    keys = [_key(context.ports, members) for members in found]
    held = context.ports.store.suppressed_keys(context.ports.scope, keys)
    return [members for members, key in zip(found, keys, strict=True) if key not in held]


def without_refused(context: SleepContext, found: Sequence[tuple[Memory, ...]], staged: StagePlan) -> StagePlan:
    """The same, and which clusters are not asked about again until one of their members is another or says another thing."""
    settled = context.taken | context.waiting
    refused = [members for members in found if settled.isdisjoint(member.id for member in members)]
    many = "1 summary was" if len(refused) == 1 else f"{len(refused)} summaries were"
    because = f"{many} refused; the same memories are not asked about again"
    holds = tuple(Suppress(key=_key(context.ports, members), because=because) for members in refused)
    if not holds:
        return staged
    group = Group(operations=holds, because=because)
    return replace(staged, groups=(*staged.groups, group), left=staged.left - len(refused))


def _key(ports: Ports, members: Sequence[Memory]) -> str:
    """The key under which a refused summary of these words by this mind is held."""
    said = " ".join(sorted(content_key(member.text) for member in members))
    return f"summary {content_key(f'{ports.mind.name} {said}')}"


def summarised(context: SleepContext, found: Sequence[tuple[Memory, ...]], *, what: str) -> StagePlan:
    """Each group replaced by a validated summary, as far as the mind and the budget go; `what` they are goes into reasons."""
    ports = context.ports
    groups: list[Group] = []
    problems: list[str] = []
    cost, refused = FREE, 0
    undecided = list(found)
    changed = 0
    for members in found[:SUMMARIES]:
        if not context.budget.can_afford(changed + len(members)):
            break
        try:
            proposal = ports.mind.summarise(
                SummaryRequest(memories=members, style="cluster", words=WORDS_PER_MEMBER * len(members))
            )
        except ModelError as error:
            problems.append(str(error))
            cost += cost_of(error)
            break
        undecided.remove(members)
        cost += proposal.cost
        problems += proposal.problems
        text = clean(proposal.value.text).strip()
        if problem := _refusal(ports, text, members):
            problems.append(problem)
            refused += 1
            continue
        group, troubles = _replacement(context, members, text, what)
        groups.append(group)
        problems += troubles
        context.taken.update(member.id for member in members)
        changed += len(members)
    context.waiting.update(member.id for members in undecided for member in members)
    left = len(undecided) + refused
    return StagePlan(groups=tuple(groups), left=left, problems=tuple(problems), cost=cost)


def _found(context: SleepContext) -> list[tuple[Memory, ...]]:
    """Memories that fade together, each band compared by itself. Only what belongs to a cluster is read whole."""
    ports = context.ports
    if ports.embedder is None:
        return []
    bands: dict[Sort, list[str]] = {}
    for memory in context.open():
        if memory.depth < DEPTH_MAX and is_in_fading_band(memory, ports.config, context.now):
            bands.setdefault((memory.kind, memory.category, memory.depth), []).append(memory.id)
    hot = fading_candidates(context, set(bands)) if bands else {}
    clusters: list[list[str]] = []
    for band, due in sorted(bands.items()):
        warm = ports.store.vectors(ports.scope, dict.fromkeys([*due, *hot.get(band, ())]), ports.embedder.name)
        cold = ports.store.cold_faded_facts(ports.scope, band[:2], ports.embedder.name, COLD_MAX)
        vectors = {one.id: one.vector for one in cold if one.depth == band[2]} | warm
        clusters += _clusters(ports, {key: row for key, row in vectors.items() if key not in context.taken})
    wanted = [identity for cluster in clusters for identity in cluster]
    known = {memory.id: memory for memory in ports.store.get((ports.scope,), wanted) if is_fading(memory, context)}
    groups = [[known[identity] for identity in cluster if identity in known] for cluster in clusters]
    return [
        tuple(sorted(members, key=lambda m: (m.valid_from, m.id)))
        for members in groups
        if len(members) >= ports.config.consolidation_group_size
    ]


def _clusters(ports: Ports, vectors: Mapping[str, bytes]) -> list[list[str]]:
    """The ids of those that all resemble each other."""
    config, names = ports.config, list(vectors)
    if len(names) < config.consolidation_group_size:
        return []
    groups = together(
        np.frombuffer(b"".join(vectors.values()), dtype="<f4").reshape(len(names), -1),
        threshold=similarity(ports, "group", config.consolidation_similarity_threshold),
        keys=names,
        smallest=config.consolidation_group_size,
        largest=config.consolidation_max_group_size,
    )
    return [[names[place] for place in group] for group in groups]


def fading_candidates(context: SleepContext, bands: set[Sort]) -> dict[Sort, list[str]]:
    """Hot facts that may lie in the fading band: each lane gives those whose anchor lies far enough back."""
    store, scope, config = context.ports.store, context.ports.scope, context.ports.config
    found: dict[Sort, list[str]] = {band: [] for band in bands}
    lanes = store.decay_classes(scope)
    curves = {pace: None if pace is None else curve_of(pace, config) for pace in {lane.pace for lane in lanes}}
    room = FAINT_MAX
    for pace, uses, _ in lanes:
        curve = curves[pace]
        if pace is None or curve is None:  # their order tells nothing
            return {band: _looked_through(context, *band) for band in bands}
        days = curve.reach(config.consolidation_retention_threshold)
        until = None if isinf(days) or uses >= USES_THAT_KEEP else later(context.now, -days)
        for one in store.fading_facts(scope, (pace, uses), until, min(room, HOT_MAX)) if until and room else ():
            room -= 1
            if len(band := found.get(one[1:4], [])) < HOT_MAX:
                band.append(one.id)
    return found


def _looked_through(context: SleepContext, kind: str, category: str, depth: int) -> list[str]:
    """What fades among all hot facts of a kind and category."""
    where = Where(
        kinds=frozenset({kind}), categories=frozenset({category}), phases=frozenset({"active"}), limit=HOT_MAX
    )
    found = context.ports.store.select((context.ports.scope,), where)
    return [
        memory.id
        for memory in found
        if memory.depth == depth and is_in_fading_band(memory, context.ports.config, context.now)
    ]


def is_fading(memory: Memory, context: SleepContext) -> bool:
    """Hot, it fades by its curve, which use may hold up; cold, it did, and only a person's protection counts."""
    if memory.phase == "cold":
        return memory.reason == "faded" and not protection_reason(memory)
    return is_in_fading_band(memory, context.ports.config, context.now)


def _refusal(ports: Ports, text: str, members: tuple[Memory, ...]) -> str | None:
    """Why a summary may not stand for these memories, or None."""
    if not text:
        return f"an empty summary of {len(members)} memories was refused"
    if lost := missing_details(text, members):
        return f"a summary of {len(members)} memories was refused: it loses {', '.join(map(repr, lost[:3]))}"
    if invented := invented_details(text, members):
        return f"a summary of {len(members)} memories was refused: it invents {', '.join(map(repr, invented[:3]))}"
    if ports.store.suppressed_keys(ports.scope, [content_key(text)]):
        return f"a summary of {len(members)} memories was refused: a person undid these very words"
    reason = unsupported_by_facts(text, members) if shares_content(text, members) else "it speaks of something else"
    return f"a summary of {len(members)} memories was refused: {reason}" if reason else None


def _replacement(
    context: SleepContext, members: tuple[Memory, ...], text: str, what: str
) -> tuple[Group, tuple[str, ...]]:
    """Store and index the summary, and supersede its members, as one."""
    ports, now = context.ports, context.now
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
    summary = reschedule(summary, ports.config)
    because = f"{len(members)} {what} of category {summary.category} became one summary"
    # The members first: a summary may have the words of one of them, and a scope holds the same words once.
    operations: list[Operation] = [
        Change(
            before=member,
            after=transition(member, "consolidate", ports.config, superseded_by=summary.id),
            because=because,
            unless_used=True,
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
