"""What a stage of a sleep pass reads and returns, and how its groups are stored one by one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from slowwave.model.codec import content_key
from slowwave.model.memory import Memory, altered
from slowwave.model.operations import Add, Change, Operation
from slowwave.model.plan import FREE, Cost, Group, Plan, Receipt
from slowwave.model.query import Where
from slowwave.model.scope_state import ScopeState, StateQuery
from slowwave.pipelines.planning import new_id, postpone, record_unapplied_cost
from slowwave.pipelines.sleep.change_limit import Budget
from slowwave.pipelines.sleep.lease import Lease
from slowwave.pipelines.work_time import WorkTime
from slowwave.ports import Ports


def _cannot_store(group: Group, cost: Cost) -> bool:
    raise AssertionError(f"{group.because!r} (cost {cost}) cannot be stored: this context only plans")


@dataclass(slots=True, kw_only=True)
class SleepContext:
    """One sleep pass over one scope.

    Attributes:
        ports: the store, the mind, the embedder and the settings.
        now: the instant of the whole pass.
        due: facts whose `due_at` has passed, earliest first, as many as one pass reads.
        think: whether minds may be called; without, stages that need one only report the remaining work.
        taken: ids of the memories that an earlier stage plans to change; later stages do not change them.
        planned: in a dry run, the operations of earlier stages; later stages see their result.
        held: ids of memories that stay although a size target is missed with them: an undo or a person restored them.
        waiting: ids of memories for which a mind failed; they stay due, so that the next pass tries again.
        refused: ids of memories that a mind refused; it is asked about them again on a later day.
        store_group: stores a group at once, in a run of its own with its cost, for stages whose next step is expensive.
            Returns False if the group no longer applied. In a dry run it only plans, and returns True.
        budget: how many changes minds may still make in this pass.
        dry_run: whether the pass only plans.
        time: how long further steps of minds may begin.
        query: what the pass reads of the scope at its beginning, and again after it has stored something.
        unread_waiting: how many unread messages wait until their conversation is idle, as far as the pass knows.
    """

    ports: Ports
    now: datetime
    due: tuple[Memory, ...]
    think: bool
    taken: set[str] = field(default_factory=set)
    planned: list[Operation] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    store_group: Callable[[Group, Cost], bool] = _cannot_store
    budget: Budget = field(default_factory=Budget)
    dry_run: bool = False
    time: WorkTime = field(default_factory=WorkTime)
    query: StateQuery = field(default_factory=StateQuery)
    unread_waiting: int = 0
    _state: ScopeState | None = field(default=None, init=False, repr=False)

    @property
    def state(self) -> ScopeState:
        """The scope as it was after the last change of this pass. Later changes of others are noticed by `Store.apply`."""
        if self._state is None:
            self._state = self.ports.store.scope_state(self.ports.scope, self.query)
        return self._state

    @state.setter
    def state(self, state: ScopeState) -> None:
        self._state = state

    def stored_something(self) -> None:
        """Read `state` again when it is needed next."""
        self._state = None

    def select(self, where: Where) -> list[Memory]:
        """The stored memories that match; those of the query of the pass are read with `state`."""
        if where in self.query.selections:
            return list(self.state.selected[where])
        return self.ports.store.select((self.ports.scope,), where)

    def open(self) -> list[Memory]:
        """The due memories that no earlier stage has taken."""
        return [memory for memory in self.due if memory.id not in self.taken]

    def key_of_today(self, memories: Iterable[Memory]) -> str:
        """The key that is suppressed if this mind refused these texts today: it would refuse them in each pass."""
        texts = " ".join(sorted(content_key(memory.text) for memory in memories))
        return f"refused {self.now:%Y-%m-%d} {content_key(f'{self.ports.mind.name} {texts}')}"

    @property
    def tomorrow(self) -> datetime:
        """When the keys of today end."""
        return (self.now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)

    def foresee(self, staged: "StagePlan", *, stored: bool) -> None:
        """Take the memories that a stage changes; if nothing is stored, remember the changes for later stages."""
        operations = [operation for group in staged.groups for operation in group.operations]
        self.taken.update(operation.before.id for operation in operations if isinstance(operation, Change))
        self.planned += [] if stored else operations

    def store(self, group: Group, cost: Cost) -> bool:
        """Store a group at once, and take the memories that it changes; False if it no longer applied."""
        stored = self.store_group(group, cost)
        if not self.dry_run:
            self.stored_something()
        if stored:
            self.foresee(StagePlan(groups=(group,)), stored=not self.dry_run)
        return stored

    def standing(self, where: Where) -> list[Memory]:
        """The memories of these kinds, phases, categories and flag, as they are after the planned operations."""
        memories = {memory.id: memory for memory in self.select(where)}
        for operation in self.planned:
            if isinstance(operation, Add | Change):
                memory = operation.memory if isinstance(operation, Add) else operation.after
                memories.pop(memory.id, None)
                if _matches(memory, where):
                    memories[memory.id] = memory
        return list(memories.values())

    def later(self, memory: Memory) -> Change | None:
        """The change that moves a due memory to its next instant of attention, if that is a different one."""
        after = postpone(memory, self.ports.config, self.now)
        if (after.due_at, after.pace) == (memory.due_at, memory.pace):
            return None
        after = altered(after, version=memory.version + 1)
        return Change(before=memory, after=after, because="checked; nothing to do yet")


def _matches(memory: Memory, where: Where) -> bool:
    return (
        not memory.is_cascade
        and (where.kinds is None or memory.kind in where.kinds)
        and (where.phases is None or memory.phase in where.phases)
        and (where.categories is None or memory.category in where.categories)
        and (where.flag is None or where.flag in memory.flags)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """What a stage plans: groups, how much it leaves for another pass, what failed, and what models cost.

    `again` is when that work is due, if no memory's `due_at` says so.
    """

    groups: tuple[Group, ...] = ()
    left: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    again: datetime | None = None

    def limited(self, budget: Budget) -> "StagePlan":
        """The plan without the groups that exceed the budget; these stay due and are reported as problems."""
        groups, refused = budget.apply_limit(self.groups)
        left = self.left + len(self.groups) - len(groups)
        return replace(self, groups=groups, left=left, problems=(*self.problems, *refused))


@dataclass(slots=True, kw_only=True)
class StageRuns:
    """The child runs of a sleep pass or of a compaction so far; in a dry run they are plans only.

    Attributes:
        ports: the store and the scope.
        now: the instant of the runs.
        cause: the cause of the groups that are stored one by one; a sleep pass sets that of each stage.
        parent: the id of the run that these runs belong to.
        dry_run: plan, and store nothing.
        lease: the lease of the sleep pass, if there is one.
        plans: the plans of the runs.
        receipts: what was applied of them.
        cost: what the groups cost that were stored one by one.
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

    def plan(self, cause: str, groups: tuple[Group, ...], cost: Cost) -> Plan:
        """A plan for one child run."""
        return Plan(
            id=new_id(self.now),
            scope=self.ports.scope,
            cause=cause,
            at=self.now,
            groups=groups,
            parent=self.parent,
            cost=cost,
            lease=self.lease.token if self.lease else None,
        )

    def store_group(self, group: Group, cost: Cost) -> bool:
        """Store a group now; False if it no longer applied. Its cost is journaled in either case."""
        self.cost += cost
        plan = self.plan(self.cause, (group,), cost)
        self.plans.append(plan)
        if self.dry_run:
            return True
        if self.lease:
            self.lease.renewed()
        receipt = self.ports.store.apply(plan)
        self.receipts.append(receipt)
        if receipt.dropped:
            record_unapplied_cost(self.ports, plan, receipt.dropped[0].reason)
        return not receipt.dropped
