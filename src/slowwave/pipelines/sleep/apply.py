"""Archivings stand each for itself: where others touched one memory of a group, the rest of it is done all the same."""

from collections.abc import Iterator
from dataclasses import replace

from slowwave.model.memory import Memory
from slowwave.model.operations import Change
from slowwave.model.plan import Dropped, Group, Plan, Receipt
from slowwave.pipelines.planning import new_id, with_notes
from slowwave.ports import Ports


def applied(ports: Ports, plan: Plan) -> Iterator[tuple[Plan, Receipt]]:
    """What was done, each run with the groups that it tried; and once more, without what others touched since.

    What is left out is found again by the next night, if it is still due.
    """
    receipt = ports.store.apply(plan)
    smaller = {id(one.group): rest for one in receipt.dropped if (rest := _untouched(ports, one)) is not None}
    if not smaller:
        yield plan, receipt
        return
    kept = tuple(group for group in plan.groups if id(group) not in smaller)
    if kept:
        still = tuple(one for one in receipt.dropped if id(one.group) not in smaller)
        yield replace(plan, groups=kept), replace(receipt, dropped=still)
    again = replace(plan, id=new_id(plan.at), groups=tuple(smaller.values()))
    left_out = sum(len(one.group) for one in receipt.dropped if id(one.group) in smaller) - sum(map(len, again.groups))
    told = f"{left_out} were used or changed since this was planned, and stay as they are"
    yield again, with_notes(ports.store.apply(again), notes=[told])


def _untouched(ports: Ports, dropped: Dropped) -> Group | None:
    """The group without the memories that were changed or used since; None if it stands or falls as a whole."""
    changes = [one for one in dropped.group.operations if isinstance(one, Change) and one.unless_used]
    if len(changes) < len(dropped.group) or any(one.after.superseded_by for one in changes):
        return None
    now = {one.id: one for one in ports.store.get((ports.scope,), [one.before.id for one in changes])}
    rest = tuple(one for one in changes if (found := now.get(one.before.id)) is not None and _as_seen(one, found))
    if not 0 < len(rest) < len(changes):
        return None
    left_out = len(changes) - len(rest)
    because = f"{dropped.group.because}, less {left_out} used or changed meanwhile"
    return replace(dropped.group, operations=rest, because=because, count_of="")


def _as_seen(change: Change, found: Memory) -> bool:
    seen = change.before
    return (seen.version, seen.accesses, seen.used_at) == (found.version, found.accesses, found.used_at)
