"""Core memory: the facts that stand in every context."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.query import Item, Where
from slowwave.policy.guard.fence import escape
from slowwave.policy.guard.labels import author, label
from slowwave.policy.guard.trust import least
from slowwave.policy.ranking.packing import estimate
from slowwave.policy.retention.categories import REGISTRY
from slowwave.policy.retention.core import bonus, rank
from slowwave.policy.retention.curves import Curve, strength_at
from slowwave.policy.retention.policies import PROTECTED_TRUST, curve_of
from slowwave.ports import Ports

PROTECTED = frozenset(name for name, category in REGISTRY.items() if category.protected)
LOOKED_AT = 200
"""Pinned, protected and core facts that are compared, the newest of each."""


def core_lines(ports: Ports) -> list[Item]:
    """The same as lines of a context."""
    return [context_line(memory.text, memory, f"always in view: {_standing(memory)}") for memory in core_facts(ports)]


def core_facts(ports: Ports) -> list[Memory]:
    """What use has promoted, what a person pinned, and what is protected, in the ranking of core memory.

    A category protects only what the user said: a tool cannot put a fact into every context by calling it an identity.
    Of each the newest 200 are looked at: more than that no context can hold.
    """
    facts, hot = frozenset(FACT_KINDS), frozenset(HOT)
    newest: dict[str, Any] = {"kinds": facts, "order": "newest", "limit": LOOKED_AT}
    found = {
        memory.id: memory
        for where in (
            Where(phases=frozenset({"core"}), **newest),
            Where(phases=hot, pinned=True, **newest),
            Where(phases=hot, categories=PROTECTED, trusts=frozenset({PROTECTED_TRUST}), **newest),
        )
        for memory in ports.store.select(ports.scopes, where)
    }
    return rank(found.values(), ports.config, ports.now(), top_k=len(found))


def _standing(memory: Memory) -> str:
    """Why a fact is always in view."""
    if memory.pinned:
        return "pinned"
    return "used often" if memory.phase == "core" else memory.category


def context_line(
    words: str, memory: Memory, because: str, *, facts: Sequence[Memory] = (), quoted: bool = True, dated: bool = False
) -> Item:
    """A line of a context with what it costs. Every line is made here, so that each carries its label.

    Args:
        words: What the line says.
        memory: Where it came from.
        because: Why it is shown.
        facts: The facts that it is shown with: the label names the least trusted of all sources in the line.
        quoted: Whether the words hold those of `memory`, rather than those of `facts` alone.
        dated: Whether the line begins with the date of `memory`.
    """
    trust = least([*(fact.trust for fact in facts), *([memory.trust] if quoted else [])])
    said_by = author(memory.role, memory.speaker) if quoted and memory.kind == MESSAGE else ""
    date = f"[{memory.at:%Y-%m-%d}] " if dated else ""
    text = f"{date}{label(trust, said_by)}{words}"
    return Item(text=text, tokens=estimate(f"- {escape(text)}\n"), memory=memory, because=because)


_Placed = tuple[float, float, float, str]  # in the order of `rank`: minus score, anchor and confidence; and the id


def core(ports: Ports, *, top_k: int, min_retrievals: int = 0) -> list[Memory]:
    """The best `top_k` of all hot facts by strength + 0.1 ln(1 + uses); exact, whatever is stored.

    Inside a lane, facts of one pace used equally often, strength falls with the anchor at every instant: so the heads
    of the lanes tell which `top_k` lanes can hold the best, and only these are read. Where facts were planned with
    other numbers, or the policy's order changes with time, all hot facts are read and compared.
    """
    now = ports.now()
    found: list[Memory] = []
    for scope in ports.scopes:
        best = _best(ports, scope, now, top_k, min_retrievals)
        if best is None:
            found += ports.store.select((scope,), Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT)))
        else:
            found += ports.store.get((scope,), best)
    return rank(found, ports.config, now, top_k=top_k, min_retrievals=min_retrievals)


def _best(ports: Ports, scope: str, now: datetime, top_k: int, min_retrievals: int) -> list[str] | None:
    """The ids of the best of one scope; None if its lanes do not tell."""
    heads: list[tuple[float, int, int, Curve]] = []
    lanes = sorted(ports.store.decay_classes(scope), key=lambda lane: -lane.uses)
    curves = {pace: curve_of(pace, ports.config) for pace in {lane.pace for lane in lanes} if pace is not None}
    if None in curves.values() or any(lane.pace is None for lane in lanes):
        return None
    for uses, group in groupby(lanes, key=lambda lane: lane.uses):
        heads.sort(key=lambda head: head[0])
        if uses < min_retrievals or (len(heads) >= top_k > 0 and -heads[top_k - 1][0] > 1.0 + bonus(uses)):
            break  # so many heads are better than whatever was used this often, or less
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
        best = sorted(best)[:top_k]  # two runs in order already: one merge
    return [identity for _, _, _, identity in best]
