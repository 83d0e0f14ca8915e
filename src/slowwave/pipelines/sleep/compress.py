"""Replaces similar fading facts by one summary, stored and indexed in the transaction that archives them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isinf
from statistics import fmean

import numpy as np

from slowwave.errors import ModelError
from slowwave.model.codec import content_key
from slowwave.model.counted import counted
from slowwave.model.memory import SUMMARY, Memory
from slowwave.model.mind import SummaryRequest
from slowwave.model.operations import Add, Change, Link, Operation, Suppress
from slowwave.model.plain_text import clean
from slowwave.model.plan import FREE, Group, cost_of
from slowwave.model.query import Where
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.reconcile import similarity
from slowwave.pipelines.planning import new_id, reschedule, transition
from slowwave.pipelines.sleep.later_members import later_members
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
"""How many fading memories of one kind and category are compared; of those in cold storage, the newest."""
FAINT_MAX = 20_000
"""How many fading memories one pass sorts by kind and category."""
SUMMARIES = 20
"""How many summaries one pass requests."""
PROVENANCE = 0.8
"""The weight of a summary's link to each member; it never decays."""
WORDS_PER_MEMBER = 20

Sort = tuple[str, str, int]
"""Kind, category and depth: only facts that agree in them are compared."""


def compress(context: SleepContext) -> StagePlan:
    """Replace each cluster of fading facts that contains due ones by a validated summary.

    A fact that fades later joins the summary of its like, which is written again with it.
    """
    clusters = _found(context)
    clusters += later_members(context, {member.id for members in clusters for member in members})
    found = not_yet_refused(context, clusters)
    if not context.think:
        context.waiting.update(member.id for members in found for member in members)
        return StagePlan(left=len(found))
    return without_refused(context, found, summarised(context, found, what="fading memories"))


def not_yet_refused(context: SleepContext, found: Sequence[tuple[Memory, ...]]) -> list[tuple[Memory, ...]]:
    """The clusters of which no summary of this mind was refused before, and which it did not refuse to read today."""
    keys = [{_key(context.ports, members), context.key_of_today(members)} for members in found]
    held = context.ports.store.suppressed_keys(context.ports.scope, set().union(*keys))
    return [members for members, both in zip(found, keys, strict=True) if both.isdisjoint(held)]


def without_refused(context: SleepContext, found: Sequence[tuple[Memory, ...]], staged: StagePlan) -> StagePlan:
    """The plan, with a suppression of each cluster whose summary was refused, until a member or its text changes.

    A cluster that the mind refused to read is suppressed for the day: a provider's filter or a limit may change.
    """
    settled = context.taken | context.waiting
    refused = [members for members in found if settled.isdisjoint(member.id for member in members)]
    many = counted(len(refused), "summary was", "summaries were")
    because = f"{many} refused; the same memories are not asked about again"
    holds = tuple(
        Suppress(
            key=_key(context.ports, members) if members[0].id not in context.refused else context.key_of_today(members),
            because=because,
        )
        for members in refused
    )
    if not holds:
        return staged
    group = Group(operations=holds, because=because)
    return replace(staged, groups=(*staged.groups, group), left=staged.left - len(refused))


def _key(ports: Ports, members: Sequence[Memory]) -> str:
    """The key that suppresses further summaries of these texts by this mind."""
    texts = " ".join(sorted(content_key(member.text) for member in members))
    return f"summary {content_key(f'{ports.mind.name} {texts}')}"


def summarised(context: SleepContext, found: Sequence[tuple[Memory, ...]], *, what: str) -> StagePlan:
    """Replace each cluster by a validated summary, as far as the mind and the budget allow.

    Args:
        context: the sleep pass, or the context of a command.
        found: the clusters.
        what: what their members are, for the reasons.
    """
    ports = context.ports
    groups: list[Group] = []
    problems: list[str] = []
    cost, refused = FREE, 0
    undecided = list(found)
    changed = 0
    for members in found[:SUMMARIES]:
        if not context.budget.can_afford(changed + len(members)) or not context.time.begin_step():
            break
        try:
            proposal = ports.mind.summarise(
                SummaryRequest(memories=members, style="cluster", words=WORDS_PER_MEMBER * len(members))
            )
        except ModelError as error:
            problems.append(str(error))
            cost += cost_of(error)
            if not (error.refused or error.cut_off):
                break
            undecided.remove(members)
            context.refused.update(member.id for member in members)
            refused += 1
            continue
        undecided.remove(members)
        cost += proposal.cost
        problems += proposal.problems
        text = clean(proposal.value.text).strip()
        if problem := _refusal(ports, text, members):
            problems.append(problem)
            refused += 1
            continue
        group, more = _replacement(context, members, text, what)
        groups.append(group)
        problems += more
        context.taken.update(member.id for member in members)
        changed += len(members)
    context.waiting.update(member.id for members in undecided for member in members)
    left = len(undecided) + refused
    return StagePlan(groups=tuple(groups), left=left, problems=tuple(problems), cost=cost)


def _found(context: SleepContext) -> list[tuple[Memory, ...]]:
    """The clusters of fading facts that contain due ones. Only members of clusters are read as whole memories."""
    ports = context.ports
    if (space := ports.space) is None:
        return []
    bands: dict[Sort, list[str]] = {}
    for memory in context.open():
        if memory.depth < DEPTH_MAX and is_in_fading_band(memory, ports.config, context.now):
            bands.setdefault((memory.kind, memory.category, memory.depth), []).append(memory.id)
    hot = fading_candidates(context, set(bands)) if bands else {}
    clusters: list[list[str]] = []
    for band, due in sorted(bands.items()):
        warm = ports.store.vectors(ports.scope, dict.fromkeys([*due, *hot.get(band, ())]), space)
        cold = ports.store.cold_faded_facts(ports.scope, band[:2], space, COLD_MAX)
        vectors = {fact.id: fact.vector for fact in cold if fact.depth == band[2]} | warm
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
    """The ids of facts that are all similar to each other, by cluster."""
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
    """Hot facts that may be in the fading band: of each decay class those whose anchor is old enough."""
    store, scope, config = context.ports.store, context.ports.scope, context.ports.config
    found: dict[Sort, list[str]] = {band: [] for band in bands}
    classes = store.decay_classes(scope)
    curves = {pace: None if pace is None else curve_of(pace, config) for pace in {each.pace for each in classes}}
    remaining = FAINT_MAX
    for pace, uses, _ in classes:
        curve = curves[pace]
        if pace is None or curve is None:  # anchors are not in the order of strength: read all facts
            return {band: _all_fading(context, *band) for band in bands}
        days = curve.reach(config.consolidation_retention_threshold)
        until = None if isinf(days) or uses >= USES_THAT_KEEP else later(context.now, -days)
        for fact in (
            store.fading_facts(scope, (pace, uses), until, min(remaining, HOT_MAX)) if until and remaining else ()
        ):
            remaining -= 1
            if len(band := found.get(fact[1:4], [])) < HOT_MAX:
                band.append(fact.id)
    return found


def _all_fading(context: SleepContext, kind: str, category: str, depth: int) -> list[str]:
    """The ids of the fading ones among all hot facts of a kind, category and depth."""
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
    """Whether a hot memory is in the fading band, or a cold one faded and no person protects it."""
    if memory.phase == "cold":
        return memory.reason == "faded" and not protection_reason(memory)
    return is_in_fading_band(memory, context.ports.config, context.now)


def _refusal(ports: Ports, text: str, members: tuple[Memory, ...]) -> str | None:
    """Why a summary may not replace these memories, or None."""
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


def _held_by(member: Memory, summary: Memory, ports: Ports) -> Memory:
    """The member of a new summary, which may have been in another one."""
    if member.phase == "superseded":
        return replace(member, superseded_by=summary.id, version=member.version + 1)
    return transition(member, "consolidate", ports.config, superseded_by=summary.id)


def _replacement(
    context: SleepContext, members: tuple[Memory, ...], text: str, what: str
) -> tuple[Group, tuple[str, ...]]:
    """The group that stores the summary and archives its members, and the problems of the embedder."""
    ports, now = context.ports, context.now
    (entry,), problems = entries(ports, [text])
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
    held = {str(member.superseded_by) for member in members if member.phase == "superseded"}
    former = ports.store.get((ports.scope,), held) if held else []
    if former:
        because = f"a summary took in {sum(member.phase != 'superseded' for member in members)} later {what}"
    # The members first: a summary may have the text of one of them, and a scope holds each content key once.
    operations: list[Operation] = [
        Change(before=member, after=_held_by(member, summary, ports), because=because, unless_used=True)
        for member in (*former, *members)
    ]
    operations.append(Add(memory=summary, because=because, entry=entry))
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
