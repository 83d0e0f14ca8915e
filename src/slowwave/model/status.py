"""What a store says of itself: conversations, links and counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from slowwave.model.plan import Cost

IDENTITY_TOKENS: Final = 50
"""S3's target for L0, who one is: fewer tokens than this."""
CORE_TOKENS: Final = 200
"""S3's target for L1, all that is always in view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """How far a conversation has come: its last message, and how far each cursor has read."""

    name: str
    last_seq: int
    last_at: datetime
    cursors: Mapping[str, int]

    def cursor(self, name: str) -> int:
        """The last seq that was worked through under this name; 0 before the first."""
        return self.cursors.get(name, 0)


class DecayClass(NamedTuple):
    """Hot facts of one pace that were used equally often, and the latest of their anchors.

    One lane of pace None, whose anchor says nothing, stands for all facts that were never planned.
    """

    pace: int | None
    uses: int
    anchor: datetime | None


class FadingFact(NamedTuple):
    """A fact in or near the fading band, told by what decides which others it is compared with.

    `vector` is float32, little-endian; empty where it was not asked for.
    """

    id: str
    kind: str
    category: str
    depth: int
    vector: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """A join of two memories as it stands."""

    source: str
    target: str
    kind: str
    weight: float
    at: datetime

    def other(self, memory: str) -> str:
        """The far end, seen from one of the two."""
        return self.target if memory == self.source else self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How a scope stands.

    `counts` is by kind and phase, `waiting` the facts that wait for a mind, `due` the memories whose time has come,
    `unread` the messages that no distilling has read yet. `identity_tokens` and `core_tokens` are about what the facts
    of who one is, and all that is always in view, cost in every context: above their targets it is told, never cut.
    `problems` are of work in the background.
    """

    scope: str
    store: str
    counts: Mapping[tuple[str, str], int]
    waiting: int
    due: int
    unread: int
    conversations: int
    embedder: str | None
    unembedded: int
    mind: str
    last_sleep: datetime | None
    cost: Cost
    policy: str
    identity_tokens: int = 0
    core_tokens: int = 0
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        kinds: dict[str, list[str]] = {}
        for (kind, phase), number in sorted(self.counts.items()):
            kinds.setdefault(kind, []).append(f"{number:,} {phase}")
        lines = [f"scope {self.scope} in {self.store}"]
        lines += [f"  {kind}: {', '.join(parts)}" for kind, parts in kinds.items()] or ["  empty"]
        lines.append(
            f"  {self.unread:,} messages not yet distilled, {self.waiting} facts waiting for a model, "
            f"{self.due} due to fade or expire"
        )
        lines.append(f"  embedder {self.embedder or 'none'}, {self.unembedded:,} without its vector; mind {self.mind}")
        slept = self.last_sleep.isoformat(timespec="minutes") if self.last_sleep else "never"
        lines.append(f"  last sleep {slept}; {self.cost.calls} model calls so far")
        if self.core_tokens:
            lines.append(f"  always in view: {_aimed(self.identity_tokens, IDENTITY_TOKENS)} of identity, ")
            lines[-1] += f"{_aimed(self.core_tokens, CORE_TOKENS)} in all"
        lines += [f"  problem: {problem}" for problem in self.problems]
        return "\n".join(lines)


def _aimed(tokens: int, target: int) -> str:
    return f"{tokens} tokens (target below {target}{', exceeded' if tokens >= target else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair did.

    Attributes:
        memories: rows of which the checksum was computed anew; no other value of them was changed.
        journal: journal rows in which a value now has the type of its column.
        refused: why other damaged rows were not touched, in sentences.
    """

    memories: int = 0
    journal: int = 0
    refused: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.memories or self.journal)

    def __str__(self) -> str:
        if not self:
            return "nothing could be repaired" if self.refused else "nothing to repair"
        return (
            f"rows re-sealed: {self.memories:,}, because a replay of the journal gives exactly what they hold "
            f"(journal rows rewritten with values of the right type: {self.journal:,})"
        )
