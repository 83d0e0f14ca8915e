"""Decides which records of a file may be stored, and which of their claims are believed.

A file never raises its own trust; a person who imports it may vouch for it. An export is a text file that anyone can write:
records that the store cannot prove to be its own, and that no person confirms, are stored like those of any imported file.
Of other files a person may vouch for the words of user and assistant. Values that would break a later operation are always
refused.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from slowwave.errors import InputError
from slowwave.model.exchange import ExportedCursor, ExportedLink, ExportedMemory, SkippedItem
from slowwave.model.json_value import strings
from slowwave.model.memory import (
    COUNTERS,
    MESSAGE,
    NOTE,
    SUMMARY,
    UNRECONCILED,
    WORDS_OF_DATA,
    Memory,
    Trust,
    altered,
    misplaced_fields,
)
from slowwave.model.message import Message
from slowwave.model.mind import Fact
from slowwave.model.note import checked_place
from slowwave.model.operations import Change, Operation, Use
from slowwave.model.plain_text import check_place, clean
from slowwave.model.progress import DISTIL_CURSOR, RELEASED, UNREADABLE, is_offset_flag
from slowwave.model.query import Where
from slowwave.model.status import LinkRow
from slowwave.pipelines.admin.edit import STATED
from slowwave.pipelines.ingest.observe import AHEAD
from slowwave.pipelines.ingest.review import QUARANTINED, suspect
from slowwave.pipelines.planning import own_id, reschedule
from slowwave.policy.guard.trust import ORDER, VOUCHED_ROLES, least, outranks, relayed, trust_of_message
from slowwave.policy.retention.categories import unprotected
from slowwave.policy.retention.phases import REASONS
from slowwave.policy.retention.policies import RESTORED, initial_stability
from slowwave.ports import Ports

WordsTrust: TypeAlias = Literal["import", "user"]
"""How far the words of the user in a file are trusted: as any file, or as the user's own because a person vouches for them."""
IMPORT: Final = "import"
VOUCHED: Final = "a person vouched for the user's words in the file"
"""The reason in the journal."""
DEPTH_MOST: Final = 2
MEMBERS_MOST: Final = 1000
MISSING_MOST: Final = 1_000_000
"""Numbers that one conversation of an export may skip, because their messages were erased. A sleep pass walks over all
numbers of a conversation, so one message with a number of twelve digits would keep it busy for hours."""

_FLAGS: Final = frozenset({RESTORED, UNRECONCILED, STATED, RELEASED, AHEAD, WORDS_OF_DATA})
_HARMLESS_FLAGS: Final = frozenset({UNRECONCILED, AHEAD, WORDS_OF_DATA})
_REASONS: Final = frozenset(REASONS.values())
_LABELS: Final = ("category", "subject", "reason", "trust")
"""Words of one line, in every way in which a memory is stored."""
_NAMES: Final = ("conversation", "speaker", "ref", "last_session")
"""Names that a caller gives and that read back as they were given."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PLACE: Final = ("conversation", "ref")
"""The fields with the folder and the name of a note, which are kept exactly."""


def _stored_flags(flags: Collection[str]) -> frozenset[str]:
    """The flags of an export that are kept. What a mind could not read is due here as well."""
    kept = frozenset(flag for flag in flags if flag in _FLAGS or is_offset_flag(flag))
    return kept | {RELEASED} if UNREADABLE in flags else kept


def one_line(label: str) -> str:
    r"""A label without control characters and line breaks, each of which becomes U+FFFD.

    >>> one_line("garden\n- The user agreed")
    'garden\ufffd- The user agreed'
    """
    return _CONTROL.sub("\ufffd", label)


def named(link: LinkRow) -> LinkRow:
    """The link with the ids under which its ends are stored."""
    return replace(link, source=own_id(link.source), target=own_id(link.target), kind=one_line(link.kind))


def admitted(memory: Memory, scope: str) -> Memory:
    """A record as it may be stored in a scope if all its fields are believed.

    Raises:
        InputError: a field has a value that would break a later operation.
    """
    _check(memory)
    exact = _PLACE if memory.kind == NOTE else ()
    names = {
        name: clean(value) for name in _NAMES if name not in exact and (value := getattr(memory, name)) is not None
    }
    labels = {name: one_line(value) for name in _LABELS if (value := getattr(memory, name)) is not None}
    return altered(
        memory,
        **names,
        **labels,
        scope=scope,
        id=own_id(memory.id),
        members=tuple(map(own_id, memory.members)),
        superseded_by=memory.superseded_by and own_id(memory.superseded_by),
        sources=tuple(
            replace(source, memory=own_id(source.memory), ref=clean(source.ref)) for source in memory.sources
        ),
        flags=_stored_flags(memory.flags),
    )


def unproven(memory: Memory, now: datetime, ceiling: Trust = "user") -> Memory:
    """An admitted record as it is stored without proof, or through ports with a ceiling.

    Trust is at most "import" ("web" for what a tool said) and at most the ceiling. Pins, core memory, protected categories
    and uses are dropped. A record with a field that reads as an instruction waits for review.
    """
    trust = least((relayed(memory.trust if memory.trust in ORDER else ORDER[-1], IMPORT), ceiling))
    phase = "active" if memory.phase == "core" else memory.phase
    reason = memory.reason if memory.reason in _REASONS else None
    if phase == QUARANTINED:
        reason = "it was under review where it was exported"
    if why := _suspicion(memory, trust):
        phase, reason = QUARANTINED, why
    return altered(
        memory,
        trust=trust,
        phase=phase,
        reason=reason,
        category=unprotected(memory.category),
        recorded_at=min(memory.recorded_at, now),
        stability=initial_stability(memory.importance),
        pinned=False,
        accesses=0,
        sessions=0,
        used_at=None,
        last_session=None,
        flags=memory.flags & _HARMLESS_FLAGS,
        gist=None,
        version=1,
    )


def _check(memory: Memory) -> None:
    if memory.depth > DEPTH_MOST or len(memory.members) > MEMBERS_MOST:
        raise InputError(f"a summary of more than {DEPTH_MOST} levels or {MEMBERS_MOST:,} members")
    if memory.span is not None and not 1 <= memory.span[0] <= memory.span[1]:
        raise InputError(f"the span {memory.span} is not in order")
    if memory.kind == NOTE:
        checked_place(memory.conversation or "", memory.ref)
    if memory.kind == MESSAGE and memory.ref:
        check_place(memory.conversation or "", memory.ref, "a conversation and an id")
    for name in misplaced_fields(memory):
        raise InputError(f"the field {name}, which a {memory.kind} memory does not have")


def _suspicion(memory: Memory, trust: str) -> str | None:
    """Why a field of a record that a model may see reads as an instruction; None if none does."""
    names = (memory.category, memory.subject, memory.conversation, memory.speaker, *strings(memory.data))
    quotes = dict.fromkeys(source.quote for source in memory.sources if source.quote)
    return (
        suspect(memory.text, trust)
        or next(filter(None, (_name_suspicion(name, trust) for name in names if name)), None)
        or next(filter(None, (suspect(quote, trust) for quote in quotes)), None)
    )


@lru_cache(maxsize=1024)
def _name_suspicion(name: str, trust: str) -> str | None:
    """The same for a name, cached: most records of an export share their names, and the check is slow."""
    return suspect(name, trust)


@dataclass(slots=True, kw_only=True)
class Sifted:
    """A batch of records after the checks: new memories, changes that restore known ones, and refused records."""

    fresh: list[Memory] = field(default_factory=list)
    restored: list[Operation] = field(default_factory=list)
    refused: list[SkippedItem] = field(default_factory=list)
    known: int = 0


class Admission:
    """Checks the records of one import against the store and against those before them.

    Args:
        ports: the store and the settings.
        trust_export: a person confirms the file, so its records count as proven.
        trust: "user" if a person vouches for the words of user and assistant in a file that is no export. Ports with a
            ceiling cannot vouch.
        planned: in a dry run, the memories that earlier batches would have stored, by id.
    """

    def __init__(self, ports: Ports, *, trust_export: bool, trust: WordsTrust, planned: Mapping[str, Memory]) -> None:
        self._ports = ports
        self._trust_export = trust_export
        self._planned = planned
        self._ends: dict[str, int] = {}
        self._missing: dict[str, int] = {}
        self._new: set[str] = set()
        self.renumbered: set[str] = set()
        """Conversations whose messages have other numbers here than in the export."""
        self.unproven = 0
        """Records that were read and are not believed."""
        self.vouched = VOUCHED if trust == "user" and ports.ceiling == "user" else ""
        """The reason why the user's words are trusted as the user's own; "" if no person vouches for them."""

    def stated(self, fact: Fact) -> Fact:
        """A fact of a file as it is believed. Only one that is trusted as the user's keeps a protected category.

        What reads as an instruction to a model is not vouched for.
        """
        bar: Trust = "user" if self.vouched and not suspect(fact.text, IMPORT) else IMPORT
        trust = least((fact.trust, bar, self._ports.ceiling))
        return replace(fact, trust=trust, category=fact.category if trust == "user" else unprotected(fact.category))

    def vouches_for(self, memory: Memory) -> bool:
        """Whether an added memory has the trust "user" because a person vouches for the file."""
        return bool(self.vouched) and memory.trust == "user"

    def raised(self, name: str, messages: Iterable[Message]) -> list[Change]:
        """The changes that trust known messages of a conversation as a vouched file, if a person vouches for this one.

        These are messages of user and assistant that a file brought, with the same role, speaker and text. Those of the
        user are read for facts again: a fact from the user replaces the same fact from a file.
        """
        said = {one.id: (one.role, one.content, one.speaker) for one in messages if one.role in VOUCHED_ROLES}
        if not self.vouched or not said:
            return []
        found = self._ports.store.conversation(self._ports.scope, name)
        read = 0 if found is None else found.cursor(DISTIL_CURSOR)
        refs = frozenset(filter(None, said))
        where = Where(kinds=frozenset({MESSAGE}), trusts=frozenset({IMPORT}), conversation=name, refs=refs)
        return [
            Change(before=before, after=self._as_vouched(before, read), because=VOUCHED)
            for before in self._ports.store.select((self._ports.scope,), where)
            if (before.role, before.text, before.speaker) == said[before.ref] and before.phase != "retracted"
        ]

    def _as_vouched(self, message: Memory, read: int) -> Memory:
        """A message of a file as of a vouched one, under review if it was.

        `read` is the number of the last message of its conversation that was read for facts.
        """
        trust = trust_of_message(str(message.role), IMPORT, vouched=True)
        reads_again = trust == "user" and message.phase != QUARANTINED and message.seq <= read
        flags = message.flags | ({RELEASED} if reads_again else set())
        return replace(message, trust=trust, flags=flags, version=message.version + 1)

    def sift(self, kept: Sequence[ExportedMemory]) -> Sifted:
        """Check the records of a batch, in linear time in the records and their references."""
        sifted, now = Sifted(), self._ports.now()
        records: list[tuple[ExportedMemory, Memory]] = []
        for item in kept:
            try:
                records.append((item, admitted(item.memory, self._ports.scope)))
            except InputError as error:
                sifted.refused.append(SkippedItem(where=item.where, why=str(error)))
        here = self._here(records)
        for item, memory in records:
            believed = self._believes(item)
            if (before := here.get(memory.id)) is not None:
                if memory.kind == MESSAGE and memory.seq != before.seq:
                    self.renumbered.add(str(memory.conversation))
                changes = self._restoring(before, memory, now) if believed else []
                sifted.restored += changes
                sifted.known += not changes
            elif why := self._misfit(memory, here, believed=believed):
                sifted.refused.append(SkippedItem(where=item.where, why=why))
            else:
                claimed = unproven(memory, now, self._ports.ceiling)
                stored = memory if believed else _with_stored_sources(claimed, here)
                here[stored.id] = stored
                sifted.fresh.append(stored)
        return sifted

    def _believes(self, item: ExportedMemory | ExportedLink | ExportedCursor) -> bool:
        believed = self._ports.ceiling == "user" and (item.proven or self._trust_export)
        self.unproven += not believed
        return believed

    def _here(self, records: Iterable[tuple[ExportedMemory, Memory]]) -> dict[str, Memory]:
        """The stored memories that these records are or refer to, by id."""
        ids: dict[str, None] = {}
        for item, memory in records:
            ids |= dict.fromkeys((memory.id, *memory.members))
            if memory.sources and not (item.proven or self._trust_export):
                ids |= dict.fromkeys(source.memory for source in memory.sources)
        return self.stored(ids)

    def stored(self, ids: Collection[str]) -> dict[str, Memory]:
        """The memories of these ids that are stored, or would be in a dry run."""
        found = {memory.id: memory for memory in self._ports.store.get((self._ports.scope,), ids)}
        return found | {one: self._planned[one] for one in ids if one in self._planned}

    def _misfit(self, memory: Memory, here: Mapping[str, Memory], *, believed: bool) -> str | None:
        """Why a summary does not fit what is stored, or None.

        Members must be stored before their summary and lie at a lower depth, so they can never form a cycle.
        """
        members = [here[one] for one in memory.members if one in here]
        if len(members) < len(memory.members):
            return "a summary of members that are not stored before it"
        if any(member.depth >= memory.depth for member in members):
            return "a summary of members that are not at a lower depth"
        if not believed and any(outranks(member.trust, IMPORT) for member in members):
            return "a summary without proof of memories that are trusted further"
        if memory.span is None:
            return None
        name = str(memory.conversation)
        end = self._end(name)
        if name in self.renumbered or memory.kind != SUMMARY or memory.span[1] > end:
            return "a summary of messages that are not here under the same numbers"
        return (
            None if believed or name in self._new else "a summary without proof of a conversation that was here before"
        )

    def _end(self, name: str) -> int:
        """The last number of a conversation, with the messages of this import."""
        if name not in self._ends:
            found = self._ports.store.conversation(self._ports.scope, name)
            if found is None:
                self._new.add(name)
            self._ends[name] = 0 if found is None else found.last_seq
        return self._ends[name]

    def numbered(self, messages: list[Memory]) -> list[Memory]:
        """The messages of one conversation with their numbers, or without, so that the store assigns them.

        They lose their numbers if those are taken, are not in order, or skip more than an erase can explain.
        """
        name = str(messages[0].conversation)
        end, numbers = self._end(name), [message.seq for message in messages]
        skipped = self._missing.get(name, 0) + numbers[-1] - end - len(numbers)
        if skipped > MISSING_MOST or any(message >= other for message, other in pairwise((end, *numbers))):
            self.renumbered.add(name)
        if name in self.renumbered:
            self._ends[name] = end + len(messages)
            return [replace(message, seq=0) for message in messages]
        self._ends[name], self._missing[name] = numbers[-1], skipped
        return messages

    def joins(self, item: ExportedLink, link: LinkRow, here: Mapping[str, Memory]) -> bool:
        """Whether a link may be stored: both ends are stored, and if it is unproven, neither is trusted more than an import."""
        believed = self._believes(item)
        ends = [here[end] for end in (link.source, link.target) if end in here]
        if len(ends) < 2:  # noqa: PLR2004 - a link has two ends
            return False
        return believed or not any(outranks(end.trust, IMPORT) for end in ends)

    def advances(self, item: ExportedCursor, name: str) -> bool:
        """Whether a cursor may move: if it is unproven, only in a conversation that this import created."""
        believed = self._believes(item)
        return name not in self.renumbered and (believed or name in self._new)

    def _restoring(self, before: Memory, memory: Memory, now: datetime) -> list[Operation]:
        """The changes that restore a memory that an earlier import stored as unproven.

        Empty if it was changed since, or if there is nothing to restore.
        """
        claimed = unproven(memory, now)
        if any(
            getattr(before, name) != getattr(claimed, name) for name in ("version", "kind", "text", "trust", "role")
        ):
            return []
        target = altered(memory, seq=before.seq, gist=None, version=before.version + 1)
        if target.kind != MESSAGE:
            target = reschedule(target, self._ports.config)
        counters = {name: getattr(before, name) for name in COUNTERS}
        changed = altered(target, **counters)
        if altered(changed, version=before.version, due_at=before.due_at, pace=before.pace) == before:
            return []
        because = "the export is trusted now"
        uses = [Use(used_version=changed, after=target, because=because)] if target != changed else []
        return [Change(before=before, after=changed, because=because), *uses]


def _with_stored_sources(memory: Memory, here: Mapping[str, Memory]) -> Memory:
    """An unproven record with those of its sources that are stored and trusted no more than an import."""
    if not memory.sources:
        return memory
    kept = (
        source for source in memory.sources if source.memory in here and not outranks(here[source.memory].trust, IMPORT)
    )
    return altered(memory, sources=tuple(dict.fromkeys(kept)))
