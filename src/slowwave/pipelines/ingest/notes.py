"""Stores, reads and removes notes: texts and data under a name, which nothing merges, rewords or fades."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from slowwave.errors import InputError, NotFoundError, VersionError
from slowwave.model.codec import dumps
from slowwave.model.filters import checked_filter
from slowwave.model.json_value import checked_json, checked_metadata, strings
from slowwave.model.memory import HOT, NOTE, WORDS_OF_DATA, Memory, Trust, altered
from slowwave.model.names import checked_count, checked_id, optional_count
from slowwave.model.note import (
    Note,
    checked_folder,
    checked_note_text,
    checked_place,
    has_expired,
    note_of,
)
from slowwave.model.operations import Add, Change, Operation
from slowwave.model.plan import BATCH_MAX, Plan, Receipt
from slowwave.model.query import Where
from slowwave.model.zone import local
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.review import QUARANTINED, suspect
from slowwave.pipelines.ingest.tombstones import note_tombstone
from slowwave.pipelines.planning import (
    apply_with_retry,
    check_may_change,
    new_id,
    reschedule,
    single_group_plan,
    transition,
    with_notes,
)
from slowwave.policy.guard.trust import least
from slowwave.ports import Ports

WORDS_LONGEST: Final = 100_000
"""Characters of the text that is made from the data of a note."""
CAUSE: Final = "note"
Place = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteListing:
    """A request for notes; `AgentMemory.notes` explains each field."""

    folder: str = ""
    below: bool = False
    where: object = None
    after: str | None = None
    offset: int = 0
    limit: int | None = None


def put_notes(
    ports: Ports,
    notes: Iterable[Note],
    *,
    remove: Iterable[Note] = (),
    trust: Trust = "user",
    cause: str = CAUSE,
    if_version: int | None = None,
    if_unchanged: bool = False,
    parent: str | None = None,
    keep_times: bool = False,
) -> Receipt:
    """Write and remove notes in one transaction. A note with the content that is stored changes nothing.

    A note of a known name is changed in place, so that its history continues. One that has expired is archived. A text
    that reads as an instruction and is not from the user is stored for review; the present note of its name stays.

    Args:
        ports: the store, the embedder and the settings.
        notes: those to write.
        remove: those to retract, of which only folder and name count; the names that no note has are skipped.
        trust: who states the notes; at most `ports.ceiling` counts.
        cause: the cause of the run.
        if_version: the version that each present note must have, 0 if there must be none; None: any.
        if_unchanged: each present note must have the `version` of the one in `notes` or `remove`.
        parent: the run that this run is a part of.
        keep_times: the content of a note is as old as its `updated_at`; False: it is from now.

    Raises:
        VersionError: a present note has another version; nothing is stored.
        InputError: a note is invalid, a name occurs twice, or there are more than 10,000; nothing is stored.
        TrustError: a present note is trusted more than these ports; nothing is stored.
    """
    trust = least((trust, ports.ceiling))
    given, removed = [_note(note) for note in notes], [_note(note) for note in remove]
    wanted, gone = _places(ports, given, removed, ports.now(), keep_times=keep_times)
    expected = [note.version if if_unchanged else if_version for note in (*given, *removed)]
    made, problems = entries(ports, [_words(note) for note in wanted.values()])
    prepared, skipped = dict(zip(wanted, made, strict=True)), 0

    def plan() -> Plan:
        nonlocal skipped
        now, current = ports.now(), _current(ports, [*wanted, *gone])
        for present in current.values():
            check_may_change(ports, present)
        _check_versions(current, dict(zip((*wanted, *gone), expected, strict=True)), now)
        operations = [
            replace(operation, entry=prepared[place]) if _has_new_words(operation) else operation
            for place, note in wanted.items()
            for operation in _writing(ports, note, current.get(place), now, trust)
        ]
        known = [memory for place in gone if (memory := current.get(place)) is not None]
        operations += [_removal(ports, memory, now) for memory in known]
        skipped = len(gone) - len(known)
        because = f"a note {_shown(*[*wanted, *gone][0])}" if len(operations) == 1 else f"{len(operations)} notes"
        return replace(single_group_plan(ports, cause, operations, because, now=now), parent=parent)

    receipt = apply_with_retry(ports, plan)
    missing = (f"{skipped} of the names to remove have no note",) if skipped else ()
    return with_notes(receipt, notes=(*missing, *_for_review(receipt)), problems=problems)


def planned(ports: Ports, notes: Sequence[Note], *, trust: Trust, keep_times: bool) -> list[Memory]:
    """The memories that `put_notes` would store of these notes. Nothing is stored."""
    wanted, _ = _places(ports, notes, (), ports.now(), keep_times=keep_times)
    current, now = _current(ports, [*wanted]), ports.now()
    found: list[Memory] = []
    for place, note in wanted.items():
        for operation in _writing(ports, note, current.get(place), now, least((trust, ports.ceiling))):
            after = operation.memory if isinstance(operation, Add) else operation.after
            found += [after] if after.phase in {"active", QUARANTINED} else []
    return found


def _places(
    ports: Ports, given: Sequence[Note], removed: Sequence[Note], now: datetime, *, keep_times: bool
) -> tuple[dict[Place, Note], list[Place]]:
    """The checked notes to write by place, and the places of those to remove, or InputError."""
    wanted = {
        checked_place(note.folder, note.name): _checked(ports, note, now, keep_times=keep_times) for note in given
    }
    gone = [checked_place(note.folder, note.name) for note in removed]
    number = len(given) + len(gone)
    if len({*wanted, *gone}) < number:
        raise InputError("a batch of notes has the same folder and name twice: pass each note once")
    if number > BATCH_MAX // 2:  # a note that has expired takes two operations
        raise InputError(f"{number:,} notes in one batch, more than {BATCH_MAX // 2:,}: store them in parts")
    return wanted, gone


def _check_versions(current: Mapping[Place, Memory], versions: Mapping[Place, int | None], now: datetime) -> None:
    """Raise VersionError if a present note has another version. One that has expired counts as none. None: any version."""
    for (folder, name), wanted in versions.items():
        memory = current.get((folder, name))
        present = 0 if memory is None or has_expired(memory, now) else memory.version
        if wanted is not None and present != wanted:
            raise VersionError(
                f"the note {_shown(folder, name)} has version {present}, not {wanted}: read it again before you change it"
            )


def erased_keys(note: Note) -> tuple[str, ...]:
    """The keys that were suppressed if a note with this content was erased."""
    return (note_tombstone(note.folder, note.name, _words(note)),)


def remove_note(ports: Ports, name: str, folder: str = "", *, if_version: int | None = None) -> Receipt:
    """Retract a note. `undo` of the run brings it back.

    Raises:
        NotFoundError: there is no such note, or it has expired.
    """
    place = checked_place(folder, name)
    if (memory := _current(ports, [place]).get(place)) is None or has_expired(memory, ports.now()):
        raise _unknown(ports, place)
    return put_notes(ports, (), remove=[note_of(memory)], if_version=if_version)


def read_note(ports: Ports, name: str, folder: str = "") -> Note | None:
    """The present note of a name, of the own scope or else of the nearest scope above; None if there is none."""
    folder, name = checked_place(folder, name)
    where = Where(kinds=frozenset({NOTE}), phases=frozenset(HOT), conversation=folder, ref=name)
    now = ports.now()
    found = (memory for memory in ports.store.select(ports.scopes, where) if not has_expired(memory, now))
    return next(map(note_of, found), None)


def list_notes(ports: Ports, request: NoteListing) -> list[Note]:
    """The present notes of a folder, ordered by folder and name.

    Raises:
        InputError: the filter is invalid.
        NotFoundError: `after` is not a note of this scope.
    """
    where = replace(
        _listed(ports, checked_folder(request.folder), request.where),
        after_name=_place_of(ports, request.after),
        offset=checked_count(request.offset, "offset"),
        limit=optional_count(request.limit, "limit"),
        order="name",
    )
    if not request.below:
        where = replace(where, conversation=where.below, below=None)
    return [note_of(memory) for memory in ports.store.select((ports.scope,), where)]


def list_folders(
    ports: Ports, folder: str = "", *, where: object = None, after: str | None = None, limit: int | None = None
) -> list[str]:
    """This folder and those below it that have present notes, in code point order.

    Raises:
        InputError: the filter or another argument is invalid.
    """
    found = replace(
        _listed(ports, checked_folder(folder), where),
        after_name=None if after is None else (checked_folder(after), ""),
        limit=optional_count(limit, "limit"),
    )
    return ports.store.folders(ports.scope, found)


def _listed(ports: Ports, folder: str, where: object) -> Where:
    """The present notes in a folder and below it."""
    passes = checked_filter(where)
    return Where(
        kinds=frozenset({NOTE}),
        phases=frozenset(HOT),
        below=folder,
        passes=passes,
        with_metadata=passes is not None and not passes.passes_without_metadata,
        current_at=ports.now(),
    )


def _place_of(ports: Ports, note_id: str | None) -> Place | None:
    """Folder and name of the note that the previous page ended with."""
    if note_id is None:
        return None
    found = ports.store.get((ports.scope,), [checked_id(note_id, "after")])
    if not found or found[0].kind != NOTE:
        raise NotFoundError(
            f"no note {note_id!r} in scope {ports.scope}: pass the id of the last note of the page before"
        )
    return _place(found[0])


def _place(memory: Memory) -> Place:
    return memory.conversation or "", memory.ref or ""


def _current(ports: Ports, places: Sequence[Place]) -> dict[Place, Memory]:
    """The current notes of these names in the own scope, one read for each folder; they may have expired."""
    names: dict[str, set[str]] = {}
    for folder, name in places:
        names.setdefault(folder, set()).add(name)
    found: dict[Place, Memory] = {}
    for folder, some in names.items():
        where = Where(kinds=frozenset({NOTE}), phases=frozenset(HOT), conversation=folder, refs=frozenset(some))
        found |= {_place(memory): memory for memory in ports.store.select((ports.scope,), where)}
    return found


def _note(note: object) -> Note:
    if not isinstance(note, Note):
        raise InputError(f"a {type(note).__name__} is not a note: pass slowwave.Note(name=..., text=...)")
    return note


def _checked(ports: Ports, note: Note, now: datetime, *, keep_times: bool) -> Note:
    expires_at = ports.time(note.expires_at, "expires_at") if note.expires_at is not None else None
    if expires_at is not None and expires_at <= now:
        raise InputError(f"expires_at {expires_at.isoformat()} has passed: use a later time, or None")
    folder, name = checked_place(note.folder, note.name)
    return Note(
        name=name,
        folder=folder,
        text=checked_note_text(note.text),
        data=checked_json(note.data, "data", exact=True),
        metadata=checked_metadata(note.metadata),
        expires_at=expires_at,
        updated_at=note.updated_at and min(ports.time(note.updated_at, "updated_at"), now) if keep_times else None,
    )


def _words(note: Note) -> str:
    """The text to search: its own, else the texts of its data, else its name."""
    return note.text or "\n".join(filter(str.strip, strings(note.data)))[:WORDS_LONGEST] or note.name


def _writing(ports: Ports, note: Note, before: Memory | None, now: datetime, trust: Trust) -> Iterator[Add | Change]:
    """The operations that write one note."""
    words = _words(note)
    why = suspect("\n".join((note.name, words, *strings(note.data))), trust)
    made = Memory(
        id=new_id(now),
        scope=ports.scope,
        kind=NOTE,
        text=words,
        category=NOTE,
        recorded_at=now,
        valid_from=note.updated_at or local(now, ports.zone),
        conversation=note.folder,
        ref=note.name,
        trust=trust,
        phase=QUARANTINED if why else "active",
        reason=why,
        expires_at=note.expires_at,
        flags=frozenset() if note.text else frozenset({WORDS_OF_DATA}),
        metadata=note.metadata,
        data=note.data,
    )
    if why is None and before is not None and not has_expired(before, now):
        if _content(before) == _content(made):
            return
        after = altered(made, id=before.id, recorded_at=before.recorded_at, version=before.version + 1, **_uses(before))
        yield Change(before=before, after=reschedule(after, ports.config), because="written again")
        return
    if why is None and before is not None:
        expired = transition(before, "expire", ports.config)
        yield Change(before=before, after=expired, because="expired, and a new note takes its name")
    yield Add(
        memory=made if why else reschedule(made, ports.config), because=f"for review: {why}" if why else "written"
    )


def _uses(memory: Memory) -> Mapping[str, object]:
    """The fields that count uses: writing a note changes none of them."""
    names = ("accesses", "sessions", "used_at", "last_session", "stability", "pinned")
    return {name: getattr(memory, name) for name in names}


def _content(memory: Memory) -> tuple[object, ...]:
    """What a writer sets; 1, 1.0 and true are three values."""
    values = (_canonical(memory.data), _canonical(memory.metadata))
    return (memory.text, memory.flags & {WORDS_OF_DATA}, memory.expires_at, memory.trust, *values)


def _canonical(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{dumps(name)}:{_canonical(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return dumps(value)


def _has_new_words(operation: Operation) -> bool:
    match operation:
        case Add():
            return True
        case Change(before=before, after=after):
            return before.text != after.text
        case _:
            return False


def _removal(ports: Ports, memory: Memory, now: datetime) -> Change:
    ended = transition(memory, "retract", ports.config, valid_to=max(now, memory.valid_from))
    return Change(before=memory, after=ended, because="removed")


def _for_review(receipt: Receipt) -> tuple[str, ...]:
    kept = [
        operation
        for operation in receipt.applied
        if isinstance(operation, Add) and operation.memory.phase == QUARANTINED
    ]
    return tuple(f"kept for review ({operation.memory.reason}): see `review`" for operation in kept)


def _shown(folder: str, name: str) -> str:
    return repr(f"{folder}/{name}" if folder else name)


def _unknown(ports: Ports, place: Place) -> NotFoundError:
    return NotFoundError(f"no note {_shown(*place)} in scope {ports.scope}: `notes` lists those of a folder")
