"""Explain: all about one memory, in a form that prints for a person."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from slowwave.model.memory import SUMMARY, Memory
from slowwave.model.plan import Event
from slowwave.model.status import LinkRow
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
"""The parts of a strength in words; those that only lead to another of them are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One memory: how strong it is and why, when it will fade (None: never, or it has), what keeps it, and its life.

    `rule` is the rule of the policy by which it will fade, `expires_at` the last instant of its time to live, if it has one.
    `behind` is the summary that stands for it. The strength of one that is no longer in use is what it would be if it were: how well its words are retained.
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

    def __str__(self) -> str:
        memory = self.memory
        phase = memory.phase + (f" ({memory.reason})" if memory.reason else "")
        lines = [memory.text, f"  {memory.kind} · {memory.category} · {phase} · version {memory.version} · {memory.id}"]
        reasons = "; ".join(MEANS[name].format(value) for name, value in self.parts.items() if name in MEANS)
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
            gone = "" if self.behind.is_searchable else f", itself {self.behind.phase}"
            lines.append(f"  stands behind the summary {self.behind.id}{gone}: {self.behind.text!r}")
            lines.append(f"  `slowwave revive {memory.id}` brings it back")
        for source in self.sources:
            quote = next((ref.quote for ref in memory.sources if ref.memory == source.id and ref.quote), source.text)
            lines.append(f"  rests on {source.at:%Y-%m-%d} {short_name(source.role, source.speaker)}: {quote!r}")
        lines += [f"  linked ({link.kind}) with {link.other(memory.id)}" for link in self.links]
        lived = [
            f"  {one.at:%Y-%m-%d %H:%M} {one.cause}: {one.operation.because} (run {one.run_id})" for one in self.history
        ]
        lines += dict.fromkeys(lived)  # a summary changes its member and is linked with it, for one reason
        return "\n".join(lines)


def explain(ports: Ports, memory: Memory) -> Explanation:
    """Everything known about a memory. A pure read."""
    now, config, kept = ports.now(), ports.config, exemption_reason(memory)
    after = [memory.superseded_by] if memory.superseded_by and memory.phase == "superseded" else []
    behind = [one for one in ports.store.get(ports.scopes, after) if one.kind == SUMMARY]
    ways = archive_rules(memory, config) if memory.is_searchable and kept is None else []
    never = f"not before the year 9999 by the policy {config.retention_policy}"
    first = min(ways, default=None)
    return Explanation(
        memory=memory,
        strength=strength(memory, config, now),
        parts=explain_strength(memory, config, now),
        fades_at=first.at if first else None,
        rule=first.text if first else never,
        expires_at=expiry(memory, config),
        kept_because=kept,
        history=tuple(ports.store.history(memory.scope, memory.id)),
        links=tuple(ports.store.links(memory.scope, [memory.id])),
        sources=tuple(ports.store.get(ports.scopes, [source.memory for source in memory.sources])),
        behind=next(iter(behind), None),
    )
