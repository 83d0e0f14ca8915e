"""Sleep: the maintenance pass. Each stage plans, the store applies; a night with nothing due is two index reads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from slowwave import forks
from slowwave.errors import EmbedderError
from slowwave.model.memory import FACT_KINDS, HOT
from slowwave.model.operations import Add, Change, Operation
from slowwave.model.plan import FREE, Group, Plan, Receipt
from slowwave.model.query import Where
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.reembed import reembed
from slowwave.pipelines.planning import new_id, record_unapplied_cost
from slowwave.pipelines.sleep.apply import applied
from slowwave.pipelines.sleep.change_limit import Budget
from slowwave.pipelines.sleep.compress import compress
from slowwave.pipelines.sleep.conversation_summary import cascade
from slowwave.pipelines.sleep.duplicates import duplicates
from slowwave.pipelines.sleep.fade import expire, fade, refresh
from slowwave.pipelines.sleep.lease import Lease
from slowwave.pipelines.sleep.promote import promote
from slowwave.pipelines.sleep.report import ELSEWHERE, SleepReport, describe_link
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan, StageRuns
from slowwave.pipelines.sleep.unread import distil, retry
from slowwave.policy.retention.policies import paces
from slowwave.ports import Ports

DUE_MAX = 2000
"""How many due facts one night looks at; the rest is left for the next."""
REPLANNED_MAX = 2000
"""How many facts that were planned with other numbers one night looks at, as if they were due; the rest is left."""
EMBEDDED_MAX = 2000
"""How many texts one night embeds anew."""

STAGES: tuple[tuple[str, Callable[[SleepContext], StagePlan]], ...] = (
    ("distil", distil),
    ("retry", retry),
    ("expire", expire),
    ("duplicates", duplicates),
    ("compress", compress),
    ("fade", fade),
    ("promote", promote),
    ("cascade", cascade),
    ("refresh", refresh),
)

BY_MINDS = frozenset({"distil", "retry", "duplicates", "compress"})
"""Stages that change facts because a mind says so: the budget of the night binds them."""


@dataclass(slots=True, weakref_slot=True)
class SleepState:
    """What a handle remembers between its sleeps: the sequence at which a night last found nothing more to do."""

    sequence: int | None = None

    def __post_init__(self) -> None:
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: what a thread of the parent has found does not hold."""
        self.sequence = None


def sleep(ports: Ports, rest: SleepState, *, dry_run: bool = False, think: bool = True) -> SleepReport:
    """One pass of all stages in order. A dry run thinks and plans, and applies nothing."""
    now = ports.now()
    parent = new_id(now)
    plan = Plan(id=parent, scope=ports.scope, cause="sleep", at=now)
    if rest.sequence == ports.store.sequence(ports.scope) and not ports.store.due(ports.scope, now):
        return SleepReport(plan=plan, dry_run=dry_run, thought=think)
    if dry_run:
        return _night(ports, rest, plan, None, think=think)
    lease = Lease.taken(ports)
    if lease is None:
        return SleepReport(plan=plan, left={ELSEWHERE: 1}, thought=think)
    try:
        report = _night(ports, rest, plan, lease.beating(), think=think)
        lease.slept()
        return report
    finally:
        lease.given_back()


def _night(ports: Ports, rest: SleepState, plan: Plan, lease: Lease | None, *, think: bool) -> SleepReport:
    """All stages, under the lease; without one, a dry run."""
    dry_run, now, parent = lease is None, plan.at, plan.id
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), due_before=now, order="due", limit=DUE_MAX)
    due = tuple(ports.store.select((ports.scope,), where))
    others, unpaced = ports.store.facts_without_schedule(ports.scope, *paces(ports.config), REPLANNED_MAX)
    every = {memory.id: memory for memory in (*due, *others)}
    steps = StageRuns(ports=ports, now=now, cause="sleep/cascade", parent=parent, dry_run=dry_run, lease=lease)
    budget = Budget(ports=ports)
    context = SleepContext(
        ports=ports, now=now, due=tuple(every.values()), think=think, store_group=steps.store_group, budget=budget
    )
    parts = steps.plans
    receipts = steps.receipts
    problems: list[str] = []
    left: dict[str, int] = {}
    cost = FREE
    for name, stage in STAGES:
        if lease and not lease.renewed():
            problems.append("another sleeper took over: this one was away for too long, and stops")
            break
        staged = stage(context)
        if name in BY_MINDS:
            staged = context.budget.apply_limit(staged)
        context.foresee(staged, stored=not dry_run)
        problems += staged.problems
        if staged.left:
            left[name] = staged.left
        part = Plan(
            id=new_id(now),
            scope=ports.scope,
            cause=f"sleep/{name}",
            at=now,
            groups=staged.groups,
            parent=parent,
            cost=staged.cost,
            lease=lease.token if lease else None,
        )
        cost += staged.cost
        done = [] if dry_run else _applied(ports, part, staged)
        parts += [tried for tried, _ in done] if done else [part] if part else []
        receipts += [receipt for _, receipt in done]
        if dropped := sum(len(receipt.dropped) for _, receipt in done):  # others were faster: it is due again
            left[name] = left.get(name, 0) + dropped
    left |= _unseen(ports, now, due=len(due), unpaced=unpaced - len(others))
    if not dry_run:
        problems += _embedded(ports, left)
        rest.sequence = ports.store.sequence(ports.scope) if not left and not problems else None
    return SleepReport(
        plan=replace(plan, parts=tuple(parts)),
        receipts=tuple(receipts),
        left=left,
        held=len(context.held),
        problems=tuple(problems),
        cost=cost + steps.cost,
        dry_run=dry_run,
        thought=think,
        texts=_texts(ports, parts) if dry_run else {},
    )


def _texts(ports: Ports, parts: Sequence[Plan]) -> dict[str, str]:
    """The words of what these plans would link, by id."""
    ids = describe_link(operation for part in parts for operation in part.operations)
    return {one.id: one.text for one in ports.store.get((ports.scope,), ids)} if ids else {}


def _unseen(ports: Ports, now: datetime, *, due: int, unpaced: int) -> dict[str, int]:
    """What this night did not even look at."""
    left = {"due": max(1, ports.store.due(ports.scope, now))} if due == DUE_MAX else {}
    return left | ({"replan": unpaced} if unpaced else {})


def _applied(ports: Ports, part: Plan, staged: StagePlan) -> list[tuple[Plan, Receipt]]:
    """Apply what a stage planned, if anything; where nothing of it holds, what it cost is journaled all the same."""
    done = list(applied(ports, part)) if part else []
    if all(len(receipt.dropped) == len(tried.groups) for tried, receipt in done):
        record_unapplied_cost(ports, part, "; ".join(staged.problems) or "nothing came of it")
    return done


def _embedded(ports: Ports, left: dict[str, int]) -> tuple[str, ...]:
    """Vectors for what has none of the current embedder; they are derived, so no plan tells of them."""
    if ports.embedder is None:
        return ()
    try:
        if reembed(ports, most=EMBEDDED_MAX) >= EMBEDDED_MAX:
            left["reembed"] = 1
    except EmbedderError as error:
        return (str(error),)
    return ()


def findable(ports: Ports, plan: Plan) -> Plan:
    """A plan that was read from a file, with what makes its new words searchable."""
    parts = tuple(findable(ports, part) for part in plan.parts)
    return replace(plan, parts=parts, groups=tuple(_findable(ports, group) for group in plan.groups))


def _findable(ports: Ports, group: Group) -> Group:
    wordings = {place: words for place, one in enumerate(group.operations) if (words := _new_words(one)) is not None}
    made = dict(zip(wordings, entries(ports, list(wordings.values()))[0], strict=True))
    operations = [
        replace(one, entry=made[place]) if place in made and isinstance(one, Add | Change) else one
        for place, one in enumerate(group.operations)
    ]
    return replace(group, operations=tuple(operations))


def _new_words(operation: Operation) -> str | None:
    match operation:
        case Add(memory=memory):
            return memory.visible_text
        case Change(before=before, after=after) if before.visible_text != after.visible_text:
            return after.visible_text
        case _:
            return None


def apply(ports: Ports, plan: Plan) -> tuple[Receipt, ...]:
    """Execute a plan made earlier, part by part, under its version checks."""
    parts = plan.parts or (plan,)
    return tuple(receipt for part in parts if part for _, receipt in applied(ports, part))
