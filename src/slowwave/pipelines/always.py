"""Always: the facts that stand in every context, what use promoted, a person pinned, or nothing may touch."""

from collections.abc import Sequence
from typing import Any

from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.query import Item, Where
from slowwave.policy.categories import REGISTRY
from slowwave.policy.core import rank
from slowwave.policy.fence import escape
from slowwave.policy.labels import author, label
from slowwave.policy.packing import estimate
from slowwave.policy.retention import PROTECTED_TRUST
from slowwave.policy.trust import least
from slowwave.ports import Ports

PROTECTED = frozenset(name for name, category in REGISTRY.items() if category.protected)
LOOKED_AT = 200
"""Pinned, protected and core facts that are compared, the newest of each."""


def core_items(ports: Ports) -> list[Item]:
    """The same as lines of a context."""
    return [made(memory.text, memory, f"always in view: {_standing(memory)}") for memory in always(ports)]


def always(ports: Ports) -> list[Memory]:
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


def made(
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
