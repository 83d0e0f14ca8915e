"""Replaces the facts about one topic by summaries at once, with the checks of the stage `compress`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from slowwave.errors import InputError
from slowwave.model.counted import counted
from slowwave.model.memory import FACT_KINDS, UNRECONCILED, Memory
from slowwave.model.plain_text import clean
from slowwave.model.plan import FREE, Cost, Plan, Receipt, count_operations, reversible_run
from slowwave.model.query import Query
from slowwave.pipelines.ingest.reconcile import similarity
from slowwave.pipelines.planning import check_full_trust, new_id, record_unapplied_cost
from slowwave.pipelines.sleep.change_limit import Budget
from slowwave.pipelines.sleep.compress import DEPTH_MAX, Sort, summarised
from slowwave.pipelines.sleep.stage import SleepContext
from slowwave.pipelines.work_time import WorkTime
from slowwave.policy.retention.policies import protection_reason
from slowwave.policy.summaries.grouping import groups as together
from slowwave.policy.text.tokens import terms
from slowwave.ports import Ports

CAUSE: Final = "compact"
MOST: Final = 240
"""How many facts about a topic are read: as many as the summaries of one sleep pass can have members."""
RELATED: Final = 0.40
"""The cosine from which two texts are about the same, unless the embedder defines its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCompaction:
    """What a compaction of a topic planned and did. `run_id` is the run, for `undo`; empty if nothing was written."""

    topic: str
    plan: Plan
    receipt: Receipt | None = None
    found: int = 0
    left: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    dry_run: bool = False

    @property
    def run_id(self) -> str:
        """What `undo` takes."""
        return self.receipt.run_id if self.receipt and self.receipt.applied else ""

    def __str__(self) -> str:
        number = len(self.plan.groups)
        lines = [f"{counted(number, 'summary', 'summaries')} of {self.topic!r}, of {self.found} facts about it"]
        lines += [f"  {group.because}" for group in self.plan.groups]
        if not number:
            lines = [f"nothing to compact about {self.topic!r}: {self.found} facts about it that may be merged"]
        elif self.dry_run:
            lines[0] = f"would write {lines[0]}: {count_operations(self.plan.operations)}"
        if self.receipt:
            lines += [f"  not done: {dropped.reason}" for dropped in self.receipt.dropped]
        if self.run_id:
            lines.append(f"  {reversible_run(self.run_id)}")
        return "\n".join([*lines, *(f"problem: {problem}" for problem in self.problems)])


def compact_topic(ports: Ports, topic: str, *, dry_run: bool = False) -> TopicCompaction:
    """Replace the hot facts about a topic, two or more of one kind and category, by validated summaries.

    Args:
        ports: the store, the mind, the embedder and the settings.
        topic: words; a fact is about the topic if it has the stems of all of them, or is near by cosine.
        dry_run: call the mind and plan, and store nothing.

    Raises:
        InputError: for an empty topic.
        TrustError: these ports have a ceiling below the user, and it is not a dry run.
    """
    if not dry_run:
        check_full_trust(ports, "compact facts")
    if not isinstance(topic, str) or not topic.strip():
        raise InputError("no topic: say in words what the facts to compact are about")
    topic = clean(topic)
    budget, time = Budget(left=MOST), WorkTime(ports.config.work_seconds)
    context = SleepContext(ports=ports, now=ports.now(), due=(), think=True, budget=budget, time=time)
    found = _about(context, topic)
    staged = summarised(context, _groups(ports, found), what=f"memories about {topic!r}")
    plan = Plan(
        id=new_id(context.now), scope=ports.scope, cause=CAUSE, at=context.now, groups=staged.groups, cost=staged.cost
    )
    receipt = ports.store.apply(plan) if plan and not dry_run else None
    if not dry_run and (receipt is None or not receipt.applied):
        record_unapplied_cost(ports, plan, "; ".join(staged.problems) or "nothing came of it")
    return TopicCompaction(
        topic=topic,
        plan=plan,
        receipt=receipt,
        found=len(found),
        left=staged.left,
        problems=staged.problems,
        cost=staged.cost,
        dry_run=dry_run,
    )


def _about(context: SleepContext, topic: str) -> list[Memory]:
    """The hot facts about a topic that nothing protects, oldest first."""
    ports = context.ports
    vector = ports.embed([topic])[0] if ports.embedder else None
    query = Query(
        text=topic,
        vector=vector,
        embedder=ports.space,
        top_k=MOST,
        kinds=frozenset(FACT_KINDS),
        now=context.now,
    )
    line, stems = similarity(ports, "related", RELATED), len(set(terms(topic)))
    ranked = ports.store.search((ports.scope,), query)
    ids = [place.id for place in ranked if (stems and place.shared >= stems) or (place.cosine or -1.0) >= line]
    found = [memory for memory in ports.store.get((ports.scope,), ids) if _may_merge(memory)]
    return sorted(found, key=lambda memory: (memory.valid_from, memory.id))


def _may_merge(memory: Memory) -> bool:
    free = memory.phase == "active" and not protection_reason(memory) and UNRECONCILED not in memory.flags
    return free and memory.depth < DEPTH_MAX


def _groups(ports: Ports, found: Sequence[Memory]) -> list[tuple[Memory, ...]]:
    """Facts of one kind, category and depth that are similar; without vectors, neighbours in time."""
    bands: dict[Sort, list[Memory]] = {}
    for memory in found:
        bands.setdefault((memory.kind, memory.category, memory.depth), []).append(memory)
    groups = [group for _, band in sorted(bands.items()) for group in _alike(ports, band)]
    return [group for group in groups if len(group) > 1]


def _alike(ports: Ports, band: Sequence[Memory]) -> list[tuple[Memory, ...]]:
    largest = ports.config.consolidation_max_group_size
    if (space := ports.space) is None:
        return [tuple(band[start : start + largest]) for start in range(0, len(band), largest)]
    known = {memory.id: memory for memory in band}
    vectors = ports.store.vectors(ports.scope, known, space)
    names = list(vectors)
    if len(names) < 2:  # noqa: PLR2004 - one is no group
        return []
    rows = np.frombuffer(b"".join(vectors.values()), dtype="<f4").reshape(len(names), -1)
    line = similarity(ports, "related", RELATED)
    found = together(rows, threshold=line, keys=names, smallest=2, largest=largest)
    return [tuple(known[names[place]] for place in sorted(group)) for group in found]
