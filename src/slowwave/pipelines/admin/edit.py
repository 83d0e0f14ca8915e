"""Edits by a person: update, delete, pin, revive, release, reject. Each is applied as a plan and can be undone."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from slowwave.errors import ConflictError, InputError, NotFoundError
from slowwave.model import names
from slowwave.model.codec import content_key
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import MESSAGE, SUMMARY, Memory, altered
from slowwave.model.operations import Change, Operation, Suppress
from slowwave.model.plan import Plan, Receipt
from slowwave.model.progress import RELEASED
from slowwave.pipelines.ingest.change_set import facts_with_key
from slowwave.pipelines.ingest.chunks import CURSOR
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.review import secrets
from slowwave.pipelines.planning import (
    apply_with_retry,
    checked_name,
    checked_text,
    reschedule,
    single_group_plan,
    transition,
    with_notes,
)
from slowwave.policy.guard.grounding import invented_details, missing_details, shares_content
from slowwave.policy.retention.policies import RESTORED
from slowwave.ports import Ports

NAMED: Final = 5
"""How many details that a new summary text lacks are listed."""
EDITED: Final = "edited by hand"
STATED: Final = "stated by hand"
"""The reason why a fact rests on no message any more, and the flag of such facts: their history names the messages."""


def found(ports: Ports, memory_id: str) -> Memory:
    """The memory of this id in the handle's own scope, or NotFoundError."""
    memory = next(iter(ports.store.get((ports.scope,), [names.checked_id(memory_id)])), None)
    if memory is None:
        raise NotFoundError(f"no memory {memory_id!r} in scope {ports.scope}: check the id and the scope")
    return memory


def update(ports: Ports, memory_id: str, text: str, category: str | None = None) -> Receipt:
    """Replace the text of a fact, and its category if one is passed; the old text stays in its history.

    A fact whose new text its source messages do not support rests on no message any more.
    """
    text = checked_text(text)
    category = checked_name(category, "category") if category is not None else None
    index_entries, problems = entries(ports, [text])

    def plan() -> Plan:
        now, before = ports.now(), found(ports, memory_id)
        operations = rewording(ports, before, text, category=category, entry=index_entries[0])
        because = operations[-1].because if operations else EDITED
        return single_group_plan(ports, "edit", operations, because, now=now)

    receipt = apply_with_retry(ports, plan)
    return with_notes(receipt, notes=[*secrets((text,)), *_left_out(ports, memory_id, text)], problems=problems)


def _left_out(ports: Ports, memory_id: str, text: str) -> Iterator[str]:
    """A note with the details of its members that the new text of a summary lacks."""
    summary = found(ports, memory_id)
    behind = [one for one in ports.store.get((ports.scope,), summary.members) if one.superseded_by == memory_id]
    if lost := missing_details(text, behind) if behind else ():
        names = ", ".join(map(repr, lost[:NAMED])) + (f" and {len(lost) - NAMED} more" if len(lost) > NAMED else "")
        yield f"of the {len(behind)} memories it stands for it no longer says {names}; `slowwave revive ID` brings one back"


def rewording(
    ports: Ports, before: Memory, text: str, *, category: str | None = None, entry: IndexEntry | None = None
) -> list[Operation]:
    """The operations that replace the text of a fact, and its category if one is passed. The change comes last.

    Without a difference there are none.

    Raises:
        InputError: it is a message.
        ConflictError: another live fact has this text.
    """
    if before.kind == MESSAGE:
        raise InputError(f"{before.id!r} is a message: what was said stays as it was said; add a fact instead")
    if text == before.text and category in {None, before.category}:
        return []
    flags = before.flags - {RESTORED}
    after = replace(before, text=text, category=category or before.category, flags=flags, version=before.version + 1)
    because = EDITED
    if not _is_supported(ports, after):
        after, because = replace(after, sources=(), flags=flags | {STATED}), STATED
    _refuse_twin(ports, after)
    held = ports.store.suppressed_keys(ports.scope, [content_key(text)])
    change = Change(before=before, after=reschedule(after, ports.config), because=because, entry=entry)
    return [*(Suppress(key=key, on=False, because="stated again") for key in held), change]


def _is_supported(ports: Ports, fact: Memory) -> bool:
    """Whether the source messages of a fact, if any, support its text."""
    messages = ports.store.get((ports.scope,), [source.memory for source in fact.sources])
    return not messages or (shares_content(fact.text, messages) and not invented_details(fact.text, messages))


def delete(ports: Ports, memory_id: str) -> Receipt:
    """Retract a memory. It can be undone, and the same text is not distilled again."""

    def plan() -> Plan:
        now, before = ports.now(), found(ports, memory_id)
        if before.phase == "retracted":
            return single_group_plan(ports, "edit", [], "already retracted", now=now)
        ended = transition(before, "retract", ports.config, valid_to=max(now, before.valid_from))
        hold = Suppress(key=content_key(before.text), because="deleted by hand")
        change = Change(before=before, after=ended, because="deleted by hand")
        return single_group_plan(
            ports, "edit", [change, hold, *_restored_members(ports, before)], "deleted by hand", now=now
        )

    return _with_member_note(apply_with_retry(ports, plan))


def _restored_members(ports: Ports, summary: Memory) -> Iterator[Change]:
    """Changes that restore the members of a summary that is retracted, so that none stays superseded by it."""
    because = "the summary that stood for it was taken back"
    for member in ports.store.get((ports.scope,), summary.members) if summary.kind == SUMMARY else ():
        if member.phase != "superseded" or member.superseded_by != summary.id:
            continue
        if twin := _twin(ports, member, besides=summary.id):  # a scope holds the same text only once
            fields = {"superseded_by": twin.id, "reason": "duplicate", "version": member.version + 1}
            yield Change(before=member, after=altered(member, **fields), because=because)
            continue
        back = transition(member, "restore", ports.config, superseded_by=None, flags=member.flags | {RESTORED})
        yield Change(before=member, after=reschedule(back, ports.config), because=because)


def _with_member_note(receipt: Receipt) -> Receipt:
    restored = sum(isinstance(one, Change) and one.after.is_searchable for one in receipt.applied)
    return with_notes(receipt, notes=[f"what it stood for is in use again: {restored} of them"] if restored else [])


def pin(ports: Ports, memory_id: str, *, on: bool) -> Receipt:
    """Exempt a memory from all automatic changes; with `on=False` end the exemption."""

    def change(memory: Memory) -> Memory:
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
        event = {"cold": "revive", "quarantined": "release"}.get(memory.phase, "restore")
        back = transition(
            _flag_skipped(ports, memory), event, ports.config, superseded_by=None, valid_to=None, gist=None
        )
        _refuse_twin(ports, back)
        return reschedule(replace(back, flags=back.flags | {RESTORED}), ports.config)

    return _edit(ports, memory_id, change, "revived by hand")


def release(ports: Ports, memory_id: str) -> Receipt:
    """End the review of a memory and keep it: it is searched again, and a message that was not distilled is distilled."""

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

    def plan() -> Plan:
        now, before = ports.now(), found(ports, memory_id)
        because = "rejected after review"
        change = Change(before=before, after=transition(before, "reject", ports.config, valid_to=now), because=because)
        holds = [Suppress(key=content_key(before.text), because=because)] if before.kind != MESSAGE else []
        return single_group_plan(ports, "edit", [change, *holds, *_restored_members(ports, before)], because, now=now)

    return _with_member_note(apply_with_retry(ports, plan))


def _edit(ports: Ports, memory_id: str, change: Callable[[Memory], Memory], because: str) -> Receipt:
    def plan() -> Plan:
        now, before = ports.now(), found(ports, memory_id)
        after = change(before)
        changes = [Change(before=before, after=after, because=because)] if after != before else []
        return single_group_plan(ports, "edit", changes, because, now=now)

    return apply_with_retry(ports, plan)


def _refuse_twin(ports: Ports, memory: Memory) -> None:
    """Raise ConflictError if another live fact has the same text: a scope holds it only once."""
    if memory.kind == MESSAGE or memory.is_cascade or not memory.is_searchable:
        return
    if twin := _twin(ports, memory):
        raise ConflictError(f"{twin.id} says the same already: {twin.text!r}; delete one of the two first")


def _twin(ports: Ports, memory: Memory, *, besides: str = "") -> Memory | None:
    """Another live fact with the same text."""
    facts = facts_with_key(ports, content_key(memory.text))
    return next((fact for fact in facts if fact.id not in {memory.id, besides}), None)
