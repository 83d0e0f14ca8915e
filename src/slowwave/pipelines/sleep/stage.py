"""What a sleep stage is given and returns, and how its groups are stored one by one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from slowwave.model.memory import Memory, altered
from slowwave.model.operations import Add, Change, Operation
from slowwave.model.plan import FREE, Cost, Group, Plan, Receipt
from slowwave.model.query import Where
from slowwave.pipelines.planning import new_id, postpone, record_unapplied_cost
from slowwave.pipelines.sleep.change_limit import Budget
from slowwave.pipelines.sleep.lease import Lease
from slowwave.ports import Ports


def _nowhere(group: Group, cost: Cost) -> bool:
    raise AssertionError(f"{group.because!r}, at {cost}, has nowhere to be kept: this night only plans")


@dataclass(slots=True, kw_only=True)
class SleepContext:
    """One sleep of one scope.

    Args:
        ports: everything to work with.
        now: the instant of the whole night.
        due: facts whose `due_at` has come, earliest first, at most as many as one night looks at.
        think: whether a mind may be asked; without, stages that need one only say what is left.
        taken: memories an earlier stage has already planned for; later ones leave them alone.
        planned: in a dry run, what earlier stages would have changed by now; later ones see it as if it were so.
        held: memories that stand beside a size target which is missed with them: an undo or a person brought them back.
        waiting: memories for which a mind could not do its work; they stay due, so that the next night tries again.
        keep: has a group stored at once, in a run of its own with what it cost, for stages whose next step is dear;
            tells whether it still held. In a dry run it is only planned, and holds.
        budget: how much of what is known minds may still change tonight.
    """

    ports: Ports
    now: datetime
    due: tuple[Memory, ...]
    think: bool
    taken: set[str] = field(default_factory=set)
    planned: list[Operation] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    store_group: Callable[[Group, Cost], bool] = _nowhere
    budget: Budget = field(default_factory=Budget)

    def open(self) -> list[Memory]:
        """The due memories that no earlier stage has taken."""
        return [memory for memory in self.due if memory.id not in self.taken]

    def foresee(self, staged: "StagePlan", *, stored: bool) -> None:
        """Leave to this stage what it changes; where nothing is stored, later stages are to see it all the same."""
        operations = [operation for group in staged.groups for operation in group.operations]
        self.taken.update(one.before.id for one in operations if isinstance(one, Change))
        self.planned += [] if stored else operations

    def standing(self, where: Where) -> list[Memory]:
        """The memories of these kinds, phases, categories and flag, as they stand after what is planned."""
        found = {memory.id: memory for memory in self.ports.store.select((self.ports.scope,), where)}
        for operation in self.planned:
            if isinstance(operation, Add | Change):
                memory = operation.memory if isinstance(operation, Add) else operation.after
                found.pop(memory.id, None)
                if _meets(memory, where):
                    found[memory.id] = memory
        return list(found.values())

    def later(self, memory: Memory) -> Change | None:
        """The change that moves a looked-at memory to the instant it next needs attention, if that is another."""
        after = postpone(memory, self.ports.config, self.now)
        if (after.due_at, after.pace) == (memory.due_at, memory.pace):
            return None
        after = altered(after, version=memory.version + 1)
        return Change(before=memory, after=after, because="looked at; nothing to do yet")


def _meets(memory: Memory, where: Where) -> bool:
    return (
        not memory.is_cascade
        and (where.kinds is None or memory.kind in where.kinds)
        and (where.phases is None or memory.phase in where.phases)
        and (where.categories is None or memory.category in where.categories)
        and (where.flag is None or where.flag in memory.flags)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """What a stage plans: groups, how much it left for another pass, what went wrong, and what thinking cost."""

    groups: tuple[Group, ...] = ()
    left: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE


@dataclass(slots=True, kw_only=True)
class StageRuns:
    """The runs of one stage so far. In a dry run they are plans only.

    `cost` is what thinking has cost that led to a step; `parent` the run they all belong to.
    """

    ports: Ports
    now: datetime
    cause: str
    parent: str
    dry_run: bool = False
    lease: Lease | None = None
    plans: list[Plan] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    cost: Cost = FREE

    def store_group(self, group: Group, cost: Cost) -> bool:
        """Store a group now; whether it still held. What it cost is journaled all the same."""
        self.cost += cost
        step = Plan(
            id=new_id(self.now),
            scope=self.ports.scope,
            cause=self.cause,
            at=self.now,
            groups=(group,),
            parent=self.parent,
            cost=cost,
            lease=self.lease.token if self.lease else None,
        )
        self.plans.append(step)
        if self.dry_run:
            return True
        if self.lease:
            self.lease.renewed()
        receipt = self.ports.store.apply(step)
        self.receipts.append(receipt)
        if receipt.dropped:
            record_unapplied_cost(self.ports, step, receipt.dropped[0].reason)
        return not receipt.dropped
