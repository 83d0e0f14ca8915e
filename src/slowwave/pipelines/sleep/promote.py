"""Promotes facts that are used often into core memory, and demotes those that no longer are or are contradicted."""

from collections.abc import Sequence
from typing import Final

from slowwave.model.memory import FACT_KINDS, Memory
from slowwave.model.operations import Add, Change, Link
from slowwave.model.query import Where
from slowwave.pipelines.planning import split_groups, transition
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.policy.retention.core import demotes, promotes

CORE_MAX = 1000
"""How many core memories one pass reads, the newest first."""
CORE: Final = Where(kinds=frozenset(FACT_KINDS), phases=frozenset({"core"}), order="newest", limit=CORE_MAX)


def promote(context: SleepContext) -> StagePlan:
    """Promote due facts that qualify for core memory, and demote core memories that no longer do.

    Core memories are never due. There are few, so every pass that has anything to do reads all of them and the links
    that contradict them.
    """
    config = context.ports.config
    core = [memory for memory in context.standing(CORE) if memory.id not in context.taken]
    qualified = [memory for memory in context.open() if promotes(memory, config)]
    disputed = _disputed(context, [*core, *qualified])
    reasons = [(memory, "demote", demotes(memory, config, contradicted=memory.id in disputed)) for memory in core]
    reasons += [
        (memory, "promote", promotes(memory, config, contradicted=memory.id in disputed)) for memory in qualified
    ]
    changes = [
        Change(before=memory, after=transition(memory, event, config), because=because)
        for memory, event, because in reasons
        if because
    ]
    context.taken.update(change.before.id for change in changes)
    return StagePlan(groups=split_groups(changes, "moved into core memory or out of it"))


def _disputed(context: SleepContext, memories: Sequence[Memory]) -> set[str]:
    """The ids of the memories that a hot memory contradicts."""
    store, scope = context.ports.store, context.ports.scope
    ids = {memory.id for memory in memories}
    linked = [(link.source, link.target) for link in store.links(scope, ids, ["conflict?"])]
    planned: dict[str, bool] = {}
    for operation in context.planned:
        match operation:
            case Link(source=source, target=target, kind="conflict?"):
                linked.append((source, target))
            case Add(memory=memory) | Change(after=memory):
                planned[memory.id] = memory.is_searchable
            case _:
                pass
    ends = store.get((scope,), {end for pair in linked for end in pair})
    hot = {memory.id: memory.is_searchable for memory in ends} | planned
    pairs = [pair for first, second in linked for pair in ((first, second), (second, first))]
    return {end for end, other in pairs if end in ids and hot.get(other)}
