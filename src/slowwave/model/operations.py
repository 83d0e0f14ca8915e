"""Operations: every way in which memory can change, as values. Only a store performs them."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Store a new memory. A message with seq 0 is numbered by the store, next in its conversation."""

    memory: Memory
    because: str
    entry: IndexEntry | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Turn one version of a memory into the next. Use counters are not part of it.

    With `unless_used` it holds no longer once the memory was used after `before` was read: archiving for want of use.
    Only its maker and the store know of that; it is not journaled.
    """

    before: Memory
    after: Memory
    because: str
    entry: IndexEntry | None = field(default=None, compare=False, repr=False)
    unless_used: bool = field(default=False, compare=False, repr=False)

    @property
    def only_reschedules(self) -> bool:
        """Whether nothing changes but when the memory needs attention next: bookkeeping, and no news."""
        after = self.after
        return replace(self.before, due_at=after.due_at, pace=after.pace, version=after.version) == after


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Join two memories, or set the weight of the join. A weight of 0 takes it away.

    Kinds: "provenance" (summary to member, never decays), "association", "value changed?", "conflict?", "unsure",
    "close", "distinct" (asked and answered: two different things).
    """

    source: str
    target: str
    kind: str
    weight: float
    before: float
    because: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveCursor:
    """Move a cursor of a conversation; it moves only in the transaction that stores the result."""

    conversation: str
    cursor: str
    before: int
    after: int
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A memory was used: one access more, without a version check. `seen` is the memory the use was planned on."""

    used_version: Memory
    after: Memory
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppress:
    """Remember that a person undid this, by content key, so that it is not planned again; `on=False` lets go."""

    key: str
    because: str
    on: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectFact:
    """A proposed fact that was not stored, and why; kept in the journal only, for a person to read.

    `held` says that a person undid, deleted or erased it before. It is not journaled.
    """

    text: str
    quote: str
    reason: str
    because: str
    held: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erase:
    """Destroy a memory and every trace of it; the one operation without an inverse.

    It may also, or instead, name a conversation that holds nothing any more, whose name is to vanish, and `words` that
    are to vanish, in any case of their letters, from refused facts and from the reasons of other operations.
    """

    memory: str = ""
    because: str
    conversation: str | None = field(default=None, compare=False, repr=False)
    words: tuple[str, ...] = field(default=(), compare=False, repr=False)


Operation: TypeAlias = Add | Change | Link | MoveCursor | Use | Suppress | RejectFact | Erase
