"""Undo: the inverse of a run, as a plan. What a person undid is held, so that no later night does it again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from slowwave.errors import ConflictError, InputError, NotFoundError
from slowwave.model.codec import content_key
from slowwave.model.memory import COUNTERS, MESSAGE, Memory
from slowwave.model.operation import Add, Advance, Change, Erase, Hold, Link, Operation, Refuse, Use
from slowwave.model.plan import Group, Plan, Receipt, Run
from slowwave.pipelines.making import chunked, new_id, noted
from slowwave.pipelines.moves import dated, moved
from slowwave.ports import Ports

RESTORED = "restored"
"""The flag of what an undo brought back: sleep leaves it alone until a person, a use or a new fact touches it."""


def undo(ports: Ports, run_id: str, *, cascade: bool = False) -> tuple[Receipt, ...]:
    """Take back a run, or a sleep with all its stages. Receipts come newest run first.

    Raises:
        NotFoundError: if there is no such run.
        ConflictError: if later runs rest on it; `cascade=True` takes them back too, newest first.
    """
    run = ports.store.run(ports.scope, run_id)
    if run is None:
        raise NotFoundError(f"no run {run_id!r} in scope {ports.scope}: see `slowwave runs`")
    family = [run, *ports.store.children(ports.scope, run_id)]
    inside = {member.id for member in family}
    later = {one.id: one for member in family for one in ports.store.later(ports.scope, member) if one.id not in inside}
    if later and not cascade:
        names = ", ".join(f"{one.id} ({one.cause})" for one in list(later.values())[:5])
        raise ConflictError(f"{len(later)} later runs rest on {run_id}: {names}; undo them too with cascade=True")
    chosen = sorted([*family, *later.values()], key=lambda one: (one.at, one.id), reverse=True)
    receipts = [_undone(ports, one) for one in chosen if any(one.plan.groups)]
    return tuple(receipts)


def _undone(ports: Ports, run: Run) -> Receipt:
    now = ports.now()
    if any(isinstance(operation, Erase) for operation in run.plan.operations):
        raise InputError(f"run {run.id} is an erase: what it destroyed cannot come back")
    groups: list[Group] = []
    for group in reversed(run.plan.groups):
        current = _current(ports, group.operations)
        operations = [
            inverse
            for operation in reversed(group.operations)
            for inverse in _inverse(ports, operation, current, now, by_person=run.cause in {"add", "edit"})
        ]
        groups += chunked(operations, because=f"undo: {group.because}")
    plan = Plan(id=new_id(now), scope=ports.scope, cause="undo", at=now, groups=tuple(groups), parent=None)
    receipt = ports.store.apply(plan)
    return noted(receipt, notes=(f"took back run {run.id} ({run.cause})",))


def _current(ports: Ports, operations: Sequence[Operation]) -> dict[str, Memory]:
    ids = {touched.id for operation in operations if (touched := _touched(operation)) is not None}
    return {memory.id: memory for memory in ports.store.get((ports.scope,), ids)}


def _touched(operation: Operation) -> Memory | None:
    match operation:
        case Add():
            return operation.memory
        case Change():
            return operation.before
        case Use():
            return operation.seen
        case _:
            return None


def _inverse(
    ports: Ports, operation: Operation, current: dict[str, Memory], now: datetime, *, by_person: bool
) -> Iterator[Operation]:
    """What takes one operation back, on memories as they stand now. `current` is moved along."""
    because = f"undo: {operation.because}"
    match operation:
        case Add() if (memory := current.get(operation.memory.id)) is not None and memory.phase != "retracted":
            after = replace(moved(memory, "retract", ports.config, now), reason="undone")
            current[memory.id] = after
            yield Change(before=memory, after=after, because=because)
            if memory.kind != MESSAGE and not by_person:
                yield Hold(key=content_key(memory.text), because=because)
        case Change() if (memory := current.get(operation.before.id)) is not None:
            after = _restored(ports, memory, operation, now)
            current[memory.id] = after
            yield Change(before=memory, after=after, because=because)
        case Link():
            yield replace(operation, weight=operation.before, before=operation.weight, because=because, at=now)
        case Advance():
            yield replace(operation, before=operation.after, after=operation.before, because=because)
        case Hold():
            yield replace(operation, on=not operation.on, because=because)
        case Use() if (memory := current.get(operation.seen.id)) is not None:
            yield Use(seen=operation.after, after=operation.seen, because=because)
        case Refuse() | _:
            return


def _restored(ports: Ports, memory: Memory, change: Change, now: datetime) -> Memory:
    """The memory with the fields that the change touched as they were before it."""
    touched = {
        name: getattr(change.before, name)
        for name in Memory.__dataclass_fields__
        if name not in COUNTERS | {"version", "due_at", "stability"}
        and getattr(change.before, name) != getattr(change.after, name)
    }
    after = replace(memory, **touched, version=memory.version + 1)
    if after.hot and not memory.hot:
        after = replace(after, flags=after.flags | {RESTORED})
    return dated(after, ports.config, now)
