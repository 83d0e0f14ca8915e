"""Promote what is used often and well into core memory, and demote what no longer is or is contradicted."""

from collections.abc import Sequence

from slowwave.model.memory import FACT_KINDS, Memory
from slowwave.model.operations import Add, Change, Link
from slowwave.model.query import Where
from slowwave.pipelines.planning import split_groups, transition
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.policy.retention.core import demotes, promotes

CORE_MAX = 1000
"""How many core memories one night looks at, the newest first."""


def promote(context: SleepContext) -> StagePlan:
    """Due facts that have earned a place in core memory, and core memories that have lost it.

    Core memories are never due, so every night that has anything to do looks at all of them, and at what contradicts
    them: there are few.
    """
    config = context.ports.config
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset({"core"}), order="newest", limit=CORE_MAX)
    core = [memory for memory in context.standing(where) if memory.id not in context.taken]
    able = [memory for memory in context.open() if promotes(memory, config)]
    disputed = _disputed(context, [*core, *able])
    reasons = [(memory, "demote", demotes(memory, config, contradicted=memory.id in disputed)) for memory in core]
    reasons += [(memory, "promote", promotes(memory, config, contradicted=memory.id in disputed)) for memory in able]
    changes = [
        Change(before=memory, after=transition(memory, event, config), because=because)
        for memory, event, because in reasons
        if because
    ]
    context.taken.update(change.before.id for change in changes)
    return StagePlan(groups=split_groups(changes, "moved into core memory or out of it"))


def _disputed(context: SleepContext, memories: Sequence[Memory]) -> set[str]:
    """The ids of those that a hot memory contradicts."""
    store, scope = context.ports.store, context.ports.scope
    ids = {memory.id for memory in memories}
    planned = [one for one in context.planned if isinstance(one, Link) and one.kind == "conflict?"]
    joined = [(one.source, one.target) for one in store.links(scope, ids, ["conflict?"])]
    joined += [(one.source, one.target) for one in planned]
    after = {one.after.id: one.after.is_searchable for one in context.planned if isinstance(one, Change)}
    after |= {one.memory.id: one.memory.is_searchable for one in context.planned if isinstance(one, Add)}
    standing = {
        m.id for m in store.get((scope,), {end for pair in joined for end in pair}) if after.get(m.id, m.is_searchable)
    }
    standing |= {identity for identity, hot in after.items() if hot}
    pairs = [pair for one, other in joined for pair in ((one, other), (other, one))]
    return {end for end, other in pairs if end in ids and other in standing}
