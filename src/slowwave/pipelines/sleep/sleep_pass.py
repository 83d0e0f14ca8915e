"""Runs a sleep pass: each stage plans, the store applies. A pass with nothing due is two index reads."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime

from slowwave import forks
from slowwave.errors import BusyError, ClosedError, DisconnectedError, EmbedderError, SlowwaveError, StoreError
from slowwave.log import Log
from slowwave.model.arguments import check_fields
from slowwave.model.memory import FACT_KINDS, HOT, NOTE
from slowwave.model.operations import Add, Change, Operation
from slowwave.model.pass_record import LONGEST_WAIT, UNDONE
from slowwave.model.plan import FREE, Group, Plan, Receipt
from slowwave.model.query import Where
from slowwave.model.scope_state import ScopeState, StateQuery
from slowwave.pipelines.ingest.chunks import RELEASED_MESSAGES, UNREADABLE_MESSAGES
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.reembed import reembed
from slowwave.pipelines.planning import check_full_trust, new_id, record_unapplied_cost
from slowwave.pipelines.sleep.apply import applied
from slowwave.pipelines.sleep.change_limit import Budget
from slowwave.pipelines.sleep.compress import compress
from slowwave.pipelines.sleep.conversation_summary import cascade
from slowwave.pipelines.sleep.duplicates import CURSOR as DUPLICATES, LOOKED_AT as CHANGED_MAX, duplicates
from slowwave.pipelines.sleep.fade import expire, fade, refresh
from slowwave.pipelines.sleep.lease import Lease
from slowwave.pipelines.sleep.promote import CORE, promote
from slowwave.pipelines.sleep.report import ELSEWHERE, SleepReport, describe_link
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan, StageRuns
from slowwave.pipelines.sleep.unread import RETRY, WAITING, distil, retry
from slowwave.pipelines.work_time import WorkTime
from slowwave.policy.retention.policies import decay_class_range
from slowwave.ports import Ports, Progress

_log = Log("sleep")

DUE_MAX = 2000
"""How many due facts one pass reads; the others stay due."""
REPLANNED_MAX = 2000
"""How many facts that were scheduled with other settings one pass reads, as if they were due."""
WRITTEN_MAX = 5000
"""Operations of a pass that are read before the next one, to see whether others wrote meanwhile."""
EMBEDDED_MAX = 2000
"""How many texts one pass embeds again."""

Stage = Callable[[SleepContext], StagePlan]
STAGES: tuple[tuple[str, Stage], ...] = (
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

BY_MINDS = frozenset({"retry", "duplicates", "compress"})
"""Stages in which a mind decides what changes: the budget of the pass limits them. "distil" asks it before each chunk."""


@dataclass(slots=True, weakref_slot=True)
class SleepState:
    """The state of a handle between its sleep passes.

    Attributes:
        sequence: the sequence of the scope before a pass that left no work; None if it left some.
        own: the id of the run of that pass, whose parts are its stages; None if nothing was written since `sequence`.
        again: when unread messages that wait are due.
        unread_waiting: how many wait.
    """

    sequence: int | None = None
    own: str | None = None
    again: datetime | None = None
    unread_waiting: int = 0

    def __post_init__(self) -> None:
        forks.watch(self)

    def after_fork(self) -> None:
        """Clear the sequence in a forked child: a thread of the parent may have written since."""
        self.sequence = None


def sleep(
    ports: Ports,
    rest: SleepState,
    *,
    dry_run: bool = False,
    think: bool = True,
    on_progress: Progress | None = None,
) -> SleepReport:
    """Run all stages in order. A dry run asks minds and plans, and applies nothing.

    Args:
        ports: the ports of the scope.
        rest: the state of the handle between its passes.
        dry_run: whether only to plan.
        think: whether minds may be called.
        on_progress: called before each stage with the number of stages that were run, and of all.
    """
    now = ports.now()
    plan = Plan(id=new_id(now), scope=ports.scope, cause="sleep", at=now)
    if (
        (rest.again is None or (now < rest.again and rest.again - now <= LONGEST_WAIT))
        and _has_seen_all(ports, rest)
        and not ports.store.due(ports.scope, now)
    ):
        return SleepReport(
            plan=plan, dry_run=dry_run, thought=think, unread_waiting=rest.unread_waiting, again=rest.again
        )
    if dry_run:
        return _run_stages(ports, rest, plan, None, think=think, on_progress=on_progress)
    lease = Lease.taken(ports)
    if lease is None:
        return SleepReport(plan=plan, left={ELSEWHERE: 1}, thought=think)
    try:
        with _recording_failure(lease):
            report = _run_stages(ports, rest, plan, lease.beating(), think=think, on_progress=on_progress)
        again, failure = _what_is_left(report, getattr(ports.mind, "resumes", None))
        report = replace(report, again=lease.slept(again, failure=failure))
        rest.again = report.again
        _log.info(
            "sleep pass finished: %d operations applied, %d items left, %d problems, %d model calls",
            sum(len(receipt.applied) for receipt in report.receipts),
            sum(report.left.values()),
            len(report.problems),
            report.cost.calls,
        )
    except SlowwaveError:
        if not lease.is_lost():
            raise
        return SleepReport(plan=plan, left={ELSEWHERE: 1}, thought=think)  # this process stood still: no failure
    else:
        return report
    finally:
        lease.given_back()


@contextmanager
def _recording_failure(lease: Lease) -> Iterator[None]:
    """Record the class of an error that ends the pass. A store that is busy, closed or away is no failure of the scope."""
    try:
        yield
    finally:
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, BusyError | ClosedError | DisconnectedError):
            with suppress(
                SlowwaveError
            ):  # the store cannot be reached: the process that takes the lease over counts it
                lease.failed(type(error).__name__)


def _what_is_left(report: SleepReport, resumes: datetime | None) -> tuple[datetime | None, str]:
    """When the work is due that a pass left, and the kind of its failure, "" if it did not fail.

    A pass whose model may not be called before `resumes` goes on then. A pass that left work and stored something goes
    on at once, or after `RETRY` if it had a problem. One that stored nothing has failed: another one would find the same.
    """
    now, left = report.plan.at, sum(report.left.values())
    if not left and not report.problems:
        return report.again, ""
    if resumes is not None:
        return max(now, resumes), ""
    if not report.thought:
        return _earlier(report.again, now + RETRY), ""
    if any(receipt.applied for receipt in report.receipts):
        return _earlier(report.again, now + RETRY if report.problems else now), ""
    return now, UNDONE


def _earlier(first: datetime | None, second: datetime) -> datetime:
    return second if first is None else min(first, second)


def _has_seen_all(ports: Ports, rest: SleepState) -> bool:
    """Whether only the last pass has written since it began. What others wrote meanwhile is the work of the next one."""
    if rest.sequence is None:
        return False
    last = ports.store.sequence(ports.scope)
    if last == rest.sequence:
        return True
    if rest.own is None:
        return False
    written, reached = ports.store.written(ports.scope, rest.sequence, WRITTEN_MAX)
    if reached != last or any(rest.own not in {run.run_id, run.parent} for run in written):
        return False
    rest.sequence, rest.own = last, None
    return True


def _run_stages(
    ports: Ports, rest: SleepState, plan: Plan, lease: Lease | None, *, think: bool, on_progress: Progress | None
) -> SleepReport:
    """Run all stages under the lease; without one, as a dry run."""
    dry_run, now = lease is None, plan.at
    runs = StageRuns(ports=ports, now=now, cause="sleep", parent=plan.id, dry_run=dry_run, lease=lease)
    state = _first_state(ports, now)
    if lease:
        lease.seen = state.last_run
    context = _context(ports, runs, state, think=think)
    due, (rescheduled, unscheduled) = state.selected[_due_facts(now)], state.unscheduled
    problems: list[str] = []
    left: dict[str, int] = {}
    cost, again = FREE, None
    for name, stage in _stages(on_progress):
        if lease and not lease.renewed():
            left[ELSEWHERE] = 1
            break
        runs.cause = f"sleep/{name}"
        context.think = think and not context.time.is_over
        staged = stage(context)
        again = _earlier(again, staged.again) if staged.again else again
        if name in BY_MINDS:
            staged = staged.limited(context.budget)
        context.foresee(staged, stored=not dry_run)
        problems += staged.problems
        left |= {name: staged.left} if staged.left else {}
        part = runs.plan(runs.cause, staged.groups, staged.cost)
        cost += staged.cost
        if dropped := _carry_out(context, runs, part, staged):  # changed by others meanwhile: due again
            left[name] = left.get(name, 0) + dropped
    left |= _left_in_queues(ports, now, due=len(due), unscheduled=unscheduled - len(rescheduled))
    if not dry_run:
        problems += _reembed(context, left)
        _prepare_search(ports, context.state.sequence)
        rest.sequence, rest.own = state.sequence if not left and not problems else None, plan.id
        rest.again, rest.unread_waiting = again, context.unread_waiting
    return SleepReport(
        plan=replace(plan, parts=tuple(runs.plans)),
        receipts=tuple(runs.receipts),
        left=left,
        held=len(context.held),
        unread_waiting=context.unread_waiting,
        again=again,
        problems=tuple(problems),
        cost=cost + runs.cost,
        dry_run=dry_run,
        thought=think,
        out_of_time=context.time.is_over,
        texts=_linked_texts(ports, runs.plans) if dry_run else {},
    )


def _carry_out(context: SleepContext, runs: StageRuns, part: Plan, staged: StagePlan) -> int:
    """Apply the part of a stage, unless it is a dry run, and add it to the runs. Returns how many groups were dropped."""
    results = [] if context.dry_run else _apply_part(context.ports, part, staged)
    if results:
        context.stored_something()
    runs.plans += [tried for tried, _ in results] if results else [part] if part else []
    runs.receipts += [receipt for _, receipt in results]
    return sum(len(receipt.dropped) for _, receipt in results)


def _left_in_queues(ports: Ports, now: datetime, *, due: int, unscheduled: int) -> dict[str, int]:
    """What a pass does not look at: due facts over the most of one pass, and facts without a schedule."""
    left = {"due": max(1, ports.store.due(ports.scope, now))} if due == DUE_MAX else {}
    return left | ({"replan": unscheduled} if unscheduled > 0 else {})


def _stages(on_progress: Progress | None) -> Iterator[tuple[str, Stage]]:
    """The stages by name, in order; the progress is reported before each."""
    for number, named in enumerate(STAGES):
        if on_progress:
            on_progress(number, len(STAGES))
        yield named


def _due_facts(now: datetime) -> Where:
    kinds = frozenset((*FACT_KINDS, NOTE))  # notes are due when they expire
    return Where(kinds=kinds, phases=frozenset(HOT), due_before=now, order="due", limit=DUE_MAX)


def _query(ports: Ports) -> StateQuery:
    """What the stages read of the state of the scope."""
    return StateQuery(
        selections=(RELEASED_MESSAGES, UNREADABLE_MESSAGES, WAITING, CORE),
        changed={DUPLICATES: CHANGED_MAX},
        embedder=ports.space,
    )


def _first_state(ports: Ports, now: datetime) -> ScopeState:
    """The state of the scope before the first stage, with the facts that the pass looks at."""
    query = _query(ports)
    unscheduled = (*decay_class_range(ports.config), REPLANNED_MAX)
    selections = (_due_facts(now), *query.selections)
    return ports.store.scope_state(ports.scope, replace(query, selections=selections, unscheduled=unscheduled))


def _context(ports: Ports, runs: StageRuns, state: ScopeState, *, think: bool) -> SleepContext:
    """The pass as its stages see it."""
    facts = {memory.id: memory for memory in (*state.selected[_due_facts(runs.now)], *state.unscheduled[0])}
    context = SleepContext(
        ports=ports,
        now=runs.now,
        due=tuple(facts.values()),
        think=think,
        store_group=runs.store_group,
        budget=Budget(ports=ports),
        dry_run=runs.dry_run,
        time=WorkTime(ports.config.work_seconds),
        query=_query(ports),
    )
    context.state = state
    return context


def _linked_texts(ports: Ports, parts: Sequence[Plan]) -> dict[str, str]:
    """The texts of the memories that these plans would link, by id."""
    ids = describe_link(operation for part in parts for operation in part.operations)
    return {memory.id: memory.text for memory in ports.store.get((ports.scope,), ids)} if ids else {}


def _apply_part(ports: Ports, part: Plan, staged: StagePlan) -> list[tuple[Plan, Receipt]]:
    """Apply what a stage planned, if anything; if no group of it was applied, its cost is journaled all the same."""
    results = list(applied(ports, part)) if part else []
    if all(len(receipt.dropped) == len(tried.groups) for tried, receipt in results):
        record_unapplied_cost(ports, part, "; ".join(staged.problems) or "nothing came of it")
    return results


def _reembed(context: SleepContext, left: dict[str, int]) -> tuple[str, ...]:
    """Embed texts that have no vector of the current embedder. Vectors are derived data, so no plan contains them."""
    ports = context.ports
    if ports.embedder is None or not context.state.has_unembedded:
        return ()
    try:
        if reembed(ports, most=EMBEDDED_MAX) >= EMBEDDED_MAX:
            left["reembed"] = 1
    except EmbedderError as error:
        return (str(error),)
    return ()


def _prepare_search(ports: Ports, sequence: int) -> None:
    """Derive what the server searches of a large scope, so that the first search of a user does not wait for it.

    A scope has no more memories than journaled operations, so that most scopes are not looked at.
    """
    if ports.config.search_in_ram is not None and sequence > ports.config.search_in_ram:
        with suppress(StoreError):  # the next search does it
            ports.store.prepare_search(ports.scope)


def findable(ports: Ports, plan: Plan) -> Plan:
    """A plan that was read from a file, with index entries for its new texts."""
    parts = tuple(findable(ports, part) for part in plan.parts)
    return replace(plan, parts=parts, groups=tuple(_with_entries(ports, group) for group in plan.groups))


def _with_entries(ports: Ports, group: Group) -> Group:
    texts = {
        place: text for place, operation in enumerate(group.operations) if (text := _new_text(operation)) is not None
    }
    index_entries = dict(zip(texts, entries(ports, list(texts.values()))[0], strict=True))
    operations = [
        replace(operation, entry=index_entries[place])
        if place in index_entries and isinstance(operation, Add | Change)
        else operation
        for place, operation in enumerate(group.operations)
    ]
    return replace(group, operations=tuple(operations))


def _new_text(operation: Operation) -> str | None:
    match operation:
        case Add(memory=memory):
            return memory.visible_text
        case Change(before=before, after=after) if before.visible_text != after.visible_text:
            return after.visible_text
        case _:
            return None


def apply(ports: Ports, plan: Plan) -> tuple[Receipt, ...]:
    """Apply a plan that was made earlier, part by part; the store drops each group whose memories have changed."""
    check_full_trust(ports, "apply a plan")
    check_fields(plan, "plan")
    parts = plan.parts or (plan,)
    return tuple(receipt for part in parts if part for _, receipt in applied(ports, part))
