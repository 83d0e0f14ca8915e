"""Applies the plan of a stage. A group that archives is retried without the memories that changed meanwhile."""

from collections.abc import Iterator
from dataclasses import replace

from slowwave.model.memory import Memory
from slowwave.model.operations import Change
from slowwave.model.plan import Dropped, Group, Plan, Receipt
from slowwave.pipelines.planning import new_id, with_notes
from slowwave.ports import Ports


def applied(ports: Ports, plan: Plan) -> Iterator[tuple[Plan, Receipt]]:
    """Apply a plan; yields each run with its receipt: the plan itself, and a second one for the reduced groups.

    A memory that is left out is read again by the next sleep pass, if it is still due.
    """
    receipt = ports.store.apply(plan)
    reduced = {id(dropped.group): group for dropped in receipt.dropped if (group := _reduced(ports, dropped))}
    if not reduced:
        yield plan, receipt
        return
    groups = tuple(group for group in plan.groups if id(group) not in reduced)
    if groups:
        dropped = tuple(dropped for dropped in receipt.dropped if id(dropped.group) not in reduced)
        yield replace(plan, groups=groups), replace(receipt, dropped=dropped)
    retry = replace(plan, id=new_id(plan.at), groups=tuple(reduced.values()))
    tried = sum(len(dropped.group) for dropped in receipt.dropped if id(dropped.group) in reduced)
    left_out = tried - sum(map(len, retry.groups))
    note = f"{left_out} were used or changed since this was planned, and stay as they are"
    yield retry, with_notes(ports.store.apply(retry), notes=[note])


def _reduced(ports: Ports, dropped: Dropped) -> Group | None:
    """The group without the memories that were changed or used since; None if its operations depend on each other."""
    changes = [change for change in dropped.group.operations if isinstance(change, Change) and change.unless_used]
    if len(changes) < len(dropped.group) or any(change.after.superseded_by for change in changes):
        return None
    stored = {memory.id: memory for memory in ports.store.get((ports.scope,), [c.before.id for c in changes])}
    rest = tuple(
        change
        for change in changes
        if (memory := stored.get(change.before.id)) is not None and _is_unchanged(change, memory)
    )
    if not 0 < len(rest) < len(changes):
        return None
    left_out = len(changes) - len(rest)
    because = f"{dropped.group.because}, less {left_out} used or changed meanwhile"
    return replace(dropped.group, operations=rest, because=because, count_of="")


def _is_unchanged(change: Change, stored: Memory) -> bool:
    before = change.before
    return (before.version, before.accesses, before.used_at) == (stored.version, stored.accesses, stored.used_at)
