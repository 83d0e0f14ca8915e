"""Plans: changes as atomic groups of operations; and the receipt and the run that applying a plan gives."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from slowwave.errors import ModelError
from slowwave.model.memory import Memory, beginning
from slowwave.model.operations import (
    OPERATION_NAMES,
    Add,
    Change,
    Erase,
    Link,
    MoveCursor,
    Operation,
    RejectFact,
    SetTitle,
    Suppress,
    Use,
)
from slowwave.model.suggestions import suggests_names
from slowwave.model.zone import local

GROUP_MAX = 500
BATCH_MAX = 10_000
"""Operations of a group that only adds messages, or only writes notes: a batch of them is one group."""

_NOUN = {
    Add: "added",
    Change: "changed",
    Link: "linked",
    MoveCursor: "cursor",
    SetTitle: "titled",
    Use: "used",
    Suppress: "blocked from returning",
    RejectFact: "refused",
    Erase: "erased",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What model calls cost: their number, tokens in and out, money if prices are known, and seconds of waiting."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            calls=self.calls + other.calls,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            money=self.money + other.money,
            seconds=self.seconds + other.seconds,
        )


WITHHELD: Final = "a change of what needs a person's review"
"""The reason of a group that is shown without some of its operations."""
FREE = Cost()
"""The cost of a run that called no model."""


def cost_of(error: ModelError) -> Cost:
    """The cost of a failed call: unusable answers are paid for too. One call if the error does not say."""
    return error.cost if isinstance(error.cost, Cost) else Cost(calls=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Operations that are applied together or not at all.

    `because` is the reason in words for a person; no code reads it. Code reads the other fields: `conversations` are the
    conversations that the reason names, so that an erase of one finds the group. `count_of` is set if the reason is a number of
    operations and a text, and contains the text: "faded" of "500 faded".

    `rests_on` are the ids of memories that the operations were computed from. The store drops the group if one of them is
    gone, so that nothing which was derived from an erased memory is written after the erase. The sources and members of
    new memories count too and need not be named.
    """

    operations: tuple[Operation, ...]
    because: str
    conversations: tuple[str, ...] = ()
    count_of: str = ""
    rests_on: tuple[str, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.operations)

    def shown(self, withheld: Container[str] = ()) -> "Group":
        """The group as a reader sees it who may not review: without operations that have words of withheld memories.

        Its reason goes with them: that of a stated fact is its text.

        Args:
            withheld: the ids of memories that are withheld now. Those that were when the operation was planned are known.
        """
        kept = tuple(one for one in self.operations if not _tells(one, withheld))
        if len(kept) == len(self.operations):
            return self
        return replace(self, operations=kept, because=WITHHELD, count_of="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An ordered list of groups with one cause. Applying it writes one run with the plan's id.

    A group whose memories have changed since it was planned is dropped and reported; the others are applied. Instead of
    groups a plan may have parts, which are plans and become child runs: a sleep pass has one part for each stage. A plan
    with a `lease`, the token of its maker, is refused by the store once another process holds the lease. The plan of an undo
    has in `undoes` the id of the undone run. A plan whose content must not be stored once one of the keys `unless_held` is
    suppressed is refused by the store with SuppressedError if one is. The plan of an erase has the `sequence` of the scope that
    it was computed on: the store drops a group that erases a memory from which another writer has derived something since.
    """

    id: str
    scope: str
    cause: str
    at: datetime
    groups: tuple[Group, ...] = ()
    parent: str | None = None
    cost: Cost = FREE
    parts: tuple["Plan", ...] = ()
    undoes: str | None = None
    lease: int | None = field(default=None, compare=False, repr=False)
    unless_held: tuple[str, ...] = field(default=(), compare=False, repr=False)
    sequence: int | None = field(default=None, compare=False, repr=False)

    @property
    def operations(self) -> Iterator[Operation]:
        """All operations of all groups in order: first of the plan, then of its parts."""
        for plan in (self, *self.parts):
            for group in plan.groups:
                yield from group.operations

    def shown(self, withheld: Container[str] = ()) -> "Plan":
        """The plan as a reader sees it who may not review: see `Group.shown`."""
        groups = tuple(group.shown(withheld) for group in self.groups)
        return replace(self, groups=groups, parts=tuple(part.shown(withheld) for part in self.parts))

    def __bool__(self) -> bool:
        return any(self.groups) or any(self.parts)

    def __repr__(self) -> str:
        done = count_operations(self.operations) or "nothing to do"
        return f"<Plan {self.id} {self.cause} in {self.scope} at {self.at:%Y-%m-%d %H:%M}: {beginning(done)}>"

    def __str__(self) -> str:
        lines = [f"{self.cause}: {count_operations(self.operations) or 'nothing to do'}"]
        lines += [f"  - {group.because}" for group in merge_groups(self.groups) if count_operations(group.operations)]
        parts = [part for part in self.parts if count_operations(part.operations)]  # moving a cursor is no news
        lines += [f"  {line}" for part in parts for line in str(part).splitlines()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A group that was not applied, and why."""

    group: Group
    reason: str


def reversible_run(run_id: str) -> str:
    """The words by which a report names the run that it is about."""
    return f"run {run_id}, which `undo` reverses"


OutcomeName: TypeAlias = Literal["ADD", "UPDATE", "DELETE", "NOOP", "REVIEW", "REFUSE"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result for one stated fact, or for one memory that was changed or deleted by its id.

    Attributes:
        operation: "ADD": it was stored as a new memory. "UPDATE": it changed a known memory, or replaced one. "DELETE": it was
            stored as a new memory and retracted a known one; or the memory was deleted. "NOOP": it was known. "REVIEW": it was
            stored, and no search finds it until a person releases it. "REFUSE": it was not stored.
        memory_id: the memory that contains it now; None if it was refused.
        text: as it was stated.
        reason: why, in words for a person.
    """

    operation: OutcomeName
    memory_id: str | None
    text: str
    reason: str = ""


@suggests_names
@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What applying a plan did. Prints as two readable lines.

    `outcomes` has one item for each stated fact, in the order in which they were passed, whatever became of it.
    """

    run_id: str
    cause: str
    scope: str
    applied: tuple[Operation, ...] = field(default=(), repr=False)
    dropped: tuple[Dropped, ...] = ()
    waiting: int = 0
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()

    def __repr__(self) -> str:
        waiting = f", {self.waiting} waiting" if self.waiting else ""
        return f"<Receipt {self.run_id} {self.cause} in {self.scope}: {count_operations(self.applied) or 'no change'}{waiting}>"

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories that were added, in order. `outcomes` also names those that were known or changed."""
        adds = (operation.memory for operation in self.applied if isinstance(operation, Add))
        return tuple(memory.id for memory in adds if memory.superseded_by is None)

    @property
    def details(self) -> str:
        """What a person should know besides the numbers, and how to undo the run."""
        details = (*self.notes, *self.problems, *(f"not done: {dropped.reason}" for dropped in self.dropped[:3]))
        if count_operations(self.applied):
            return "; ".join((*details, reversible_run(self.run_id)))
        return "; ".join(details) or ("nothing new to keep" if self.applied else "already known")

    def __str__(self) -> str:
        counted = count_operations(self.applied)
        first = f"{self.cause} in {self.scope}: {counted or 'nothing changed'}"
        first += f", {len(self.dropped)} dropped as out of date" if self.dropped else ""
        first += f", {self.waiting} waiting" if self.waiting else ""
        return f"{first}\n  {self.details}"


RunParts: TypeAlias = Literal["all", "stages", "none"]
"""Which runs that are parts of others a list contains: all, only the stages of sleep passes, or none."""


class Written(NamedTuple):
    """What one run wrote in a part of the journal of a scope.

    Attributes:
        sequence: the number of its last operation there (`Store.sequence`).
        run_id: the run.
        cause: what made it, such as "add" or "sleep/fade".
        at: when it was planned.
        parent: the id of the run that it is a part of, or None.
        undoes: the id of the run that it reverses, or None.
        totals: how many operations of each name it wrote there, such as {"add": 20}.
    """

    sequence: int
    run_id: str
    cause: str
    at: datetime
    parent: str | None
    undoes: str | None
    totals: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A plan as journaled.

    An import, a sleep pass, or the consolidation of many conversations is a run with parts, each a run of its own; `undo` of
    the whole undoes all parts. `AgentMemory.run` fills `parts`; a list of runs has only their number and totals.

    Attributes:
        id: what `undo` takes.
        scope: the scope whose memories it changed.
        cause: what made it, such as "add" or "sleep/fade".
        at: when it was planned.
        plan: its operations; empty if it only has parts, whose plans say what was done.
        parent: the id of the run that it is a part of, or None.
        cost: what models cost in it, without its parts.
        parts: its parts in order.
        part_count: how many parts it has.
        totals: how many operations of each name it and its parts have, such as {"add": 25120}. They include changes
            of nothing but the next instant of attention, which the words of a plan and of a receipt leave out.
    """

    id: str
    scope: str
    cause: str
    at: datetime
    plan: Plan
    parent: str | None = None
    cost: Cost = FREE
    parts: tuple["Run", ...] = field(default=(), repr=False)
    part_count: int = 0
    totals: Mapping[str, int] = field(default_factory=dict)

    @property
    def counted(self) -> str:
        """The operations of the run and its parts in words: "25,120 added"; empty if there are none to report."""
        if not self.part_count:
            return count_operations(self.plan.operations)
        nouns = {name: _NOUN[kind] for kind, name in OPERATION_NAMES.items()}
        return ", ".join(f"{number:,} {nouns[name]}" for name, number in self.totals.items() if name != "advance")

    def __repr__(self) -> str:
        done = self.counted or "no change"
        return f"<Run {self.id} {self.cause} in {self.scope} at {self.at:%Y-%m-%d %H:%M}: {beginning(done)}>"

    @property
    def undoes(self) -> str | None:
        """The id of the run that this run undoes; None if it is no undo."""
        return self.plan.undoes


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One journaled operation, as `history` lists it."""

    run_id: str
    cause: str
    at: datetime
    operation: Operation

    def __repr__(self) -> str:
        operation = f"{type(self.operation).__name__}: {beginning(self.operation.because)!r}"
        return f"<Event of run {self.run_id} {self.cause} at {self.at:%Y-%m-%d %H:%M}, {operation}>"


def memories_of(operation: Operation) -> tuple[Memory, ...]:
    """The memories of an operation, as they were before and after it."""
    match operation:
        case Add():
            return (operation.memory,)
        case Change():
            return operation.before, operation.after
        case Use():
            return operation.used_version, operation.after
        case _:
            return ()


def _tells(operation: Operation, withheld: Container[str]) -> bool:
    """Whether an operation has words of a withheld memory: it is on one of these, or on one that was withheld then."""
    if isinstance(operation, Link):
        return operation.source in withheld or operation.target in withheld
    return any(memory.is_withheld or memory.id in withheld for memory in memories_of(operation))


def merge_groups(groups: Iterable[Group]) -> list[Group]:
    """Groups for a person to read: those that were split only by the limit of a group become one, counted as a whole."""
    merged: list[Group] = []
    for group in groups:
        last = merged[-1] if merged else None
        if last and len(last) and len(last) % GROUP_MAX == 0 and _words(last) == _words(group):
            operations = (*last.operations, *group.operations)
            counted = f"{len(operations):,} {group.count_of}" if group.count_of else group.because
            merged[-1] = replace(group, operations=operations, because=counted)
        else:
            merged.append(group)
    return merged


def _words(group: Group) -> tuple[str, str]:
    """The reason without its number, which differs between the parts of a group that was split."""
    return (group.count_of, "") if group.count_of else ("", group.because)


def count_operations(operations: Iterable[Operation]) -> str:
    """How many operations of each sort, in words: "3 added, 1 changed"."""
    counted = Counter(map(_noun, operations))
    return ", ".join(f"{number} {noun}" for noun, number in counted.items() if noun != "cursor")


def _noun(operation: Operation) -> str:
    if isinstance(operation, Change) and operation.only_reschedules:
        return "cursor"
    return "unblocked" if isinstance(operation, Suppress) and not operation.on else _NOUN[type(operation)]


Dated = TypeVar("Dated", Run, Event)


def in_zone(found: Iterable[Dated], zone: tzinfo) -> list[Dated]:
    """The runs or events with the times that the clock of a zone showed: the journal has them in UTC."""
    return [replace(one, at=local(one.at, zone)) for one in found]
