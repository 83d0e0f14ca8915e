"""Undo: the inverse of a run, as a plan. What a person undid is held, so that no later night does it again."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slowwave.errors import ConflictError, InputError, NotFoundError
from slowwave.model.codec import content_key
from slowwave.model.memory import COUNTERS, MESSAGE, SUMMARY, Memory
from slowwave.model.names import checked_id
from slowwave.model.operations import Add, Change, Erase, Link, MoveCursor, Operation, Suppress, Use
from slowwave.model.plan import Group, Plan, Receipt, Run
from slowwave.model.query import Where
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.reconcile import SETTLED, compared_pair_key
from slowwave.pipelines.planning import new_id, reschedule, split_groups, transition, with_notes
from slowwave.policy.retention.policies import RESTORED
from slowwave.ports import Ports


def undo(ports: Ports, run_id: str, *, cascade: bool = False) -> tuple[Receipt, ...]:
    """Take back a run, or a sleep with all its stages. Receipts come newest run first.

    What was taken back already stays as it is: an undo is undone by its own id. What an erase has destroyed since stays
    gone, and the receipt says so.

    Raises:
        NotFoundError: if there is no such run.
        InputError: if it is an erase.
        ConflictError: if later runs rest on it; `cascade=True` takes them back too, newest first.
    """
    run = ports.store.run(ports.scope, checked_id(run_id, "run_id"))
    if run is None:
        raise NotFoundError(f"no run {run_id!r} in scope {ports.scope}: see `slowwave runs`")
    family = [run, *ports.store.children(ports.scope, run_id)]
    taken = _taken_back(ports)
    standing = [one for one in family if any(one.plan.groups) and one.id not in taken]
    done = {taken[one.id] for one in family if one.id in taken}
    if not standing and run.id not in taken.values() and done:
        note = _told_back([one for one in taken.values() if one in done])
        return (Receipt(run_id=new_id(ports.now()), cause="undo", scope=ports.scope, notes=(note,)),)
    if any(map(_erases, family)):
        raise InputError(f"run {run_id} is an erase: what it destroyed cannot come back")
    reached = _newest_first(ports, standing, taken)
    chosen = [one for one in reached if not _erases(one)]
    later = [one for one in chosen if one.id not in {member.id for member in family}]
    if later and not cascade:
        names = ", ".join(f"{one.id} ({one.cause})" for one in later[:5])
        runs, them = ("run rests", "it") if len(later) == 1 else ("runs rest", "them")
        how = f"`slowwave undo {run_id} --cascade` takes {them} back too"
        raise ConflictError(f"{len(later)} later {runs} on {run_id}: {names}; {how}")
    lost = [f"what run {one.id} (erase) destroyed since stays gone" for one in reached if _erases(one)]
    undone = [_Undoing(ports, one).undone() for one in chosen if any(one.plan.groups)]
    return (*undone[:-1], *(with_notes(receipt, notes=lost) for receipt in undone[-1:]))


def _told_back(undos: Sequence[str]) -> str:
    """What took it back, newest first, in the order in which to undo these."""
    runs = f"run{'s' if len(undos) > 1 else ''} {', '.join(undos)}"
    return (
        f"already taken back by {runs}: to bring it back, {', then '.join(f'`slowwave undo {one}`' for one in undos)}"
    )


def _erases(run: Run) -> bool:
    return any(isinstance(operation, Erase) for operation in run.plan.operations)


def _taken_back(ports: Ports) -> dict[str, str]:
    """Which runs were taken back, and by which undo, itself not taken back."""
    taken: dict[str, str] = {}
    for one in ports.store.runs(ports.scope, cause="undo"):  # by no instant: a clock may be set back
        if one.undoes and one.id not in taken:
            taken.setdefault(one.undoes, one.id)
    return taken


def _newest_first(ports: Ports, runs: Sequence[Run], taken: Mapping[str, str]) -> list[Run]:
    """The runs and all that rests on them, however indirectly, each before what it rests on.

    A run that was taken back and the undo that did it cancel out: nothing rests on either.
    """
    found: dict[str, Run] = {}
    entered: set[str] = {*taken, *taken.values()} - {run.id for run in runs}
    waiting = list(runs)
    while waiting:
        run = waiting[-1]
        if run.id in entered:
            found.setdefault(waiting.pop().id, run)
        else:
            entered.add(run.id)
            if _erases(run):
                continue  # it stays, and so does what was done after it
            later = [*ports.store.later(ports.scope, run), *_eras_on(ports, run)]
            waiting += [one for one in reversed(later) if one.id not in entered]
    return list(found.values())


def _eras_on(ports: Ports, run: Run) -> Iterator[Run]:
    """The runs that wrote the eras which are built on a stretch that this run summarised, and which still hold."""
    made = {one.memory.id: one.memory for one in run.plan.operations if isinstance(one, Add) and one.memory.depth == 1}
    for conversation in {memory.conversation for memory in made.values() if memory.is_cascade}:
        where = Where(kinds=frozenset({SUMMARY}), conversation=conversation, cascade=True, order="newest")
        for era in ports.store.select((ports.scope,), where):
            if era.phase != "retracted" and not made.keys().isdisjoint(era.members):
                wrote = ports.store.run(ports.scope, ports.store.history(ports.scope, era.id)[0].run_id)
                if wrote is not None and wrote.id != run.id:
                    yield wrote


class _Undoing:
    """One run being taken back: memories and cursors as they stand, moved along with each inverse."""

    def __init__(self, ports: Ports, run: Run) -> None:
        self.ports = ports
        self.run = run
        self.now = ports.now()
        self.by_person = run.cause.partition("/")[0] in {"add", "edit"}
        ids = {touched.id for operation in run.plan.operations if (touched := _touched(operation)) is not None}
        self.current = {memory.id: memory for memory in ports.store.get((ports.scope,), ids)}
        self.made = {operation.memory.id for operation in run.plan.operations if isinstance(operation, Add)}
        self.cursors: dict[tuple[str, str], int] = {}
        self.notes = [f"took back run {run.id} ({run.cause})"]

    def undone(self) -> Receipt:
        """Apply the inverse of the run."""
        groups: list[Group] = []
        for group in reversed(self.run.plan.groups):
            operations = [one for operation in reversed(group.operations) for one in self._inverse(operation)]
            groups += split_groups(
                operations,
                because=f"undo of {self.run.id}: {group.because}",
                counted=False,
                conversations=group.conversations,
            )
        plan = Plan(
            id=new_id(self.now),
            scope=self.ports.scope,
            cause="undo",
            at=self.now,
            groups=tuple(groups),
            undoes=self.run.id,
        )
        return with_notes(self.ports.store.apply(plan), notes=self.notes)

    def _inverse(self, operation: Operation) -> Iterator[Operation]:
        """What takes one operation back, on memories as they stand now."""
        because = f"undo: {operation.because}"
        match operation:
            case Add() if (memory := self.current.get(operation.memory.id)) is not None:
                if memory.phase == "retracted":
                    return
                # What was never to be stored was at no time true.
                after = transition(memory, "retract", self.ports.config, valid_to=memory.valid_from)
                yield self._changed(memory, replace(after, reason="undone"), because)
                if memory.is_cascade and memory.depth == 1:
                    self.notes.append(_unsummarised(memory))
                if memory.kind != MESSAGE and not self.by_person:
                    yield Suppress(key=content_key(memory.text), because=because)
            case Change() if (memory := self.current.get(operation.before.id)) is not None:
                yield self._changed(memory, _restored(self.ports, memory, operation), because)
            case Link():
                yield self._unlinked(operation, because)
                yield from self._apart(operation, because)
            case MoveCursor():
                yield from self._rewound(operation, because)
            case Suppress():
                yield replace(operation, on=not operation.on, because=because)
            case Use() if (memory := self.current.get(operation.used_version.id)) is not None:
                yield _unused(operation, memory, because)
            case _:
                return

    def _changed(self, before: Memory, after: Memory, because: str) -> Change:
        self.current[after.id] = after
        less = after.gist is not None and after.gist != before.gist  # what is left of a message is searched as such
        texts = [after.visible_text] if less else [after.text] if after.text != before.text else []
        made = entries(self.ports, texts)[0] if texts else [None]
        return Change(before=before, after=after, because=because, entry=made[0])

    def _apart(self, link: Link, because: str) -> Iterator[Suppress]:
        """Two facts whose comparison a person took back are not compared again."""
        ends = {link.source, link.target}
        if link.kind in SETTLED and link.weight > link.before and ends.isdisjoint(self.made):
            there = self.ports.store.get((self.ports.scope,), ends)
            if len(there) == len(ends):
                yield Suppress(key=compared_pair_key(*there), because=because)

    def _unlinked(self, link: Link, because: str) -> Link:
        """What the run added to the weight goes; what was added since stays."""
        ends = (link.source, link.target)
        known = self.ports.store.links(self.ports.scope, [link.source], [link.kind])
        weight = next((one.weight for one in known if (one.source, one.target) == ends), 0.0)
        left = max(0.0, round(weight - link.weight + link.before, 6))
        return replace(link, before=weight, weight=left, because=because, at=self.now)

    def _rewound(self, move: MoveCursor, because: str) -> Iterator[MoveCursor]:
        """A cursor goes back, unless later runs read on from there: what they did stands, and so does the cursor."""
        place = (move.conversation, move.cursor)
        if place not in self.cursors:
            found = self.ports.store.conversation(self.ports.scope, move.conversation)
            self.cursors[place] = found.cursor(move.cursor) if found else 0
        if self.cursors[place] == move.after:
            self.cursors[place] = move.before
            yield replace(move, before=move.after, after=move.before, because=because)
        elif move.conversation and not move.cursor.startswith("cascade"):  # of those, the summaries tell
            self.notes.append(f"{move.conversation} was read further since, and is not read again")


def _unsummarised(memory: Memory) -> str:
    """What it means that the summary of a stretch is gone, and the way back."""
    first, last = memory.span or (0, 0)
    return (
        f"messages {first} to {last} of {memory.conversation} stand in no summary now, and no night writes the same words "
        f"again: `slowwave compact --conversation {shlex.quote(memory.conversation or '')}` does"
    )


def _unused(use: Use, memory: Memory, because: str) -> Use:
    """One use less. What it moved besides counts and stability stays where a later use moved it on."""
    before = use.used_version
    if memory.used_at != use.after.used_at:
        kept = ("used_at", "last_session", "due_at", "expires_at", "flags")
        before = replace(before, **{name: getattr(use.after, name) for name in kept})
    return Use(used_version=use.after, after=before, because=because)


def _touched(operation: Operation) -> Memory | None:
    match operation:
        case Add():
            return operation.memory
        case Change():
            return operation.before
        case Use():
            return operation.used_version
        case _:
            return None


def _restored(ports: Ports, memory: Memory, change: Change) -> Memory:
    """The memory with the fields that the change touched as they were before it."""
    touched = {
        name: getattr(change.before, name)
        for name in Memory.__dataclass_fields__
        if name not in COUNTERS | {"version", "due_at", "stability"}
        and getattr(change.before, name) != getattr(change.after, name)
    }
    after = replace(memory, **touched, version=memory.version + 1)
    if after.is_searchable and (
        not memory.is_searchable or not change.after.is_searchable or _says_more(after, memory)
    ):
        after = replace(after, flags=after.flags | {RESTORED})
    return reschedule(after, ports.config)


def _says_more(after: Memory, before: Memory) -> bool:
    """Whether words of a message are back."""
    return before.gist is not None and (after.gist is None or len(after.gist) > len(before.gist))
