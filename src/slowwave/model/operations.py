"""Operations: every change of a memory, as a value. Only a store performs them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory

LinkKind: TypeAlias = Literal["provenance", "association", "value changed?", "conflict?", "unsure", "close", "distinct"]
"""Why two memories are linked.

"provenance" joins a summary to a member, and never decays; "association" joins memories that are used together. The
others end a comparison of two facts: "distinct" means that they are about different subjects.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Store a new memory. A message with seq 0 is numbered by the store, next in its conversation."""

    memory: Memory
    because: str
    entry: IndexEntry | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Turn one version of a memory into the next. Use counters are not part of it.

    With `unless_used` the store drops it if the memory was used after `before` was read: it archives what is unused.
    This flag is not journaled.
    """

    before: Memory
    after: Memory
    because: str
    entry: IndexEntry | None = field(default=None, compare=False, repr=False)
    unless_used: bool = field(default=False, compare=False, repr=False)

    @property
    def only_reschedules(self) -> bool:
        """Whether only the next instant of attention changes; reports leave such changes out."""
        after = self.after
        return replace(self.before, due_at=after.due_at, pace=after.pace, version=after.version) == after


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Link two memories, or set the weight of their link. A weight of 0 removes it."""

    source: str
    target: str
    kind: LinkKind
    weight: float
    before: float
    because: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveCursor:
    """Move a cursor of a conversation, in the transaction that stores the result of what was read."""

    conversation: str
    cursor: str
    before: int
    after: int
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTitle:
    """Set the title of a conversation; None: it has no title."""

    conversation: str
    before: str | None
    after: str | None
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Count a use of a memory, without a version check. `used_version` is the memory that the use was planned on."""

    used_version: Memory
    after: Memory
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppress:
    """Suppress a key, such as the content key of what a person undid, so that it is not stored again; `on=False` ends it."""

    key: str
    because: str
    on: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectFact:
    """Journal a proposed fact that is not stored, and why, for a person to read.

    `held` says that a person undid, deleted or erased it before. It is not journaled.
    """

    text: str
    quote: str
    reason: str
    because: str
    held: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erase:
    """Destroy a memory and every trace of it; the only operation without an inverse.

    It may also, or instead, remove the name of an empty conversation, and remove `words`, in upper or lower case, from
    refused facts and from the reasons of other operations. With `scope` it removes the name of the scope if nothing is
    stored in it any more.
    """

    memory: str = ""
    because: str
    conversation: str | None = field(default=None, compare=False, repr=False)
    words: tuple[str, ...] = field(default=(), compare=False, repr=False)
    scope: bool = field(default=False, compare=False, repr=False)


Operation: TypeAlias = Add | Change | Link | MoveCursor | SetTitle | Use | Suppress | RejectFact | Erase

OPERATION_NAMES: Final[Mapping[type[Operation], str]] = {
    Add: "add",
    Change: "change",
    Link: "link",
    MoveCursor: "advance",
    SetTitle: "title",
    Use: "use",
    Suppress: "hold",
    RejectFact: "refuse",
    Erase: "erase",
}
"""The name of each operation in plan files and metrics. Stored files hold these names: they never change."""
