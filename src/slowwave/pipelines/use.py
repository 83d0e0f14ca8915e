"""Use: what the application says it used is strengthened; nothing else is."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operation import Change, Link, Operation, Use
from slowwave.model.plan import Group, Plan, Receipt
from slowwave.model.query import Hit
from slowwave.pipelines.making import new_id
from slowwave.pipelines.moves import moved, used
from slowwave.ports import Ports

REVIVED = 3
"""Only the first hits that the application says it used bring faded memories back."""
ASSOCIATED = 5
"""How many of the memories used together are joined, so that the joins grow with the uses, not with their square."""
CO_RETRIEVAL = 0.1
"""What a retrieval together adds to the weight of an association, which is at most 1."""


def use(ports: Ports, hits: Iterable[Hit | Memory], *, session: str | None = None) -> tuple[int, Receipt | None]:
    """Count one use more for each memory, move its anchor, and revive the first faded ones. Returns how many.

    Counters are applied without version checks, so popular memories never block a writer.
    """
    chosen: dict[str, Memory] = {}
    for hit in hits:
        for memory in (hit.memory, *hit.facts) if isinstance(hit, Hit) else (hit,):
            chosen.setdefault(memory.id, memory)
    now = ports.now()
    current = ports.store.get((ports.scope,), chosen)
    counted = [memory for memory in current if memory.phase in {"active", "core", "cold"}]
    if not counted:
        return 0, None
    because = f"{len(counted)} memories were used"
    operations: list[Operation] = [
        Use(seen=memory, after=used(memory, ports.config, now, session), because="used") for memory in counted
    ]
    groups = [Group(operations=tuple(operations), because=because)]
    groups += [Group(operations=(change,), because=change.because) for change in _revived(ports, counted[:REVIVED])]
    groups += [Group(operations=(link,), because=link.because) for link in _associations(ports, counted)]
    plan = Plan(id=new_id(now), scope=ports.scope, cause="use", at=now, groups=tuple(groups))
    return len(counted), ports.store.apply(plan)


def _revived(ports: Ports, memories: Sequence[Memory]) -> list[Change]:
    """What faded, expired or was over budget comes back by use; what was superseded only by a person."""
    now = ports.now()
    return [
        Change(
            before=memory,
            after=moved(memory, "revive", ports.config, now),
            because="used after it had faded",
        )
        for memory in memories
        if memory.phase == "cold"
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
        after = min(1.0, before + CO_RETRIEVAL)
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
