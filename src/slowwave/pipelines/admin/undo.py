"""Undoes runs: applies the inverse of a run as a new plan.

What a person undid is held, so that no later sleep pass does it again.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from slowwave.errors import ConflictError, InputError, NotFoundError
from slowwave.model.codec import content_key
from slowwave.model.memory import COUNTERS, MESSAGE, NOTE, SUMMARY, Memory
from slowwave.model.names import checked_id
from slowwave.model.operations import Add, Change, Erase, Link, MoveCursor, Operation, SetTitle, Suppress, Use
from slowwave.model.plan import Group, Plan, Receipt, Run
from slowwave.model.progress import FAILED_CURSOR
from slowwave.model.query import Where
from slowwave.pipelines.admin.edit import EDIT
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.reconcile import SETTLED, compared_pair_key
from slowwave.pipelines.planning import (
    check_full_trust,
    check_may_change,
    new_id,
    reschedule,
    split_groups,
    transition,
    with_notes,
)
from slowwave.policy.guard.trust import ORDER, outranks
from slowwave.policy.retention.policies import RESTORED
from slowwave.ports import Ports

ADDING: Final = frozenset({"add", "observe"})
"""Causes of runs that only add what was stated."""
MANY: Final = 2
"""From so many runs on, their undos are parts of one undo."""


def undo(ports: Ports, run_id: str, *, cascade: bool = False) -> tuple[Receipt, ...]:
    """Undo a run, with all its parts if it has some, and with `cascade` the runs that depend on it, newest run first.

    The undo of several runs is one run with parts, with one receipt: undoing that run restores everything.

    A run that is undone already is not undone again. To undo an undo, pass its own id. Content that an erase has destroyed
    since is not restored, and the receipt says so.

    Raises:
        NotFoundError: if there is no such run.
        InputError: if the run is an erase.
        ConflictError: if later runs depend on it; `cascade=True` undoes them too, newest first.
        TrustError: these ports have a ceiling, and the run did more than to add or edit messages or facts below it, or a
            person made the edit.
    """
    run = ports.store.run(ports.scope, checked_id(run_id, "run_id"))
    if run is None:
        raise NotFoundError(f"no run {run_id!r} in scope {ports.scope}: check the id and the scope")
    family = [run, *ports.store.children(ports.scope, run_id)]
    undone_by, wholes = _undos_by_run(ports)
    undoable_members = [member for member in family if any(member.plan.groups) and member.id not in undone_by]
    undos = {undone_by[member.id] for member in family if member.id in undone_by}
    if not undoable_members and run.id not in undone_by.values() and undos:
        whole_undos = [wholes[undo_id] for undo_id in undone_by.values() if undo_id in undos]
        note = _already_undone(list(dict.fromkeys(whole_undos)))
        return (Receipt(run_id=new_id(ports.now()), cause="undo", scope=ports.scope, notes=(note,)),)
    if any(map(_erases, family)):
        raise InputError(f"run {run_id} is an erase: it has no inverse")
    reached = _with_dependents(ports, undoable_members, {*undone_by, *wholes})
    undoable = [dependent for dependent in reached if not _erases(dependent)]
    family_ids = {member.id for member in family}
    later = [dependent for dependent in undoable if dependent.id not in family_ids]
    if later and not cascade:
        names = ", ".join(f"{dependent.id} ({dependent.cause})" for dependent in later[:5])
        runs, pronoun = ("run depends", "it") if len(later) == 1 else ("runs depend", "them")
        how = f"`undo` with `cascade` undoes {pronoun} too"
        raise ConflictError(f"{len(later)} later {runs} on {run_id}: {names}; {how}")
    for dependent in undoable:
        _check_reach(ports, dependent)
    lost = [
        f"memories that run {erase.id} (erase) destroyed since are not restored" for erase in reached if _erases(erase)
    ]
    receipts = _taken_back(ports, run, [one for one in undoable if any(one.plan.groups)])
    return (*receipts[:-1], *(with_notes(receipt, notes=lost) for receipt in receipts[-1:]))


def _taken_back(ports: Ports, asked: Run, runs: Sequence[Run]) -> list[Receipt]:
    """Undo runs in this order. The undos of several runs are parts of one undo, with one receipt."""
    if len(runs) < MANY:
        return [_Inverse(ports, run).apply() for run in runs]
    whole = _begun_undo(ports, asked, runs)
    for run in runs:
        done = _Inverse(ports, run, of_many=True).apply(parent=whole.run_id)
        whole = replace(
            whole,
            applied=(*whole.applied, *done.applied),
            dropped=(*whole.dropped, *done.dropped),
            notes=(*whole.notes, *(note for note in done.notes if note not in whole.notes)),
        )
    return [whole]


def _begun_undo(ports: Ports, asked: Run, runs: Sequence[Run]) -> Receipt:
    """The receipt of an undo of these runs. Its run is stored first, so that the parts belong to it.

    It names the run that a person asked for only if that has nothing but parts: otherwise the run would count as undone
    before its own part is applied.
    """
    now = ports.now()
    group = Group(operations=(), because=f"undo of {asked.id}: {len(runs)} parts")
    undoes = None if any(asked.plan.groups) else asked.id
    plan = Plan(id=new_id(now), scope=ports.scope, cause="undo", at=now, groups=(group,), undoes=undoes)
    sizes = Counter(run.parent or run.id for run in runs)
    notes = {
        f"undid run {whole} ({run.cause.partition('/')[0]}) with {sizes[whole]} parts"
        if sizes[whole := run.parent or run.id] >= MANY
        else f"undid run {run.id} ({run.cause})": None
        for run in runs
    }
    return with_notes(ports.store.apply(plan), notes=tuple(notes))


def _check_reach(ports: Ports, run: Run) -> None:
    """Raise TrustError if ports with a ceiling may not undo a run: it may be a person's edit, or touch a person's memory."""
    sort, _, detail = run.cause.partition("/")
    ceiling = detail.partition("/")[0]
    by_its_like = sort == EDIT and ceiling in ORDER and not outranks(ceiling, ports.ceiling)
    if sort not in ADDING and not by_its_like:
        check_full_trust(ports, f"undo a run of {run.cause!r}")
    named = {memory.id: memory for one in run.plan.operations if (memory := _subject(one)) is not None}
    for memory in (*named.values(), *ports.store.get((ports.scope,), named)):
        check_may_change(ports, memory)


def _already_undone(undos: Sequence[str]) -> str:
    """A note that names the undos of a run, newest first, which is the order in which to undo them."""
    runs = f"run{'s' if len(undos) > 1 else ''} {', '.join(undos)}"
    commands = ", then ".join(f"`undo` run {undo_id}" for undo_id in undos)
    return f"already undone by {runs}: to restore it, {commands}"


def _erases(run: Run) -> bool:
    return any(isinstance(operation, Erase) for operation in run.plan.operations)


def undone_runs(ports: Ports) -> dict[str, str]:
    """The ids of the runs that are undone now, each with the id of the run that undid it. No operation is read.

    A run whose undo was undone is not among them.
    """
    undone_by, wholes = _undos_by_run(ports)
    return {run: wholes[undo] for run, undo in undone_by.items() if wholes[undo] not in undone_by}


def _undos_by_run(ports: Ports) -> tuple[dict[str, str], dict[str, str]]:
    """The latest undo by the id of each run that is undone now, and the id of the whole undo by the id of each undo or part.

    The undo of an undo restores the first run, so that the undos of one run take it back and restore it in turn. The latest of
    them tells the present state; those that led to the other state are undone by it.
    """
    wholes: dict[str, str] = {}
    first: dict[str, str] = {}  # the run that an undo takes back or restores
    restores: dict[str, bool] = {}
    latest: dict[str, str] = {}
    for undo_id, undoes, parent in reversed(ports.store.undos(ports.scope)):  # not by time: a clock may be set back
        wholes[undo_id] = parent or undo_id
        first[undo_id] = first.get(undoes, undoes)
        restores[undo_id] = not restores.get(undoes, True)
        latest[first[undo_id]] = undo_id
    undone_by: dict[str, str] = {}
    for run, changed in [*((one, one) for one in latest), *first.items()]:
        if restores.get(run, True) != restores[latest[changed]]:
            undone_by[run] = latest[changed]
    return undone_by, wholes


def _with_dependents(ports: Ports, runs: Sequence[Run], cancelled: Collection[str]) -> list[Run]:
    """The runs and all that depend on them, directly or not, each before the runs on which it depends.

    An undone run and its undos cancel out (`cancelled`): no run depends on them.
    """
    ordered: dict[str, Run] = {}
    entered = set(cancelled) - {run.id for run in runs}
    stack = list(runs)
    while stack:
        run = stack[-1]
        if run.id in entered:
            ordered.setdefault(stack.pop().id, run)
        else:
            entered.add(run.id)
            if _erases(run):
                continue  # an erase cannot be undone, so that what was done after it stays too
            later = [*ports.store.later(ports.scope, run, known=entered), *_eras_built_on(ports, run)]
            stack += [dependent for dependent in reversed(later) if dependent.id not in entered]
    return list(ordered.values())


def _eras_built_on(ports: Ports, run: Run) -> Iterator[Run]:
    """The runs that wrote eras from summaries of this run, where the era was not retracted."""
    adds = [operation for operation in run.plan.operations if isinstance(operation, Add)]
    summaries = {add.memory.id: add.memory for add in adds if add.memory.depth == 1}
    for conversation in {memory.conversation for memory in summaries.values() if memory.is_cascade}:
        where = Where(kinds=frozenset({SUMMARY}), conversation=conversation, cascade=True, order="newest")
        for era in ports.store.select((ports.scope,), where):
            if era.phase != "retracted" and not summaries.keys().isdisjoint(era.members):
                events = ports.store.history(ports.scope, era.id)
                writer = ports.store.run(ports.scope, events[0].run_id) if events else None
                if writer is not None and writer.id != run.id:
                    yield writer


class _Inverse:
    """The inverse of one run, planned on the present memories and cursors, which each inverse operation changes."""

    def __init__(self, ports: Ports, run: Run, *, of_many: bool = False) -> None:
        self.ports = ports
        self.run = run
        self.now = ports.now()
        self.by_person = run.cause.partition("/")[0] in {"add", "edit"}
        ids = {memory.id for operation in run.plan.operations if (memory := _subject(operation)) is not None}
        self.current = {memory.id: memory for memory in ports.store.get((ports.scope,), ids)}
        self.added = {operation.memory.id for operation in run.plan.operations if isinstance(operation, Add)}
        self.cursors: dict[tuple[str, str], int] = {}
        self.titles: dict[str, str | None] = {}
        self.notes = [] if of_many else [f"undid run {run.id} ({run.cause})"]

    def apply(self, parent: str | None = None) -> Receipt:
        """Plan the inverse of the run, and apply it as a part of the undo `parent`, or with None by itself."""
        groups: list[Group] = []
        for group in reversed(self.run.plan.groups):
            operations = [inverse for operation in reversed(group.operations) for inverse in self._inverse(operation)]
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
            parent=parent,
        )
        return with_notes(self.ports.store.apply(plan), notes=self.notes)

    def _inverse(self, operation: Operation) -> Iterator[Operation]:
        """The operations that take one operation back, on the present memories."""
        because = f"undo: {operation.because}"
        match operation:
            case Add() if (memory := self.current.get(operation.memory.id)) is not None:
                if memory.phase != "retracted":
                    yield from self._withdrawn(memory, because)
            case Change() if (memory := self.current.get(operation.before.id)) is not None:
                yield from self._former(memory, operation, because)
            case Link():
                yield self._unlinked(operation, because)
                yield from self._kept_apart(operation, because)
            case MoveCursor() | SetTitle():
                yield from self._of_conversation(operation, because)
            case Suppress():
                yield replace(operation, on=not operation.on, because=because)
            case Use() if (memory := self.current.get(operation.used_version.id)) is not None:
                yield _unused(operation, memory, because)
            case _:
                return

    def _withdrawn(self, memory: Memory, because: str) -> Iterator[Operation]:
        """Take back a memory that the run added. What a mind derived is held."""
        # A fact that should not have been stored was never true: its validity ends where it begins.
        after = transition(memory, "retract", self.ports.config, valid_to=memory.valid_from)
        yield self._changed(memory, after if after.is_withheld else replace(after, reason="undone"), because)
        if memory.is_cascade and memory.depth == 1:
            self.notes.append(_unsummarised(memory))
        if memory.kind not in {MESSAGE, NOTE} and not self.by_person:
            yield Suppress(key=content_key(memory.text), because=because)

    def _former(self, memory: Memory, change: Change, because: str) -> Iterator[Operation]:
        """Give a memory its former values."""
        yield self._changed(memory, _restored(self.ports, memory, change), because)

    def _changed(self, before: Memory, after: Memory, because: str) -> Change:
        self.current[after.id] = after
        trimmed = after.gist is not None and after.gist != before.gist  # a trimmed message is searched by its gist
        texts = [after.visible_text] if trimmed else [after.text] if after.text != before.text else []
        entry = entries(self.ports, texts)[0][0] if texts else None
        return Change(before=before, after=after, because=because, entry=entry)

    def _kept_apart(self, link: Link, because: str) -> Iterator[Suppress]:
        """Hold the pair of facts whose comparison a person took back, so that it is not compared again."""
        ends = {link.source, link.target}
        if link.kind in SETTLED and link.weight > link.before and ends.isdisjoint(self.added):
            facts = self.ports.store.get((self.ports.scope,), ends)
            if len(facts) == len(ends):
                yield Suppress(key=compared_pair_key(*facts), because=because)

    def _unlinked(self, link: Link, because: str) -> Link:
        """Subtract what the run added to the weight; keep what was added since."""
        ends = (link.source, link.target)
        rows = self.ports.store.links(self.ports.scope, [link.source], [link.kind])
        weight = next((row.weight for row in rows if (row.source, row.target) == ends), 0.0)
        remaining = max(0.0, round(weight - link.weight + link.before, 6))
        return replace(link, before=weight, weight=remaining, because=because, at=self.now)

    def _of_conversation(self, operation: MoveCursor | SetTitle, because: str) -> Iterator[MoveCursor | SetTitle]:
        if isinstance(operation, MoveCursor):
            yield from self._rewound(operation, because)
        else:
            yield from self._titled(operation, because)

    def _titled(self, change: SetTitle, because: str) -> Iterator[SetTitle]:
        """Give a conversation its former title, unless it got another one since."""
        if change.conversation not in self.titles:
            found = self.ports.store.conversation(self.ports.scope, change.conversation)
            self.titles[change.conversation] = found.title if found else None
        if change.before != change.after and self.titles[change.conversation] == change.after:
            self.titles[change.conversation] = change.before
            yield replace(change, before=change.after, after=change.before, because=because)

    def _rewound(self, move: MoveCursor, because: str) -> Iterator[MoveCursor]:
        """Move a cursor back, unless later runs read on from it: their work and the cursor stay."""
        name = (move.conversation, move.cursor)
        if name not in self.cursors:
            conversation = self.ports.store.conversation(self.ports.scope, move.conversation)
            self.cursors[name] = conversation.cursor(move.cursor) if conversation else 0
        if self.cursors[name] == move.after:
            self.cursors[name] = move.before
            yield replace(move, before=move.after, after=move.before, because=because)
        elif move.conversation and not move.cursor.startswith(
            ("cascade", FAILED_CURSOR)
        ):  # the notes of the summaries say it
            self.notes.append(f"{move.conversation} was read further since, and is not read again")


def _unsummarised(memory: Memory) -> str:
    """A note that some messages have no summary now, and how to write one."""
    first, last = memory.span or (0, 0)
    return (
        f"messages {first} to {last} of {memory.conversation} are in no summary now, and no sleep pass writes the same "
        "words again: compact the conversation to have them written"
    )


def _unused(use: Use, memory: Memory, because: str) -> Use:
    """Take one use back. If the memory was used again since, only its counts and its stability go back."""
    before = use.used_version
    if memory.used_at != use.after.used_at:
        unchanged = ("used_at", "last_session", "due_at", "expires_at", "flags")
        before = replace(before, **{name: getattr(use.after, name) for name in unchanged})
    return Use(used_version=use.after, after=before, because=because)


def _subject(operation: Operation) -> Memory | None:
    """The memory that an operation adds, changes or uses."""
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
    """The memory with the former values of the fields that the change altered."""
    former = {
        name: getattr(change.before, name)
        for name in Memory.__dataclass_fields__
        if name not in COUNTERS | {"version", "due_at", "stability"}
        and getattr(change.before, name) != getattr(change.after, name)
    }
    after = replace(memory, **former, version=memory.version + 1)
    if (
        memory.kind != NOTE
        and after.is_searchable
        and (not memory.is_searchable or not change.after.is_searchable or _restores_words(after, memory))
    ):
        after = replace(after, flags=after.flags | {RESTORED})
    return reschedule(after, ports.config)


def _restores_words(after: Memory, before: Memory) -> bool:
    """Whether words of a trimmed message are hot again."""
    return before.gist is not None and (after.gist is None or len(after.gist) > len(before.gist))
