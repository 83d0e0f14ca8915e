"""A plan: what someone wants to change, as atomic groups of operations; and the receipt and run it becomes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from slowwave.errors import ModelError
from slowwave.model.operations import Add, Change, Erase, Link, MoveCursor, Operation, RejectFact, Suppress, Use

GROUP_MAX = 500
BATCH_MAX = 10_000
"""An observed batch of messages is one group, so it may be larger."""

_COUNT = re.compile(r"^[\d,]+ ")
"""The number with which the reason of a group begins."""

_NOUN = {
    Add: "added",
    Change: "changed",
    Link: "linked",
    MoveCursor: "cursor",
    Use: "used",
    Suppress: "kept from coming back",
    RejectFact: "refused",
    Erase: "erased",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What thinking cost: model calls, tokens in and out, money if prices are known, and seconds of waiting."""

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


FREE = Cost()
"""The cost of what no model was asked for."""


def cost_of(error: ModelError) -> Cost:
    """What a failure cost: answers that cannot be used are paid for too. One call where it does not say."""
    return error.cost if isinstance(error.cost, Cost) else Cost(calls=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Operations that stand or fall together."""

    operations: tuple[Operation, ...]
    because: str

    def __len__(self) -> int:
        return len(self.operations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An ordered list of groups with one cause. Applying it makes one run with the plan's id.

    A group whose memories have changed since it was planned is dropped and reported; the others stand. A plan may
    instead have parts, plans of their own, which become its child runs: a sleep has one part a stage. A plan with a
    `lease`, the token its maker holds, is dropped by the store once somebody else has taken the lease over.
    """

    id: str
    scope: str
    cause: str
    at: datetime
    groups: tuple[Group, ...] = ()
    parent: str | None = None
    cost: Cost = FREE
    parts: tuple["Plan", ...] = ()
    lease: int | None = field(default=None, compare=False, repr=False)

    @property
    def operations(self) -> Iterator[Operation]:
        """All operations of all groups, in order, those of the parts after its own."""
        for plan in (self, *self.parts):
            for group in plan.groups:
                yield from group.operations

    def __bool__(self) -> bool:
        return any(self.groups) or any(self.parts)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What applying a plan did. Prints as two readable lines."""

    run_id: str
    cause: str
    scope: str
    applied: tuple[Operation, ...] = field(default=(), repr=False)
    dropped: tuple[Dropped, ...] = ()
    waiting: int = 0
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories that were added, in order."""
        return tuple(operation.memory.id for operation in self.applied if isinstance(operation, Add))

    def __str__(self) -> str:
        counted = count_operations(self.applied)
        first = f"{self.cause} in {self.scope}: {counted or 'nothing changed'}"
        first += f", {len(self.dropped)} dropped as out of date" if self.dropped else ""
        first += f", {self.waiting} waiting" if self.waiting else ""
        details = (*self.notes, *self.problems, *(f"not done: {one.reason}" for one in self.dropped[:3]))
        if not counted:
            known = "nothing new to keep" if self.applied else "already known"
            return f"{first}\n  {'; '.join(details) or known}"
        undo = f"run {self.run_id}, undo with `slowwave undo {self.run_id}`"
        return f"{first}\n  {'; '.join((*details, undo))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A plan as journaled."""

    id: str
    scope: str
    cause: str
    at: datetime
    plan: Plan
    parent: str | None = None
    cost: Cost = FREE


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One journaled operation, as `history` tells it."""

    run_id: str
    cause: str
    at: datetime
    operation: Operation


def merge_groups(groups: Iterable[Group]) -> list[Group]:
    """Groups as a person reads them: what was cut only because a group has a limit is one again, counted as a whole."""
    told: list[Group] = []
    for group in groups:
        words = _COUNT.sub("", group.because)
        if told and len(told[-1]) and len(told[-1]) % GROUP_MAX == 0 and _COUNT.sub("", told[-1].because) == words:
            operations = (*told[-1].operations, *group.operations)
            counted = f"{len(operations):,} {words}" if words != group.because else words
            told[-1] = Group(operations=operations, because=counted)
        else:
            told.append(group)
    return told


def count_operations(operations: Iterable[Operation]) -> str:
    """How many operations of each sort, in words: "3 added, 1 changed"."""
    counted = Counter(map(_noun, operations))
    return ", ".join(f"{number} {noun}" for noun, number in counted.items() if noun != "cursor")


def _noun(operation: Operation) -> str:
    if isinstance(operation, Change) and operation.only_reschedules:
        return "cursor"
    return "let come back" if isinstance(operation, Suppress) and not operation.on else _NOUN[type(operation)]
