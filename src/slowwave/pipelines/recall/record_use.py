"""Strengthens the memories that the application says it used."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import combinations
from typing import TypeAlias

from slowwave.errors import InputError, NotFoundError
from slowwave.model.memory import FACT_KINDS, Memory
from slowwave.model.names import checked_id, optional_name
from slowwave.model.operations import Change, Link, Use
from slowwave.model.plan import Group, Plan, Receipt
from slowwave.model.query import Context, Hit
from slowwave.model.zone import local
from slowwave.pipelines.planning import new_id, record_use, split_groups, transition
from slowwave.policy.ranking.association import decayed_weight, effective_weight
from slowwave.policy.retention.policies import associated, is_expired
from slowwave.ports import Ports

REVIVED = 3
"""How many of the first used hits move faded memories back to the hot tier."""
ASSOCIATED = 5
"""How many of the memories used together are linked, so that the links do not grow with the square of the uses."""
CO_RETRIEVAL = 0.1
"""What one use together adds to the weight of an association, which is at most 1."""


Used: TypeAlias = Context | Hit | Memory | str
"""What a use names: every memory that a context shows for its question, a hit, a memory, or the id of one."""


def use(ports: Ports, used: Used | Iterable[Used], *, session: str | int | None = None) -> tuple[int, Receipt | None]:
    """Count one more use of each memory, move its anchor, and revive the first faded ones. Returns how many.

    Uses with the same session name count as one session; by default, those of one day. Counters are applied without
    version checks, so that uses never conflict with a writer.
    """
    session = optional_name(session, "session", numbers=True)
    named = [used] if isinstance(used, (Context, Hit, Memory, str)) or not isinstance(used, Iterable) else used
    chosen = dict.fromkeys(identity for entry in named for identity in _ids(ports, entry))
    now = ports.now()
    current = ports.store.get((ports.scope,), chosen)
    counted = [memory for memory in current if memory.phase in {"active", "core", "cold"}]
    if not counted:
        return 0, None
    because = f"{len(counted)} memories were used"
    session = session if session is not None else f"{local(now, ports.zone):%Y-%m-%d}"
    uses = [
        Use(used_version=memory, after=record_use(memory, ports.config, now, session), because="used")
        for memory in counted
    ]
    uses += _neighbours(ports, counted, now)
    groups = [*split_groups(uses, because, counted=False)]
    revived = _revived(ports, [use.after for use in uses[: min(REVIVED, len(counted))]], now)
    groups += [Group(operations=(change,), because=change.because) for change in revived]
    groups += [Group(operations=(link,), because=link.because) for link in _associations(ports, counted)]
    plan = Plan(id=new_id(now), scope=ports.scope, cause="use", at=now, groups=tuple(groups))
    return len(counted), ports.store.apply(plan)


def _ids(ports: Ports, used: Used) -> list[str]:
    """The ids that it names.

    Raises:
        InputError: it is of another type.
        NotFoundError: no memory has this id.
    """
    if isinstance(used, str):
        if not ports.store.get(ports.scopes, [checked_id(used)]):
            raise NotFoundError(f"no memory {used!r} in scope {ports.scope}: pass `hit.memory.id`, or the hit itself")
        return [used]
    if isinstance(used, Context):
        return [checked_id(memory.id) for memory in _fitting(used)]
    if isinstance(used, Hit):
        return [checked_id(used.memory.id)]
    if isinstance(used, Memory):
        return [checked_id(used.id)]
    raise InputError(f"a {type(used).__name__} was not retrieved: pass a context, hits, memories or ids")


def _fitting(context: Context) -> list[Memory]:
    """The memories that a context shows because they fit its question.

    To show what is always in view is no use of it: what was shown always would be promoted for being shown, and linked with
    everything else that is.
    """
    items = [item for section in context.sections for item in section.items]
    always = {item.memory.id for item in items if item.memory and item.always}
    return [memory for memory in context.memories if memory.id not in always]


def _revived(ports: Ports, memories: Sequence[Memory], now: datetime) -> list[Change]:
    """The changes that move cold memories back to the hot tier, unless they are expired."""
    changes = []
    for memory in memories:
        if memory.phase == "cold":
            after = transition(memory, "revive", ports.config)
            if not is_expired(after, ports.config, now):
                changes.append(Change(before=memory, after=after, because="used after it had faded"))
    return changes


def _neighbours(ports: Ports, counted: Sequence[Memory], now: datetime) -> list[Use]:
    """Uses that make the most strongly linked facts a little more stable."""
    ids = {memory.id for memory in counted}
    linked = [
        link
        for link in ports.store.links(ports.scope, sorted(ids), ["association"])
        if effective_weight(link.weight, link.at, now)
    ]
    ends = ((link.weight, end) for link in linked for end in (link.source, link.target) if end not in ids)
    nearest = dict.fromkeys(end for _, end in sorted(ends, reverse=True))
    near = ports.store.get((ports.scope,), list(nearest)[:ASSOCIATED])
    strengthened = [(memory, associated(memory, ports.config, now)) for memory in near if memory.is_searchable]
    return [
        Use(used_version=before, after=after, because="joined with what was used")
        for before, after in strengthened
        if before != after
    ]


def _associations(ports: Ports, memories: Sequence[Memory]) -> list[Link]:
    """The links between facts that were used together, with higher weights."""
    facts = [memory for memory in memories if memory.kind in FACT_KINDS][:ASSOCIATED]
    if len(facts) < 2:  # noqa: PLR2004 - a pair
        return []
    now = ports.now()
    known_links = {
        frozenset((link.source, link.target)): link
        for link in ports.store.links(ports.scope, [fact.id for fact in facts], ["association"])
    }
    links = []
    for first, second in combinations(facts, 2):
        known = known_links.get(frozenset((first.id, second.id)))
        before = known.weight if known else 0.0
        after = min(1.0, (decayed_weight(before, known.at, now) if known else 0.0) + CO_RETRIEVAL)
        source, target = (known.source, known.target) if known else (first.id, second.id)
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
