"""Core memory: the facts that are in every context."""

from collections.abc import Mapping
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from slowwave.model.memory import FACT_KINDS, HOT, Memory
from slowwave.model.query import Where
from slowwave.pipelines.recall.lines import context_line
from slowwave.policy.ranking.packing import Line
from slowwave.policy.retention.categories import REGISTRY
from slowwave.policy.retention.core import bonus, rank
from slowwave.policy.retention.curves import Curve, strength_at
from slowwave.policy.retention.policies import PROTECTED_TRUST, curve_of, has_ended
from slowwave.ports import Ports

PROTECTED = frozenset(name for name, category in REGISTRY.items() if category.protected)
LOOKED_AT = 200
"""How many pinned, protected and core facts are read, the newest of each."""

_NEWEST: Final[Mapping[str, Any]] = {"kinds": frozenset(FACT_KINDS), "order": "newest", "limit": LOOKED_AT}
CORE: Final = (
    Where(phases=frozenset({"core"}), **_NEWEST),
    Where(phases=frozenset(HOT), pinned=True, **_NEWEST),
    Where(phases=frozenset(HOT), categories=PROTECTED, trusts=frozenset({PROTECTED_TRUST}), **_NEWEST),
)
"""What core facts are selected by: promoted ones, pinned ones, and those of protected categories."""


def core_line(memory: Memory) -> Line:
    """A core fact as a line of a context, with the reason why it is in every one."""
    why = "pinned" if memory.pinned else "used often" if memory.phase == "core" else memory.category
    return context_line(memory.text, memory, f"always in view: {why}", always=True)


def core_facts(ports: Ports) -> list[Memory]:
    """The facts that use promoted, that a person pinned, and that their category protects, ranked.

    A category protects only facts from the user: otherwise a tool could put a fact into every context by its category.
    Of each group the newest 200 are read; no context can contain more.
    """
    found = {memory.id: memory for where in CORE for memory in ports.store.select(ports.scopes, where)}
    now = ports.now()
    lasting = [memory for memory in found.values() if not has_ended(memory, now)]
    return rank(lasting, ports.config, now, top_k=len(lasting))


_Placed = tuple[float, float, float, str]  # in the order of `rank`: minus score, anchor and confidence; and the id


def core(ports: Ports, *, top_k: int, min_retrievals: int = 0) -> list[Memory]:
    """The best `top_k` of all hot facts by strength + 0.1 ln(1 + uses), exactly.

    Within a decay class (facts of one pace that were used equally often) the order by anchor is the order by strength at
    every instant. The newest anchor of each class therefore tells which classes can contain the best facts, and only
    these are read. If facts were scheduled with other settings, or if the order of the policy changes with time, all hot
    facts are read.
    """
    now = ports.now()
    found: list[Memory] = []
    for scope in ports.scopes:
        best = _best(ports, scope, now, top_k, min_retrievals)
        if best is None:
            found += ports.store.select((scope,), Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT)))
        else:
            found += ports.store.get((scope,), best)
    facts = [memory for memory in found if memory.is_searchable]
    return rank(facts, ports.config, now, top_k=top_k, min_retrievals=min_retrievals)


def _best(ports: Ports, scope: str, now: datetime, top_k: int, min_retrievals: int) -> list[str] | None:
    """The ids of the best facts of one scope; None if its decay classes are not ordered by strength."""
    heads: list[tuple[float, int, int, Curve]] = []
    classes = sorted(ports.store.decay_classes(scope), key=lambda each: -each.uses)
    curves = {pace: curve_of(pace, ports.config) for pace in {each.pace for each in classes} if pace is not None}
    if None in curves.values() or any(each.pace is None for each in classes):
        return None
    for uses, group in groupby(classes, key=lambda each: each.uses):
        heads.sort(key=lambda head: head[0])
        if uses < min_retrievals or (len(heads) >= top_k > 0 and -heads[top_k - 1][0] > 1.0 + bonus(uses)):
            break  # no fact with so few uses can be among the best
        for pace, _, anchor in group:
            if (curve := curves.get(pace or 0)) is not None and anchor is not None:
                heads.append((-strength_at(curve, anchor, now) - bonus(uses), pace or 0, uses, curve))
    heads.sort(key=lambda head: head[0])
    best: list[_Placed] = []
    for score, pace, uses, curve in heads if top_k > 0 else ():
        if len(best) == top_k and score > best[-1][0]:
            break
        best += (
            (-strength_at(curve, anchor, now) - bonus(uses), -anchor.timestamp(), -confidence, identity)
            for identity, anchor, confidence in ports.store.facts_in_class(scope, pace, uses, top_k)
        )
        best = sorted(best)[:top_k]  # two sorted runs, which sorting merges
    return [identity for _, _, _, identity in best]
