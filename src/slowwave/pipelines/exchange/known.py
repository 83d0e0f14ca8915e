"""Decides which facts and notes of a file are known.

Of notes, new and newer ones are stored, and the lines that the stored note lacks are added to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from slowwave.model.codec import content_key
from slowwave.model.exchange import ImportedNote, SkippedItem
from slowwave.model.json_value import same_json
from slowwave.model.memory import HOT, NOTE, Memory, Trust
from slowwave.model.mind import Fact
from slowwave.model.note import Note, has_expired, note_of
from slowwave.model.query import Where
from slowwave.pipelines.ingest.change_set import facts_with_key
from slowwave.pipelines.ingest.review import QUARANTINED
from slowwave.policy.guard.trust import least, outranks
from slowwave.ports import Ports

TAKEN: Final = "a note of this name is here with other content"
TRUSTED: Final = "a note of this name is here that is trusted further"
EXPIRED: Final = "it has expired"
REMOVED: Final = "it was removed earlier: `runs` lists the run that did it, and an `undo` of that run restores it"
_RETRACTED: Final = "retracted"
_PHASES: Final = frozenset({*HOT, _RETRACTED, QUARANTINED})
_FACT_PHASES: Final = frozenset({*HOT, "cold", QUARANTINED})

Place = tuple[str, str]


@dataclass(slots=True)
class Chosen:
    """The notes of a batch to store by folder and name, the number of known ones, and the skipped ones."""

    notes: dict[Place, Note] = field(default_factory=dict)
    known: int = 0
    skipped: list[SkippedItem] = field(default_factory=list)


def choose(ports: Ports, items: Sequence[ImportedNote], planned: Mapping[Place, Sequence[Memory]]) -> Chosen:
    """Compare the notes of a batch with the stored ones of their names. It writes nothing.

    In a dry run, `planned` has the notes that earlier batches would have stored.
    """
    chosen, now, stored = Chosen(), ports.now(), _stored(ports, items)
    for item in items:
        place = (item.note.folder, item.note.name)
        same_place = [*planned.get(place, ()), *stored.get(place, ())]
        outcome = (
            _beside(item, chosen.notes[place])
            if place in chosen.notes
            else _outcome(item, same_place, now, ceiling=ports.ceiling)
        )
        if isinstance(outcome, Note):
            chosen.notes[place] = outcome
        elif outcome is None:
            chosen.known += 1
        else:
            chosen.skipped.append(SkippedItem(where=item.where, why=outcome))
    return chosen


def is_known(ports: Ports, fact: Fact) -> bool:
    """Whether a fact of a file is stored with its metadata, its end, its trust or more, and the same or a later time.

    Archived facts count too.

    Importing a file again is no use of a fact: it neither slows fading nor brings archived facts back.
    """
    return any(
        (fact.valid_from is None or fact.valid_from <= memory.valid_from)
        and (fact.expires_at is None or fact.expires_at == memory.expires_at)
        and fact.metadata.items() <= memory.metadata.items()
        and not outranks(fact.trust, memory.trust)
        for memory in facts_with_key(ports, content_key(fact.text), _FACT_PHASES)
    )


def _stored(ports: Ports, items: Sequence[ImportedNote]) -> dict[Place, list[Memory]]:
    """The stored notes of these names, one read for each folder."""
    names: dict[str, set[str]] = {}
    for item in items:
        names.setdefault(item.note.folder, set()).add(item.note.name)
    found: dict[Place, list[Memory]] = {}
    for folder, some in names.items():
        where = Where(kinds=frozenset({NOTE}), phases=_PHASES, conversation=folder, refs=frozenset(some))
        for memory in ports.store.select((ports.scope,), where):
            found.setdefault((folder, memory.ref or ""), []).append(memory)
    return found


def _outcome(item: ImportedNote, stored: Sequence[Memory], now: datetime, *, ceiling: Trust) -> Note | str | None:
    """The note to store, the reason to skip it, or None if it is known."""
    if item.note.expires_at is not None and item.note.expires_at <= now:
        return EXPIRED
    present = next((memory for memory in stored if memory.phase in HOT and not has_expired(memory, now)), None)
    if present is None:
        same = {memory.phase for memory in stored if _holds(note_of(memory), item)}
        return None if QUARANTINED in same else REMOVED if _RETRACTED in same else item.note
    outcome = _beyond(item, present, ceiling)
    waits = (note_of(memory) for memory in stored if memory.phase == QUARANTINED)
    return None if isinstance(outcome, Note) and any(_is_same(note, outcome) for note in waits) else outcome


def _beyond(item: ImportedNote, present: Memory, ceiling: Trust) -> Note | str | None:
    """The same where a note of this name is present."""
    known = note_of(present)
    if _is_same(known, item.note):
        return None
    if item.lines is not None:
        merged = _with_lines(known, item.note, item.lines)
        if merged is None or merged is known:
            return TAKEN if merged is None else None
        return TRUSTED if present.trust == "user" or outranks(present.trust, ceiling) else merged
    if item.note.updated_at is None or item.note.updated_at <= present.valid_from:
        return TAKEN
    return TRUSTED if outranks(present.trust, least(("import", ceiling))) else item.note


def _beside(item: ImportedNote, earlier: Note) -> Note | str | None:
    """The same for a note whose name occurred in the batch before."""
    if _is_same(earlier, item.note):
        return None
    merged = None if item.lines is None else _with_lines(earlier, item.note, item.lines)
    return TAKEN if merged is None else None if merged is earlier else merged


def _with_lines(known: Note, note: Note, lines: str) -> Note | None:
    """A note with the lines of another that it lacks, itself if it lacks none, or None if it has no such lines."""
    data = known.data
    before = data.get(lines) if isinstance(data, dict) else None
    given = note.data.get(lines) if isinstance(note.data, dict) else None
    if not isinstance(data, dict) or not isinstance(before, list) or not isinstance(given, list):
        return None
    new = [line for line in given if line not in before]
    text = "\n".join([known.text, *map(str, new)])
    return replace(known, text=text, data={**data, lines: [*before, *new]}) if new else known


def _holds(note: Note, item: ImportedNote) -> bool:
    """Whether a note has the content of another, or all its lines."""
    return _is_same(note, item.note) or (item.lines is not None and _with_lines(note, item.note, item.lines) is note)


def _is_same(one: Note, other: Note) -> bool:
    """Whether two notes have the same content."""
    return (
        one.text == other.text
        and one.expires_at == other.expires_at
        and same_json(one.data, other.data)
        and same_json(one.metadata, other.metadata)
    )
