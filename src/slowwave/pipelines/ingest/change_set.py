"""Collects the operations that reconcile facts, and the state of each memory after them. It performs nothing."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from slowwave.model.codec import content_key
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import FACT_KINDS, HOT, UNRECONCILED, Memory, SourceRef
from slowwave.model.operations import Add, Change, Link, LinkKind, Operation, RejectFact, Suppress, Use
from slowwave.model.plan import OutcomeName
from slowwave.model.query import Where
from slowwave.pipelines.ingest.decisions import LIVE, Decision
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.planning import new_id, record_use, reschedule, transition
from slowwave.policy.guard.summary_support import omitted_words
from slowwave.policy.guard.trust import outranks
from slowwave.policy.retention.core import KNOWN, heard_again
from slowwave.policy.retention.merging import merged_fact, newer_date
from slowwave.policy.retention.policies import RESTORED, expiry
from slowwave.ports import Ports


def facts_with_key(ports: Ports, key: str, phases: Collection[str] = HOT) -> list[Memory]:
    """The facts of the scope in these phases that have a content key (`model.codec.content_key`), the hot ones first.

    Only hot facts have an index of their keys, so that they are read apart from the others.
    """
    hot = frozenset(phases) & frozenset(HOT)
    parts = [part for part in (hot, frozenset(phases) - hot) if part]
    wheres = [Where(kinds=frozenset(FACT_KINDS), phases=part, key=key) for part in parts]
    return [memory for where in wheres for memory in ports.store.select((ports.scope,), where)]


@dataclass(slots=True, kw_only=True)
class ChangeSet:
    """Planned operations, and the state of each memory after them.

    Attributes:
        ports: the store, the embedder and the settings.
        now: the instant of the plan.
        stored: ids of new facts that are in the store already, waiting for a mind; they are changed, not added.
        operations: the planned operations, in order.
        facts: the facts that are added or reworded, by id.
        states: each touched memory after the operations, by id.
        notes: what happened, for the receipt.
        problems: which proposals were not carried out, and why.
        waiting: how many facts still wait for a model.
        outcomes: what became of each new fact, and why, by its id.
    """

    ports: Ports
    now: datetime
    stored: Collection[str] = ()
    operations: list[Operation] = field(default_factory=list)
    facts: dict[str, Memory] = field(default_factory=dict)
    states: dict[str, Memory] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    waiting: int = 0
    outcomes: dict[str, tuple[OutcomeName, str]] = field(default_factory=dict)
    _successors: dict[str, str | None] = field(default_factory=dict)

    # ---- the planned state

    def current(self, memory: Memory) -> Memory | None:
        """The memory after the operations so far, or the one that replaced it; None if it was refused."""
        identity: str | None = memory.id
        while identity in self._successors:
            identity = self._successors[identity]
        return None if identity is None else self.states.get(identity, memory)

    def undecided(self, new: Memory) -> Memory | None:
        """A new fact after the operations so far; None if an earlier fact of the batch has replaced it."""
        current = self.states.get(new.id, new)
        return current if current.is_searchable and new.id not in self._successors else None

    def live_duplicate(self, new: Memory, key: str, stored: Mapping[str, Memory]) -> Memory | None:
        """The live memory with the same content key, in the store or earlier in this batch."""
        for memory in self.states.values():
            if memory.id != new.id and memory.phase in LIVE and content_key(memory.text) == key:
                return memory
        known = stored.get(key)
        current = self.states.get(known.id, known) if known is not None else None
        return current if current is not None and current.phase in LIVE else None

    def has_duplicate(self, text: str, *, besides: Collection[str]) -> bool:
        """Whether a hot fact with none of these ids says the same; a scope holds each content key once."""
        key = content_key(text)
        facts = {memory.id: memory for memory in facts_with_key(self.ports, key)} | self.states
        return any(
            memory.id not in besides and memory.is_searchable and content_key(memory.text) == key
            for memory in facts.values()
        )

    # ---- operations

    def carry_out(self, decision: Decision, new: Memory, known: Memory | None, entry: IndexEntry | None) -> Memory:
        """Plan what was decided about a new fact. Returns the memory that now holds it."""
        if decision.problem:
            self.problems.append(decision.problem)
        if known is not None:
            match decision.action:
                case "reinforce":
                    return self.reinforce(known, new, because=decision.because)
                case "merge":
                    return self.merge(known, new, decision.text, because=decision.because)
                case "supersede":
                    return self.supersede(known, new, entry, decision.text, because=decision.because)
                case "store":
                    pass
        stored = self.store(new, entry, because=decision.because)
        if known is not None and decision.link is not None:
            kind, because = decision.link
            self.link(stored, known, kind, because=because)
        return stored

    def store(self, new: Memory, entry: IndexEntry | None, *, because: str) -> Memory:
        """Add the fact, or remove the waiting flag from one that is in the store already."""
        self.outcomes[new.id] = ("ADD", because)
        if new.id in self.stored:
            current = self.states.get(new.id, new)
            decided = replace(new, flags=new.flags - {UNRECONCILED}, version=current.version)
            if decided == current:
                return current
            decided = reschedule(replace(decided, version=current.version + 1), self.ports.config)
            new_entry = entry if decided.text != current.text else None
            self._append(Change(before=current, after=decided, because=because, entry=new_entry), decided)
            return decided
        self._append(Add(memory=new, because=because, entry=entry), new)
        self.facts[new.id] = new
        return new

    def wait(self, new: Memory, entry: IndexEntry | None, *, because: str) -> None:
        """Store the fact with the waiting flag, until a mind can decide."""
        self.waiting += 1
        if new.id not in self.stored:
            flagged = replace(new, flags=new.flags | {UNRECONCILED})
            self.store(flagged, entry, because=f"{because}; waits for a model")

    def quarantine(self, new: Memory, entry: IndexEntry | None, why: str) -> None:
        """Store a fact for a person to review."""
        self.outcomes[new.id] = ("REVIEW", why)
        # without a schedule: core memory is read by the decay class alone, and would show what waits
        quarantined = reschedule(replace(new, phase="quarantined", reason=why), self.ports.config)
        self._append(Add(memory=quarantined, because=f"for review: {why}", entry=entry), quarantined)
        self.notes.append(f"kept for review ({why}): see `review`")

    def reinforce(self, known: Memory, new: Memory, *, because: str) -> Memory:
        """The new fact repeats a known one: its sources are added, and the known fact counts one use more.

        If the new fact is trusted less, it changes nothing; if it is trusted more, it replaces the known one.
        """
        current = self.states.get(known.id, known)
        self.outcomes[new.id] = ("NOOP", because)
        if outranks(current.trust, new.trust):
            self.notes.append(f"already known: {known.text!r}")
            if new.metadata:
                self.notes.append("its metadata was not added: the known fact comes from a source that is trusted more")
            self._merge_into(new, current, stored=new.id in self.stored, because=because)
            return current
        if outranks(new.trust, current.trust):
            return self._replace_less_trusted(current, new, new.text, because=because)
        sources, expires_at = _joined(current.sources, new.sources), self._extended_expiry(current, new)
        metadata = {**current.metadata, **new.metadata}
        since = newer_date(current, new, current.kind)
        heard = heard_again(current, new) if self._is_heard_again(current, new) else current
        repeated = replace(heard, sources=sources, expires_at=expires_at, metadata=metadata, valid_from=since)
        if not current.is_searchable:
            repeated = self._change(current, transition(repeated, "revive", self.ports.config), because=because)
        elif repeated != current:
            repeated = self._change(current, replace(repeated, version=current.version + 1), because=because)
        after = record_use(repeated, self.ports.config, self.now, session=None)
        self._append(Use(used_version=repeated, after=after, because=because), after)
        self.notes.append(f"already known: {known.text!r}")
        self._merge_into(new, after, stored=new.id in self.stored, because=because)
        return after

    def _is_heard_again(self, known: Memory, new: Memory) -> bool:
        """Whether the messages of a fact that was only heard so far are of another conversation than those of the known one."""
        if known.confidence >= KNOWN or not (known.sources and new.sources) or new.trust != "user":
            return False
        said = {source.memory for source in (*known.sources, *new.sources)}
        talk = {memory.id: memory.conversation for memory in self.ports.store.get((self.ports.scope,), said)}
        heard, again = ({talk.get(source.memory) for source in each.sources} for each in (known, new))
        return bool(again - heard - {None})

    def merge(self, known: Memory, new: Memory, text: str, *, because: str) -> Memory:
        """Make one memory of both, with this text and all sources.

        If both are in the store and the text is the new fact's, the new fact stays and the known one is merged into it.
        """
        current = self.states.get(known.id, known)
        if outranks(new.trust, current.trust):
            return self._replace_less_trusted(current, new, text, because=because)
        self.outcomes[new.id] = ("UPDATE", because)
        if not current.is_searchable:
            current = self._change(current, transition(current, "revive", self.ports.config), because=because)
        stored = new.id in self.stored
        if stored and text == new.text != current.text and current.phase == "active":
            current, new = new, current
        entry = self._entry(text) if text != current.text else None
        waits = {UNRECONCILED} if current.id in self.stored else set()
        # Sources that are trusted less are not added: the trust of a fact is the least of its sources'.
        trusts_new = not outranks(current.trust, new.trust)
        both = merged_fact(current, new, text)
        after = replace(
            both,
            kind=both.kind if trusts_new else current.kind,
            category=both.category if trusts_new else current.category,
            sources=_joined(current.sources, new.sources) if trusts_new else current.sources,
            metadata={**current.metadata, **new.metadata} if trusts_new else current.metadata,
            flags=current.flags - {RESTORED} - waits,
            version=current.version + 1,
        )
        after = reschedule(after, self.ports.config)
        # Before the change: a scope holds each content key once, at every step.
        self._merge_into(new, after, stored=stored, because=because)
        self._append(Change(before=current, after=after, because=because, entry=entry), after)
        if stored:
            self._add_uses(after, new, because=because)
        self.facts[after.id] = self.states[after.id]
        self.notes.append(f"merged into {current.text!r}")
        return self.states[after.id]

    def supersede(self, old: Memory, new: Memory, entry: IndexEntry | None, text: str, *, because: str) -> Memory:
        """The new fact replaces the old one, which stops being true when the new one begins.

        A wording with words of the old fact also rests on the messages of that one, unless these are trusted less.
        """
        if text != new.text:
            rests_on_both = bool(new.sources and omitted_words(new.text, text)) and not outranks(new.trust, old.trust)
            new, entry = self._reworded(new, text, because=because), self._entry(text)
            if rests_on_both:
                new = replace(new, sources=_joined(new.sources, old.sources))
        metadata = {**old.metadata, **new.metadata}
        stored = self.store(replace(new, pinned=new.pinned or old.pinned, metadata=metadata), entry, because=because)
        current = self.states.get(old.id, old)
        valid_to = max(current.valid_from, stored.valid_from)
        ended = transition(current, "replace", self.ports.config, superseded_by=stored.id, valid_to=valid_to)
        self._change(current, ended, because=because)
        self.outcomes[new.id] = ("UPDATE", f"replaced {old.text!r}")
        self.notes.append(f"replaced {old.text!r}")
        return stored

    def retract(self, old: Memory, new: Memory, *, because: str) -> None:
        """The old fact is no longer true; no fact replaces it."""
        ended = transition(old, "retract", self.ports.config, valid_to=max(old.valid_from, new.valid_from))
        self._change(old, ended, because=because)
        self.notes.append(f"retracted {old.text!r}")

    def link(self, source: Memory, target: Memory, kind: LinkKind, *, because: str) -> None:
        """Link two memories, unless a link of this kind joins them already."""
        ends = {source.id, target.id}
        linked = [{row.source, row.target} for row in self.ports.store.links(self.ports.scope, [source.id], [kind])]
        linked += [{new.source, new.target} for new in self.operations if isinstance(new, Link) and new.kind == kind]
        if ends in linked:
            return
        link = Link(source=source.id, target=target.id, kind=kind, weight=1.0, before=0.0, because=because, at=self.now)
        self.operations.append(link)
        self.notes.append(f"linked ({kind}) with {target.text!r}")

    def refuse(self, new: Memory, quote: str, reason: str, *, held: bool = False) -> None:
        """Journal a fact that is not stored, and why."""
        self.operations.append(RejectFact(text=new.text, quote=quote, reason=reason, because=reason, held=held))
        self.outcomes[new.id] = ("REFUSE", reason)
        self._successors[new.id] = None

    def unsuppress(self, keys: Iterable[str]) -> None:
        """Let content return that an undo suppressed: a person states it again."""
        self.operations += [Suppress(key=key, on=False, because="stated again") for key in sorted(keys)]

    # ---- steps of several operations

    def _replace_less_trusted(self, current: Memory, new: Memory, text: str, *, because: str) -> Memory:
        """Replace a known fact by the same fact from a more trusted source: the trust of a memory never rises."""
        entry = self._entry(text)
        if text != new.text:
            new = self._reworded(new, text, because=because)
        if current.phase == "core":
            current = self._change(current, transition(current, "demote", self.ports.config), because=because)
        merged = transition(current, "merge", self.ports.config, superseded_by=new.id)
        merged = self._change(current, replace(merged, flags=merged.flags - {UNRECONCILED}), because=because)
        self._successors[current.id] = new.id
        pinned, importance = new.pinned or current.pinned, max(new.importance, current.importance)
        metadata = {**current.metadata, **new.metadata}
        renewed = replace(new, pinned=pinned, importance=importance, metadata=metadata)
        stored = self.store(renewed, entry, because=because)
        self._add_uses(stored, merged, because=because)
        self.outcomes[new.id] = ("UPDATE", because)
        self.notes.append(f"it replaces {current.text!r}, whose source is trusted less")
        return self.states.get(stored.id, stored)

    def _merge_into(self, new: Memory, into: Memory, *, stored: bool, because: str) -> None:
        """Record that another memory holds the fact, and archive it if it is in the store."""
        self._successors[new.id] = into.id
        self.states.setdefault(into.id, into)  # also if it did not change: `current` answers from the states
        if stored:
            current = self.states.get(new.id, new)
            merged = transition(current, "merge", self.ports.config, superseded_by=into.id)
            self._change(current, replace(merged, flags=merged.flags - {UNRECONCILED}), because=because)
        else:
            self._keep_statement(new, into.id, because=because)

    def _reworded(self, new: Memory, text: str, *, because: str) -> Memory:
        """A new fact with another text. The id of the caller's stays with the words that were stated."""
        if new.ref is None or new.id in self.stored:
            return replace(new, text=text)
        self._keep_statement(new, new.id, because=because)
        return replace(new, text=text, ref=None)

    def _keep_statement(self, new: Memory, holder: str, *, because: str) -> None:
        """Store a fact with an id of the caller's as a duplicate of the memory that holds it now.

        The duplicate keeps the stated words, by which `add` recognises the same fact under this id later.
        """
        if new.ref is None or new.id in self.stored:
            return
        kept = replace(
            new,
            id=new_id(self.now),
            phase="superseded",
            reason="duplicate",
            superseded_by=holder,
            due_at=None,
            pace=None,
        )
        self._append(Add(memory=kept, because=because, entry=self._entry(kept.text)), kept)

    def _add_uses(self, kept: Memory, merged: Memory, *, because: str) -> None:
        """Add the uses of a merged memory to the one that replaces it."""
        if merged.accesses:
            after = replace(
                kept,
                accesses=kept.accesses + merged.accesses,
                sessions=kept.sessions + merged.sessions,
                stability=max(kept.stability, merged.stability),
                used_at=max(filter(None, (kept.used_at, merged.used_at)), default=None),
            )
            after = reschedule(after, self.ports.config)
            self._append(Use(used_version=kept, after=after, because=because), after)

    def _extended_expiry(self, known: Memory, new: Memory) -> datetime | None:
        """When a repeated fact expires: as if it were new, once less than half of a new one's time remains.

        An end that a person states with the repetition counts at once.
        """
        if (stated := _stated_expiry(known, new)) != known.expires_at:
            return stated
        config = self.ports.config
        extended, fresh = expiry(record_use(known, config, self.now, session=None), config), expiry(new, config)
        return fresh if fresh and extended and (extended - self.now) * 2 < fresh - self.now else known.expires_at

    def _entry(self, text: str) -> IndexEntry:
        (entry,), problems = entries(self.ports, [text])
        self.problems += problems
        return entry

    def _change(self, before: Memory, after: Memory, *, because: str) -> Memory:
        self._append(Change(before=before, after=after, because=because), after)
        return after

    def _append(self, operation: Operation, after: Memory) -> None:
        self.operations.append(operation)
        self.states[after.id] = after


def _stated_expiry(known: Memory, new: Memory) -> datetime | None:
    """When a known fact expires after it was said again: as stated now, if an end was stated or its former end had passed."""
    if known.expires_at is not None and known.expires_at <= new.valid_from:
        return new.expires_at
    return new.expires_at if new.expires_at is not None and not new.sources else known.expires_at


def _joined(first: tuple[SourceRef, ...], second: tuple[SourceRef, ...]) -> tuple[SourceRef, ...]:
    known = {source.memory for source in first}
    return (*first, *(source for source in second if source.memory not in known))
