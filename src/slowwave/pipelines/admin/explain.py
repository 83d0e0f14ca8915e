"""Explains one memory: its strength, its dates, its history, links and sources."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from typing import Final

from slowwave.model.memory import SUMMARY, Memory
from slowwave.model.plan import Event, in_zone
from slowwave.model.status import LinkRow
from slowwave.model.zone import local
from slowwave.policy.guard.labels import short_name
from slowwave.policy.retention.policies import (
    USES_THAT_KEEP,
    archive_rules,
    exemption_reason,
    expiry,
    explain_strength,
    strength,
)
from slowwave.ports import Ports

MEANS: Final[Mapping[str, str]] = {
    "idle_days": "last said or used {:,.1f} days ago",
    "tau_days": "untouched it falls to 37 % every {:,.1f} days",
    "half_life_days": "untouched it falls to half every {:,.1f} days",
    "importance": "importance {:.2f}",
    "accesses": "used {:.0f} times",
    "recency": "{:.2f} for how new it is",
    "use": "{:.2f} for being used",
    "freshness": "{:.2f} for being used lately",
    "type": "{:.2f} for its category",
}
"""The parts of a strength in words. Intermediate parts have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A memory with its strength, the parts of the strength, its history, links and sources.

    Attributes:
        strength: for a memory that is not searchable, the strength it would have if it were.
        fades_at: when it will fade; None: never, or it has faded already.
        rule: the rule of the policy by which it will fade.
        expires_at: the last instant of its time to live, if it has one.
        kept_because: why it never fades, if it does not.
        behind: the summary that supersedes it.
        titles: the titles of the conversations of the memory and its sources, by the name of the conversation.
    """

    memory: Memory
    strength: float
    parts: Mapping[str, float]
    fades_at: datetime | None
    rule: str
    expires_at: datetime | None
    kept_because: str | None
    history: tuple[Event, ...]
    links: tuple[LinkRow, ...]
    sources: tuple[Memory, ...]
    behind: Memory | None = None
    titles: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        memory = self.memory
        phase = memory.phase + (f" ({memory.reason})" if memory.reason else "")
        lines = [memory.text, f"  {memory.kind} · {memory.category} · {phase} · version {memory.version} · {memory.id}"]
        if memory.conversation:
            lines.append(f"  of the conversation {self.titles.get(memory.conversation, memory.conversation)}")
        reasons = "; ".join(
            MEANS[name].format(value) for name, value in self.parts.items() if name in MEANS and isfinite(value)
        )
        in_use = "now" if memory.is_searchable else f"if it were in use, which it is not ({phase})"
        lines.append(f"  strength {self.strength:.2f} {in_use}: {reasons}")
        if self.kept_because and memory.is_searchable:
            lines.append(f"  never fades: {self.kept_because}")
        elif self.fades_at:
            lines.append(
                f"  fades on {self.fades_at:%Y-%m-%d} ({self.rule}), unless it is used ({USES_THAT_KEEP} uses keep it) or pinned"
            )
        elif memory.is_searchable:
            lines.append(f"  does not fade: {self.rule}; only a size target or a time to live may archive it")
        if self.expires_at and memory.is_searchable:
            lines.append(f"  expires after {self.expires_at:%Y-%m-%d}, unless it is pinned")
        if self.behind:
            phase = "" if self.behind.is_searchable else f", itself {self.behind.phase}"
            lines.append(f"  replaced by the summary {self.behind.id}{phase}: {self.behind.text!r}")
            lines.append("  `revive` restores it")
        for source in self.sources:
            quote = next((ref.quote for ref in memory.sources if ref.memory == source.id and ref.quote), source.text)
            title = self.titles.get(source.conversation or "")
            place = f" in {title!r}" if title else ""
            lines.append(f"  source: {source.at:%Y-%m-%d} {short_name(source.role, source.speaker)}{place}: {quote!r}")
        lines += [f"  linked ({link.kind}) with {link.other(memory.id)}" for link in self.links]
        history = [
            f"  {event.at:%Y-%m-%d %H:%M} {event.cause}: {event.operation.because} (run {event.run_id})"
            for event in self.history
        ]
        lines += dict.fromkeys(history)  # a summary changes a member and is linked with it, for the same reason
        return "\n".join(lines)


def explain(ports: Ports, memory: Memory) -> Explanation:
    """Explain a memory. Reads only."""
    now, config, kept = ports.now(), ports.config, exemption_reason(memory)
    successor = [memory.superseded_by] if memory.superseded_by and memory.phase == "superseded" else []
    summaries = [found for found in ports.store.get(ports.scopes, successor) if found.kind == SUMMARY]
    rules = archive_rules(memory, config) if memory.is_searchable and kept is None else []
    never = f"not before the year 9999 by the policy {config.retention_policy}"
    first = min(rules, default=None)
    sources = tuple(ports.store.get(ports.scopes, [source.memory for source in memory.sources]))
    return Explanation(
        memory=memory,
        strength=strength(memory, config, now),
        parts=explain_strength(memory, config, now),
        fades_at=local(first.at, ports.zone) if first else None,
        rule=first.text if first else never,
        expires_at=expiry(memory, config),
        kept_because=kept,
        history=tuple(in_zone(ports.store.history(memory.scope, memory.id), ports.zone)),
        links=tuple(ports.store.links(memory.scope, [memory.id])),
        sources=sources,
        behind=next(iter(summaries), None),
        titles=_titles(ports, (memory, *sources)),
    )


def _titles(ports: Ports, memories: Iterable[Memory]) -> dict[str, str]:
    """The titles of the conversations of these memories, by name."""
    places = dict.fromkeys((memory.scope, memory.conversation) for memory in memories if memory.conversation)
    found = [ports.store.conversation(scope, str(name)) for scope, name in places]
    return {state.name: state.title for state in found if state is not None and state.title is not None}
