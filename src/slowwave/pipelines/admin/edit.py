"""Edits by a person: update, delete, pin, revive, release, reject. Each is applied as a plan and can be undone."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from slowwave.errors import ConflictError, InputError, NotFoundError, TrustError
from slowwave.model.codec import content_key, dumps, to_row
from slowwave.model.index_entry import IndexEntry
from slowwave.model.json_value import checked_metadata
from slowwave.model.memory import HOT, MESSAGE, NOTE, SUMMARY, JsonValue, Memory, altered
from slowwave.model.names import checked_id, checked_label
from slowwave.model.operations import Change, Operation, Suppress
from slowwave.model.plan import BATCH_MAX, Outcome, Plan, Receipt
from slowwave.model.progress import RELEASED
from slowwave.model.query import Where
from slowwave.pipelines.ingest.change_set import facts_with_key
from slowwave.pipelines.ingest.chunks import CURSOR
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.review import secrets, suspect
from slowwave.pipelines.planning import (
    apply_with_retry,
    check_full_trust,
    check_may_change,
    checked_text,
    in_parts,
    new_id,
    reschedule,
    single_group_plan,
    split_groups,
    transition,
    with_notes,
)
from slowwave.policy.guard.grounding import invented_details, missing_details, shares_content
from slowwave.policy.guard.trust import outranks
from slowwave.policy.retention.policies import RESTORED
from slowwave.ports import Ports

NAMED: Final = 5
"""How many details that a new summary text lacks are listed."""
EDIT: Final = "edit"
EDITED: Final = "edited by hand"
STATED: Final = "stated by hand"
"""The reason why a fact has no source message any more, and the flag of such facts. Their history names the messages."""
DELETED: Final = "deleted by hand"
PART: Final = 200
"""Memories that are deleted in one transaction."""


def edit_cause(ports: Ports) -> str:
    """The cause of an edit: "edit" of a person, "edit/assistant" and the like through ports with a ceiling.

    Code that acts for a model may therefore undo its own edits, and not those of a person.
    """
    return f"{EDIT}/{ports.ceiling}" if outranks("user", ports.ceiling) else EDIT


def found(ports: Ports, memory_id: str) -> Memory:
    """The memory of this id in the handle's own scope, or NotFoundError."""
    memory = next(iter(ports.store.get((ports.scope,), [checked_id(memory_id)])), None)
    if memory is None:
        raise NotFoundError(f"no memory {memory_id!r} in scope {ports.scope}: check the id and the scope")
    return memory


def update(
    ports: Ports,
    memory_id: str,
    text: str | None = None,
    category: str | None = None,
    metadata: Mapping[str, JsonValue] | None = None,
) -> Receipt:
    """Replace the text, the category or all metadata of a fact, or the metadata of a message; None leaves each as it is.

    If the source messages do not support the new text, the fact loses them as sources and is true from now on, so that it
    counts as newer than these messages; an event keeps its day. The former values stay in its history.

    Raises:
        InputError: no change is given, the memory is a note, or text or category are given for a message.
        TrustError: the memory is trusted more than these ports.
    """
    if text is None and category is None and metadata is None:
        raise InputError(f"nothing to change in {memory_id!r}: pass text=, category= or metadata=")
    text = checked_text(text) if text is not None else None
    category = checked_label(category, "category") if category is not None else None
    metadata = checked_metadata(metadata) if metadata is not None else None
    index_entries, problems = entries(ports, [text] if text is not None else [])

    def plan() -> Plan:
        now, before = ports.now(), found(ports, memory_id)
        _refuse_note(before)
        check_may_change(ports, before)
        operations: list[Operation] = []
        if text is not None or category is not None:
            words, entry = (text, index_entries[0]) if text is not None else (before.text, None)
            operations = rewording(ports, before, words, category=category, entry=entry)
        if metadata is not None:
            operations = _with_metadata(before, operations, metadata)
        because = operations[-1].because if operations else EDITED
        return single_group_plan(ports, edit_cause(ports), operations, because, now=now)

    receipt = apply_with_retry(ports, plan)
    stored = text if text is not None else found(ports, memory_id).text
    outcome = Outcome(operation="UPDATE" if receipt.applied else "NOOP", memory_id=memory_id, text=stored)
    receipt = replace(receipt, outcomes=(outcome,))
    notes = [*secrets((text,)), *_left_out(ports, memory_id, text)] if text is not None else []
    return with_notes(receipt, notes=notes, problems=problems)


def _with_metadata(before: Memory, operations: list[Operation], metadata: Mapping[str, JsonValue]) -> list[Operation]:
    """The operations of an edit with new metadata in its change, or with a separate change."""
    if operations and isinstance(last := operations[-1], Change):  # the change of a rewording is the last operation
        return [*operations[:-1], replace(last, after=altered(last.after, metadata=metadata))]
    after = altered(before, metadata=metadata, version=before.version + 1)
    changed = dumps(to_row(after)) != dumps(to_row(altered(before, version=after.version)))
    return [Change(before=before, after=after, because="metadata replaced")] if changed else []


def _refuse_note(memory: Memory) -> None:
    """Raise InputError for a note, which is written as a whole."""
    if memory.kind == NOTE:
        raise InputError(f"{memory.id!r} is the note {memory.ref!r}: write it with `note`, which replaces all of it")


def _left_out(ports: Ports, memory_id: str, text: str) -> Iterator[str]:
    """A note with the details of its members that the new text of a summary lacks."""
    summary = found(ports, memory_id)
    members = [
        memory for memory in ports.store.get((ports.scope,), summary.members) if memory.superseded_by == memory_id
    ]
    if lost := missing_details(text, members) if members else ():
        names = ", ".join(map(repr, lost[:NAMED])) + (f" and {len(lost) - NAMED} more" if len(lost) > NAMED else "")
        yield f"of the {len(members)} memories that it replaces it no longer contains {names}; `revive` restores one"


def rewording(
    ports: Ports, before: Memory, text: str, *, category: str | None = None, entry: IndexEntry | None = None
) -> list[Operation]:
    """The operations that replace the text of a fact, and its category if one is passed. The change is the last operation.

    Without a difference there are none.

    Raises:
        InputError: it is a message.
        ConflictError: another live fact has this text.
        TrustError: these ports have a ceiling, and the text reads as an instruction to a model, or a person deleted it.
    """
    _refuse_note(before)
    if before.kind == MESSAGE:
        raise InputError(f"{before.id!r} is a message: the text of a message cannot be changed; add a fact instead")
    if text == before.text and category in {None, before.category}:
        return []
    flags = before.flags - {RESTORED}
    after = replace(before, text=text, category=category or before.category, flags=flags, version=before.version + 1)
    because = EDITED
    if not _is_supported(ports, after):
        since = before.valid_from if before.kind == "episodic" else max(before.valid_from, ports.now())
        after = replace(after, sources=(), flags=flags | {STATED}, valid_from=since)  # an event keeps its day
        because = STATED
    _refuse_twin(ports, after)
    held = ports.store.suppressed_keys(ports.scope, [content_key(text)])
    if why := suspect(text, ports.ceiling):
        raise TrustError(f"the text needs a person's review ({why}): state it with `add`, which keeps it for review")
    if held:
        check_full_trust(ports, "state again what a person deleted")
    change = Change(before=before, after=reschedule(after, ports.config), because=because, entry=entry)
    return [*(Suppress(key=key, on=False, because="stated again") for key in held), change]


def _is_supported(ports: Ports, fact: Memory) -> bool:
    """Whether the source messages of a fact, if any, support its text."""
    messages = ports.store.get((ports.scope,), [source.memory for source in fact.sources])
    return not messages or (shares_content(fact.text, messages) and not invented_details(fact.text, messages))


def delete(ports: Ports, ids: str | Memory | Iterable[str | Memory]) -> Receipt:
    """Retract one memory or several, as one run. It can be undone, and the same text is not distilled again.

    Of more than 200 memories, each 200 are retracted as child runs of one run.

    Raises:
        NotFoundError: one of them does not exist; nothing was deleted.
        TrustError: one of them is trusted more than these ports; nothing was deleted.
    """
    listed = _listed_ids(ids)
    for start in range(0, len(listed), PART):
        part = listed[start : start + PART]
        here = {memory.id: memory for memory in ports.store.get((ports.scope,), part)}
        for memory_id in part:
            check_may_change(ports, here.get(memory_id) or found(ports, memory_id))
    return in_parts(ports, edit_cause(ports), listed, PART, lambda part, parent: _delete_part(ports, part, parent))


def _listed_ids(ids: object) -> list[str]:
    if isinstance(ids, str | Memory):
        ids = [ids]
    if isinstance(ids, bytes) or not isinstance(ids, Iterable):
        raise InputError(f"ids is a {type(ids).__name__}: pass an id, or a list of ids")
    listed = list(dict.fromkeys(checked_id(each.id if isinstance(each, Memory) else each) for each in ids))
    if len(listed) > BATCH_MAX:
        raise InputError(f"{len(listed):,} ids in one call, more than {BATCH_MAX:,}: delete them in parts")
    return listed


def _delete_part(ports: Ports, ids: Sequence[str], parent: str | None) -> Receipt:
    outcomes: list[Outcome] = []

    def plan() -> Plan:
        now = ports.now()
        operations: dict[str, Operation] = {}
        outcomes.clear()
        here = {memory.id: memory for memory in ports.store.get((ports.scope,), ids)}
        for memory_id in ids:
            before = here.get(memory_id) or found(ports, memory_id)
            known = before.phase == "retracted"
            outcomes.append(Outcome(operation="NOOP" if known else "DELETE", memory_id=memory_id, text=before.text))
            if not known:
                ended = transition(before, "retract", ports.config, valid_to=max(now, before.valid_from))
                operations[memory_id] = Change(before=before, after=ended, because=DELETED)
                if before.kind != NOTE:
                    key = content_key(before.text)
                    operations[key] = Suppress(key=key, because=DELETED)
                members = (member for member in _restored_members(ports, before) if member.before.id not in ids)
                operations |= {member.before.id: member for member in members}
        return Plan(
            id=new_id(now),
            scope=ports.scope,
            cause=edit_cause(ports) if parent is None else f"{edit_cause(ports)}/part",
            at=now,
            groups=split_groups(list(operations.values()), DELETED, counted=False),
            parent=parent,
        )

    receipt = replace(apply_with_retry(ports, plan), outcomes=tuple(outcomes))
    return with_notes(_with_member_note(receipt), notes=_source_note(receipt))


def _restored_members(ports: Ports, summary: Memory) -> Iterator[Change]:
    """Changes that restore the members of a summary that is retracted, so that none stays superseded by it."""
    because = "the summary that replaced it was retracted"
    for member in ports.store.get((ports.scope,), summary.members) if summary.kind == SUMMARY else ():
        if member.phase != "superseded" or member.superseded_by != summary.id:
            continue
        if twin := _twin(ports, member, besides=summary.id):  # a scope holds the same text only once
            fields = {"superseded_by": twin.id, "reason": "duplicate", "version": member.version + 1}
            yield Change(before=member, after=altered(member, **fields), because=because)
            continue
        back = transition(member, "restore", ports.config, superseded_by=None, flags=member.flags | {RESTORED})
        yield Change(before=member, after=reschedule(back, ports.config), because=because)


def _source_note(receipt: Receipt) -> list[str]:
    """The note that source messages of deleted facts stay: a person may believe that nothing says it any more."""
    changes = [operation for operation in receipt.applied if isinstance(operation, Change)]
    deleted = {change.before.id for change in changes}
    retracted = (change.before for change in changes if change.after.phase == "retracted")
    sources = {source.memory for memory in retracted for source in memory.sources} - deleted
    if not sources:
        return []
    noun, verb = ("message", "stays") if len(sources) == 1 else ("messages", "stay")
    return [f"{len(sources)} source {noun} {verb}, and a search may show {'it' if len(sources) == 1 else 'them'}"]


def _with_member_note(receipt: Receipt) -> Receipt:
    restored = sum(isinstance(operation, Change) and operation.after.is_searchable for operation in receipt.applied)
    return with_notes(receipt, notes=[f"its members are in use again: {restored} of them"] if restored else [])


def pin(ports: Ports, memory_id: str, *, on: bool) -> Receipt:
    """Exempt a memory from all automatic changes; with `on=False` end the exemption."""
    check_full_trust(ports, "pin or unpin a memory")

    def change(memory: Memory) -> Memory:
        if memory.kind == NOTE:
            raise InputError(f"{memory.id!r} is the note {memory.ref!r}: a note never fades, and needs no pin")
        after = replace(memory, pinned=on, version=memory.version + 1)
        return reschedule(after, ports.config) if after.pinned != memory.pinned else memory

    return _edit(ports, memory_id, change, "pinned" if on else "unpinned")


def revive(ports: Ports, memory_id: str) -> Receipt:
    """Return a memory that is cold, superseded or retracted, or the trimmed words of a message, to hot storage.

    A sleep pass leaves it there until it is used or changed.
    """

    def change(memory: Memory) -> Memory:
        if memory.is_searchable and memory.gist is None:
            return memory
        if memory.is_searchable:
            return replace(memory, gist=None, flags=memory.flags | {RESTORED}, version=memory.version + 1)
        if memory.phase != "cold":
            check_full_trust(ports, "bring back what was deleted, replaced or withheld")
        event = {"cold": "revive", "quarantined": "release"}.get(memory.phase, "restore")
        back = transition(
            _flag_skipped(ports, memory), event, ports.config, superseded_by=None, valid_to=None, gist=None
        )
        _refuse_twin(ports, back)
        if back.kind == NOTE:  # an end that has passed would hide it
            ended = back.expires_at is not None and back.expires_at <= ports.now()
            return reschedule(replace(back, expires_at=None if ended else back.expires_at), ports.config)
        return reschedule(replace(back, flags=back.flags | {RESTORED}), ports.config)

    return _edit(ports, memory_id, change, "revived by hand")


def release(ports: Ports, memory_id: str) -> Receipt:
    """End the review of a memory and keep it: it is searched again, and a message that was not distilled is distilled."""
    check_full_trust(ports, "release a memory from review")

    def change(memory: Memory) -> Memory:
        after = transition(_flag_skipped(ports, memory), "release", ports.config)
        _refuse_twin(ports, after)
        return after

    receipt = _edit(ports, memory_id, change, "released after review")
    passed_over = any(isinstance(one, Change) and RELEASED in one.after.flags for one in receipt.applied)
    return with_notes(
        receipt, notes=["it is read for facts by the next `consolidate` or `sleep`"] if passed_over else []
    )


def _flag_skipped(ports: Ports, memory: Memory) -> Memory:
    """The memory, flagged if it is a message under review that distilling skipped: the next `consolidate` reads it."""
    if memory.phase != "quarantined" or memory.kind != MESSAGE:
        return memory
    read = ports.store.conversation(ports.scope, str(memory.conversation))
    passed_over = read is not None and memory.seq <= read.cursor(CURSOR)
    return replace(memory, flags=memory.flags | {RELEASED}) if passed_over else memory


def reject(ports: Ports, memory_id: str) -> Receipt:
    """End the review of a memory and retract it: the same fact is not stored again."""
    check_full_trust(ports, "reject a memory under review")

    def plan() -> Plan:
        now, before = ports.now(), found(ports, memory_id)
        check_may_change(ports, before)
        because = "rejected after review"
        change = Change(before=before, after=transition(before, "reject", ports.config, valid_to=now), because=because)
        holds = [Suppress(key=content_key(before.text), because=because)] if before.kind not in {MESSAGE, NOTE} else []
        return single_group_plan(
            ports, edit_cause(ports), [change, *holds, *_restored_members(ports, before)], because, now=now
        )

    return _with_member_note(apply_with_retry(ports, plan))


def _edit(ports: Ports, memory_id: str, change: Callable[[Memory], Memory], because: str) -> Receipt:
    def plan() -> Plan:
        now, before = ports.now(), found(ports, memory_id)
        check_may_change(ports, before)
        after = change(before)
        changes = [Change(before=before, after=after, because=because)] if after != before else []
        return single_group_plan(ports, "edit", changes, because, now=now)

    return apply_with_retry(ports, plan)


def _refuse_twin(ports: Ports, memory: Memory) -> None:
    """Raise ConflictError if another live fact has the same text: a scope holds it only once."""
    if memory.kind == MESSAGE or memory.is_cascade or not memory.is_searchable:
        return
    if memory.kind == NOTE:
        where = Where(kinds=frozenset({NOTE}), phases=frozenset(HOT), conversation=memory.conversation, ref=memory.ref)
        if others := [other for other in ports.store.select((ports.scope,), where) if other.id != memory.id]:
            raise ConflictError(
                f"the note {others[0].id} has the name {memory.ref!r} now: remove it with `delete` first"
            )
        return
    if twin := _twin(ports, memory):
        raise ConflictError(f"{twin.id} says the same already; delete one of the two first")


def _twin(ports: Ports, memory: Memory, *, besides: str = "") -> Memory | None:
    """Another live fact with the same text."""
    facts = facts_with_key(ports, content_key(memory.text))
    return next((fact for fact in facts if fact.id not in {memory.id, besides}), None)
