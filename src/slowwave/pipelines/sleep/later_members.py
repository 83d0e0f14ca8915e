"""Finds facts that fade after a summary of their like was written, so that the summary takes them in.

Otherwise the later fact would fade alone, and the summary would look complete and would not be.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from slowwave.model.memory import SUMMARY, Memory
from slowwave.model.query import Where
from slowwave.pipelines.ingest.reconcile import similarity
from slowwave.pipelines.sleep.stage import SleepContext
from slowwave.policy.retention.policies import is_in_fading_band, protection_reason

SUMMARIES_READ = 200
"""How many hot summaries of one category are compared, the newest."""


def later_members(context: SleepContext, clustered: Collection[str]) -> list[tuple[Memory, ...]]:
    """The members of each summary together with the due fading facts that are similar to all of them.

    Args:
        context: the sleep pass.
        clustered: ids of facts that form a new cluster.
    """
    if context.ports.embedder is None:
        return []
    fading: dict[str, list[Memory]] = {}
    for memory in context.open():
        free = memory.id not in clustered and not memory.depth
        if free and is_in_fading_band(memory, context.ports.config, context.now):
            fading.setdefault(memory.category, []).append(memory)
    return [cluster for category, late in sorted(fading.items()) for cluster in _joined(context, category, late)]


def _joined(context: SleepContext, category: str, late: Sequence[Memory]) -> list[tuple[Memory, ...]]:
    ports = context.ports
    where = Where(
        kinds=frozenset({SUMMARY}),
        categories=frozenset({category}),
        phases=frozenset({"active"}),
        order="newest",
        limit=SUMMARIES_READ,
    )
    open_ones = [one for one in context.standing(where) if one.id not in context.taken and _takes_more(context, one)]
    if not open_ones:
        return []
    ids = {member for one in open_ones for member in one.members} | {memory.id for memory in late}
    vectors = {
        key: np.frombuffer(row, dtype="<f4")
        for key, row in ports.store.vectors(ports.scope, ids, ports.space or "").items()
    }
    joining: dict[str, list[Memory]] = {}
    for memory in late:
        near = [(_nearness(vectors, memory.id, one.members), one) for one in open_ones]
        nearest, best = max(near, key=lambda pair: (pair[0], pair[1].id))
        if nearest >= similarity(ports, "group", ports.config.consolidation_similarity_threshold):
            joining.setdefault(best.id, []).append(memory)
    found = []
    for one in open_ones:
        room = ports.config.consolidation_max_group_size - len(one.members)
        members = ports.store.get((ports.scope,), one.members)
        new = [memory for memory in joining.get(one.id, []) if {memory.kind} == {member.kind for member in members}]
        if new and all(member.superseded_by == one.id for member in members):
            found.append(tuple(sorted((*members, *new[:room]), key=lambda each: (each.valid_from, each.id))))
    return found


def _takes_more(context: SleepContext, summary: Memory) -> bool:
    """Whether a summary of facts may be replaced by a fuller one."""
    fits = len(summary.members) < context.ports.config.consolidation_max_group_size
    return summary.depth == 1 and fits and protection_reason(summary) is None


def _nearness(
    vectors: Mapping[str, "np.ndarray[tuple[int], np.dtype[np.float32]]"], one: str, others: Sequence[str]
) -> float:
    """The least cosine of a fact with these others; -1 if one of them has no vector."""
    if one not in vectors or any(other not in vectors for other in others):
        return -1.0
    own = vectors[one] / np.linalg.norm(vectors[one])
    return min(float(own @ vectors[other] / np.linalg.norm(vectors[other])) for other in others)
