"""Use: what the application says it used is strengthened; nothing else is."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import combinations

from slowwave.errors import InputError
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.names import optional_name
from slowwave.model.operations import Change, Link, Use
from slowwave.model.plan import Group, Plan, Receipt
from slowwave.model.query import Hit
from slowwave.pipelines.planning import new_id, record_use, transition
from slowwave.policy.ranking.association import decayed_weight, effective_weight
from slowwave.policy.retention.policies import associated, is_expired
from slowwave.ports import Ports

REVIVED = 3
"""Only the first hits that the application says it used bring faded memories back."""
ASSOCIATED = 5
"""How many of the memories used together are joined, so that the joins grow with the uses, not with their square."""
CO_RETRIEVAL = 0.1
"""What a retrieval together adds to the weight of an association, which is at most 1."""


def use(ports: Ports, hits: Iterable[Hit | Memory], *, session: str | None = None) -> tuple[int, Receipt | None]:
    """Count one use more for each memory, move its anchor, and revive the first faded ones. Returns how many.

    Uses under one session's name count as one session, by default those of one day. Counters are applied without version checks, so popular memories never block a writer.
    """
    session = optional_name(session, "session", numbers=True)
    chosen: dict[str, Memory] = {}
    for hit in hits:
        for memory in (hit.memory, *hit.facts) if isinstance(hit, Hit) else (hit,):
            if not isinstance(memory, Memory):
                raise InputError(f"a {type(memory).__name__} is not a hit: pass what `search` returned, or memories")
            chosen.setdefault(memory.id, memory)
    now = ports.now()
    current = ports.store.get((ports.scope,), chosen)
    counted = [memory for memory in current if memory.phase in {"active", "core", "cold"}]
    if not counted:
        return 0, None
    because = f"{len(counted)} memories were used"
    session = session if session is not None else f"{now:%Y-%m-%d}"
    uses = [
        Use(used_version=memory, after=record_use(memory, ports.config, now, session), because="used")
        for memory in counted
    ]
    uses += _neighbours(ports, counted, now)
    groups = [Group(operations=tuple(uses), because=because)]
    revived = _revived(ports, [use.after for use in uses[: min(REVIVED, len(counted))]], now)
    groups += [Group(operations=(change,), because=change.because) for change in revived]
    groups += [Group(operations=(link,), because=link.because) for link in _associations(ports, counted)]
    plan = Plan(id=new_id(now), scope=ports.scope, cause="use", at=now, groups=tuple(groups))
    return len(counted), ports.store.apply(plan)


def _revived(ports: Ports, memories: Sequence[Memory], now: datetime) -> list[Change]:
    """What faded or was over budget comes back by use, and what use lets live on; the superseded only by a person."""
    changes = []
    for memory in memories:
        if memory.phase == "cold":
            after = transition(memory, "revive", ports.config)
            if not is_expired(after, ports.config, now):
                changes.append(Change(before=memory, after=after, because="used after it had faded"))
    return changes


def _neighbours(ports: Ports, counted: Sequence[Memory], now: datetime) -> list[Use]:
    """Facts that are often used together with these get a little more stable, the most closely joined ones."""
    ids = {memory.id for memory in counted}
    joined = [
        link
        for link in ports.store.links(ports.scope, sorted(ids), ["association"])
        if effective_weight(link.weight, link.at, now)
    ]
    ends = ((link.weight, end) for link in joined for end in (link.source, link.target) if end not in ids)
    nearest = dict.fromkeys(end for _, end in sorted(ends, reverse=True))
    near = ports.store.get((ports.scope,), list(nearest)[:ASSOCIATED])
    moved_on = [(memory, associated(memory, ports.config, now)) for memory in near if memory.is_searchable]
    return [
        Use(used_version=seen, after=after, because="joined with what was used")
        for seen, after in moved_on
        if seen != after
    ]


def _associations(ports: Ports, memories: Sequence[Memory]) -> list[Link]:
    """Facts that were used together are joined a little more strongly."""
    facts = [memory for memory in memories if memory.kind != MESSAGE][:ASSOCIATED]
    if len(facts) < 2:  # noqa: PLR2004 - a pair
        return []
    now = ports.now()
    standing = {
        frozenset((link.source, link.target)): link
        for link in ports.store.links(ports.scope, [fact.id for fact in facts], ["association"])
    }
    links = []
    for one, other in combinations(facts, 2):
        known = standing.get(frozenset((one.id, other.id)))
        before = known.weight if known else 0.0
        after = min(1.0, (decayed_weight(before, known.at, now) if known else 0.0) + CO_RETRIEVAL)
        source, target = (known.source, known.target) if known else (one.id, other.id)
        if after != before:
            links.append(
                Link(
                    source=source,
                    target=target,
                    kind="association",
                    weight=after,
                    before=before,
                    because="used together",
                    at=now,
                )
            )
    return links
