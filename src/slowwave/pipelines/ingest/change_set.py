"""A draft of changes to facts: what a mind's verdicts come to, checked, as operations. It performs nothing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slowwave.model.codec import content_key
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import FACT_KINDS, HOT, SUMMARY, UNRECONCILED, Memory, SourceRef
from slowwave.model.message import clean
from slowwave.model.mind import Candidate, Verdict
from slowwave.model.operations import Add, Change, Link, Operation, RejectFact, Suppress, Use
from slowwave.model.query import Where
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.planning import record_use, reschedule, transition
from slowwave.policy.comparison.negation import contradicts
from slowwave.policy.guard.grounding import invented_details, missing_details
from slowwave.policy.guard.summary_support import omitted_words, unsupported_rewording
from slowwave.policy.guard.trust import outranks
from slowwave.policy.retention.policies import RESTORED, expiry
from slowwave.ports import Ports

WAITS = UNRECONCILED

LIVE = frozenset({"active", "core", "cold"})
"""The phases in which a fact counts as known."""

_LINKS = frozenset({"close", "value changed?", "conflict?", "unsure"})


@dataclass(slots=True, kw_only=True)
class ChangeSet:
    """Operations in the making, and how the memories they touch will stand after them.

    Args:
        ports: everything to work with.
        now: the instant of the plan.
        stated: whether a person states the facts.
        in_store: ids of facts that already stand in the store, waiting; a verdict replaces them in place.
    """

    ports: Ports
    now: datetime
    stated: bool
    in_store: Collection[str] = ()
    operations: list[Operation] = field(default_factory=list)
    facts: dict[str, Memory] = field(default_factory=dict)
    standing: dict[str, Memory] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    waiting: int = 0
    _became: dict[str, str | None] = field(default_factory=dict)

    def judge(
        self,
        new: Memory,
        entry: IndexEntry | None,
        verdicts: Sequence[Verdict],
        candidates: Sequence[Candidate],
        because: str,
    ) -> None:
        """Carry out what a mind says of one new fact. Without a verdict the fact is stored and waits."""
        if not verdicts:
            self.wait(new, entry, because=because)
            return
        targets = {
            one.number: found for one in candidates if (found := self.resolved(one.memory)) and found.id != new.id
        }
        fixed = {candidate.number for candidate in candidates if candidate.fixed}
        main = next((v for v in verdicts if v.op != "DELETE"), None)
        ended = [v for v in verdicts if v.op == "DELETE" and v.memory in targets]
        target = targets.get(main.memory) if main and main.memory is not None else None
        if main is None or target is None or main.op == "ADD":
            kept = self.place(new, entry, because=_why(main, because))
        elif (
            not target.is_searchable
            or (main.memory in fixed and main.op != "NOOP")
            or self._from_below(main, new, target)
        ):
            kept = self.place(new, entry, because=because)
            self.link(
                kept, target, "conflict?" if main.op == "UPDATE" else "close", because=_why(main, "it may not change")
            )
        elif main.op == "NOOP" and (lost := _unsaid(target, new)):
            self.problems.append(f"kept {new.text!r} beside {target.text!r}, which does not say {_names(lost)}")
            kept = self.place(new, entry, because=because)
            self.link(kept, target, "close", because=_why(main, "close, but each says more"))
        elif main.op == "NOOP":
            kept = self.reinforce(target, new, because=_why(main, "already known") + _stated(new, target.text))
        elif main.op == "UPDATE":
            kept = self._update(new, entry, main, target, because)
        else:
            kept = self.place(new, entry, because=because)
            self.link(kept, target, main.relation if main.relation in _LINKS else "close", because=_why(main, "close"))
        for verdict in ended:
            old = self.resolved(targets[verdict.memory]) if verdict.memory is not None else None
            if old is None or old.id == kept.id or not old.is_searchable:
                continue
            if verdict.memory in fixed or self._words_of_a_person(old) or outranks(old.trust, new.trust):
                self.link(kept, old, "conflict?", because=_why(verdict, "it may not change"))
            else:
                self.retract(old, kept, because=_why(verdict, "no longer true"))

    def _from_below(self, verdict: Verdict, new: Memory, old: Memory) -> bool:
        """Whether a source would reword or end what comes from one that is believed further."""
        return verdict.op == "UPDATE" and outranks(old.trust, new.trust)

    def undecided(self, new: Memory) -> Memory | None:
        """A new fact as it stands by now; None if an earlier one of the batch has taken its place."""
        current = self.standing.get(new.id, new)
        return current if current.is_searchable and new.id not in self._became else None

    def _update(self, new: Memory, entry: IndexEntry | None, verdict: Verdict, target: Memory, because: str) -> Memory:
        text = clean(verdict.text or "").strip() or new.text
        if verdict.relation == "contradictory":
            if trouble := self._unfit(text, new, target):
                self.problems.append(f"kept the words as they were said: {trouble}")
                text = new.text
            return self.supersede(target, new, entry, text, because=_why(verdict, "it changed") + _stated(new, text))
        both = [new, target]
        # Where the mind's words cannot stand, the ones it found to say everything do; of two that each say more, none.
        whole = {"subsumes": new.text, "subsumed": target.text}.get(verdict.relation, text)
        wordings = dict.fromkeys((text, whole))
        if self._words_of_a_person(target):
            wordings = {words: None for words in wordings if words == target.text or new.id in self.in_store}
        for wording in wordings:
            if not self._unmerged(wording, new, target) and not self._said_elsewhere(wording, both):
                because = _why(verdict, "the same fact, more fully") + _stated(new, wording)
                return self.merge(target, new, wording, because=because)
        self.problems.append(f"did not merge {new.text!r} into {target.text!r}: words, names or numbers would be lost")
        kept = self.place(new, entry, because=because)
        self.link(kept, target, "close", because=_why(verdict, "close, but each says more"))
        return kept

    def _unfit(self, text: str, new: Memory, target: Memory) -> str | None:
        """Why these words may not stand for a new fact that replaces a known one."""
        if text == new.text:
            return None
        if invented := invented_details(text, [new, target]):
            return f"{_names(invented)} stands in neither memory"
        if lost := (*missing_details(text, [new]), *(omitted_words(text, new.text) if _by_hand(new) else ())):
            return f"{_names(lost)} would be lost"
        if untrue := unsupported_rewording(text, new, target):
            return untrue
        if content_key(text) == content_key(target.text) or self._said_elsewhere(text, [new, target]):
            return "another memory says just that"
        return None

    @staticmethod
    def _unmerged(text: str, new: Memory, target: Memory) -> bool:
        """Whether words may not stand for two facts: they lose or add something, or turn one of them round."""
        both = [new, target]
        if (
            missing_details(text, both)
            or invented_details(text, both)
            or (text != new.text and _by_hand(new) and omitted_words(text, new.text))
        ):
            return True
        if text in {new.text, target.text}:
            return False
        return bool(
            (_by_hand(target) and omitted_words(text, target.text))
            or unsupported_rewording(text, new, target)
            or contradicts(text, [target.text], [new.text])
        )

    def _words_of_a_person(self, memory: Memory) -> bool:
        """Whether a person stated it, and no person is at work now: then no mind rewords or retracts it."""
        return not self.stated and _by_hand(memory)

    def _said_elsewhere(self, text: str, but: Sequence[Memory]) -> bool:
        """Whether a live fact besides these has the same words; a scope holds them once."""
        key, mine = content_key(text), {memory.id for memory in but}
        where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), key=key)
        stored = {memory.id: memory for memory in self.ports.store.select((self.ports.scope,), where)}
        return any(
            memory.id not in mine and memory.is_searchable and content_key(memory.text) == key
            for memory in (stored | self.standing).values()
        )

    def resolved(self, memory: Memory) -> Memory | None:
        """How a candidate stands by now: one of the batch may have joined a known memory, or was refused."""
        place: str | None = memory.id
        while place in self._became:
            place = self._became[place]
        return None if place is None else self.standing.get(place, memory)

    def place(self, new: Memory, entry: IndexEntry | None, *, because: str) -> Memory:
        """Store the fact, or take the waiting flag off it where it already stands."""
        if new.id in self.in_store:
            current = self.standing.get(new.id, new)
            kept = replace(new, flags=new.flags - {WAITS}, version=current.version)
            if kept == current:
                return current
            kept = reschedule(replace(kept, version=current.version + 1), self.ports.config)
            worded = entry if kept.text != current.text else None
            self._append(Change(before=current, after=kept, because=because, entry=worded), kept)
            return kept
        self._append(Add(memory=new, because=because, entry=entry), new)
        self.facts[new.id] = new
        return new

    def wait(self, new: Memory, entry: IndexEntry | None, *, because: str) -> None:
        """Store the fact as it is, flagged, until a mind can decide."""
        self.waiting += 1
        if new.id not in self.in_store:
            self.place(replace(new, flags=new.flags | {WAITS}), entry, because=f"{because}; waits for a mind")

    def reinforce(self, known: Memory, new: Memory, *, because: str) -> Memory:
        """The fact was heard again: its sources join the known memory's, which counts one use more.

        From a source that is believed less, it changes nothing; from one that is believed further, it stands itself.
        """
        current = self.standing.get(known.id, known)
        if outranks(current.trust, new.trust):
            self.notes.append(f"already known: {known.text!r}")
            self._dissolve(new, current, stored=new.id in self.in_store, because=because)
            return current
        if outranks(new.trust, current.trust):
            return self._succeed(current, new, new.text, because=because)
        again = replace(current, sources=_joined(current.sources, new.sources), expires_at=self._lives(current, new))
        if not current.is_searchable:
            again = self._change(current, transition(again, "revive", self.ports.config), because=because)
        elif again != current:
            again = self._change(current, replace(again, version=current.version + 1), because=because)
        after = record_use(again, self.ports.config, self.now, session=None)
        self._append(Use(used_version=again, after=after, because=because), after)
        self.notes.append(f"already known: {known.text!r}")
        self._dissolve(new, after, stored=new.id in self.in_store, because=because)
        return after

    def _lives(self, known: Memory, new: Memory) -> datetime | None:
        """Until when a fact lives that is said again: as if it were new, once less than half of that is left."""
        config = self.ports.config
        extended, fresh = expiry(record_use(known, config, self.now, session=None), config), expiry(new, config)
        return fresh if fresh and extended and (extended - self.now) * 2 < fresh - self.now else known.expires_at

    def merge(self, known: Memory, new: Memory, text: str, *, because: str) -> Memory:
        """One memory for both: the fuller wording, all sources. Of two that are stored, the fuller one stays."""
        current = self.standing.get(known.id, known)
        if outranks(new.trust, current.trust):
            return self._succeed(current, new, text, because=because)
        stored = new.id in self.in_store
        if stored and text == new.text != current.text and current.phase == "active":
            current, new = new, current
        made: list[IndexEntry] = []
        if text != current.text:
            made, problems = entries(self.ports, [text])
            self.problems += problems
        waits = {WAITS} if current.id in self.in_store else set()
        after = replace(
            current,
            text=text,
            sources=_heard(current, new),
            importance=max(current.importance, new.importance),
            pinned=current.pinned or new.pinned,
            flags=current.flags - {RESTORED} - waits,
            version=current.version + 1,
        )
        after = reschedule(after, self.ports.config)
        self._dissolve(new, after, stored=stored, because=because)  # first: a scope holds the same words once
        self._append(Change(before=current, after=after, because=because, entry=made[0] if made else None), after)
        if stored:
            self._count_in(after, new, because=because)
        self.facts[after.id] = self.standing[after.id]
        self.notes.append(f"merged into {current.text!r}")
        return self.standing[after.id]

    def quarantine(self, new: Memory, entry: IndexEntry | None, why: str) -> None:
        """Store a fact for a person to look at."""
        waits = replace(new, phase="quarantined", reason=why, due_at=None)
        self._append(Add(memory=waits, because=f"for review: {why}", entry=entry), waits)
        self.notes.append(f"kept for review ({why}): see `slowwave review`")

    def _succeed(self, current: Memory, new: Memory, text: str, *, because: str) -> Memory:
        """The same fact from a source that is believed further: trust never rises in place, so a new memory stands."""
        made, problems = entries(self.ports, [text])
        self.problems += problems
        if current.phase == "core":
            current = self._change(current, transition(current, "demote", self.ports.config), because=because)
        gone = transition(current, "merge", self.ports.config, superseded_by=new.id)
        gone = self._change(current, replace(gone, flags=gone.flags - {WAITS}), because=because)
        self._became[current.id] = new.id
        pinned, importance = new.pinned or current.pinned, max(new.importance, current.importance)
        kept = self.place(replace(new, text=text, pinned=pinned, importance=importance), made[0], because=because)
        self._count_in(kept, gone, because=because)
        self.notes.append(f"stands for {current.text!r}, which came from a source that is believed less")
        return self.standing[kept.id]

    def _count_in(self, kept: Memory, gone: Memory, *, because: str) -> None:
        """The uses of a memory that another one stands for now are that one's."""
        if gone.accesses:
            after = replace(
                kept,
                accesses=kept.accesses + gone.accesses,
                sessions=kept.sessions + gone.sessions,
                stability=max(kept.stability, gone.stability),
                used_at=max(filter(None, (kept.used_at, gone.used_at)), default=None),
            )
            after = reschedule(after, self.ports.config)
            self._append(Use(used_version=kept, after=after, because=because), after)

    def supersede(self, old: Memory, new: Memory, entry: IndexEntry | None, text: str, *, because: str) -> Memory:
        """The new fact takes the old one's place; the old one's time ends where the new one's begins."""
        if text != new.text:
            made, problems = entries(self.ports, [text])
            self.problems += problems
            new, entry = replace(new, text=text), made[0]
        kept = self.place(replace(new, pinned=new.pinned or old.pinned), entry, because=because)
        current = self.standing.get(old.id, old)
        ended = transition(current, "replace", self.ports.config, superseded_by=kept.id, valid_to=_end(current, kept))
        self._change(current, ended, because=because)
        self.notes.append(f"replaced {old.text!r}")
        return kept

    def retract(self, old: Memory, new: Memory, *, because: str) -> None:
        """The old fact is no longer true; nothing takes its place."""
        ended = transition(old, "retract", self.ports.config, valid_to=_end(old, new))
        self._change(old, ended, because=because)
        self.notes.append(f"retracted {old.text!r}")

    def link(self, source: Memory, target: Memory, kind: str, *, because: str) -> None:
        """Join two memories that a person or a mind may want to look at together."""
        ends = {source.id, target.id}
        known = [{one.source, one.target} for one in self.ports.store.links(self.ports.scope, [source.id], [kind])]
        known += [{one.source, one.target} for one in self.operations if isinstance(one, Link) and one.kind == kind]
        if ends in known:
            return
        link = Link(source=source.id, target=target.id, kind=kind, weight=1.0, before=0.0, because=because, at=self.now)
        self.operations.append(link)
        self.notes.append(f"linked ({kind}) with {target.text!r}")

    def refuse(self, new: Memory, quote: str, reason: str, *, held: bool = False) -> None:
        """Write down a fact that is not stored, and why."""
        self.operations.append(RejectFact(text=new.text, quote=quote, reason=reason, because=reason, held=held))
        self._became[new.id] = None

    def release_holds(self, keys: Iterable[str]) -> None:
        """A person states again what an undo holds: it is held no longer."""
        self.operations += [Suppress(key=key, on=False, because="stated again") for key in sorted(keys)]

    def live_duplicate(self, new: Memory, key: str, found: Mapping[str, Memory]) -> Memory | None:
        """The live memory of the same words, in the store or earlier in this batch."""
        for memory in self.standing.values():
            if memory.id != new.id and memory.phase in LIVE and content_key(memory.text) == key:
                return memory
        known = found.get(key)
        current = self.standing.get(known.id, known) if known is not None else None
        return current if current is not None and current.phase in LIVE else None

    def _dissolve(self, new: Memory, into: Memory, *, stored: bool, because: str) -> None:
        self._became[new.id] = into.id
        if stored:
            current = self.standing.get(new.id, new)
            gone = transition(current, "merge", self.ports.config, superseded_by=into.id)
            self._change(current, replace(gone, flags=gone.flags - {WAITS}), because=because)

    def _change(self, before: Memory, after: Memory, *, because: str) -> Memory:
        self._append(Change(before=before, after=after, because=because), after)
        return after

    def _append(self, operation: Operation, after: Memory) -> None:
        self.operations.append(operation)
        self.standing[after.id] = after


def _joined(first: tuple[SourceRef, ...], second: tuple[SourceRef, ...]) -> tuple[SourceRef, ...]:
    return (*first, *(source for source in second if source.memory not in {one.memory for one in first}))


def _heard(known: Memory, new: Memory) -> tuple[SourceRef, ...]:
    """The sources of two that are merged; those that are believed less are left out, for trust is the least of them."""
    return known.sources if outranks(known.trust, new.trust) else _joined(known.sources, new.sources)


def _unsaid(known: Memory, new: Memory) -> tuple[str, ...]:
    """Names, numbers and dates of a new fact that the known one does not say, or the word on which it says the opposite.

    One subject may have two names.
    """
    called = {name.casefold() for name in (known.subject, new.subject) if name}
    lost = tuple(word for word in missing_details(known.text, [new]) if word.casefold() not in called)
    opposite = contradicts(new.text, [known.text])
    return lost or ((opposite,) if opposite else ())


def _by_hand(memory: Memory) -> bool:
    """Whether a person stated it: it rests on no message."""
    return not memory.sources and memory.kind != SUMMARY


def _stated(new: Memory, text: str) -> str:
    """What a person said, for the journal, where other words stand for it."""
    return f"; stated: {new.text!r}" if _by_hand(new) and text != new.text else ""


def _end(old: Memory, new: Memory) -> datetime:
    return max(old.valid_from, new.valid_from)


def _why(verdict: Verdict | None, otherwise: str) -> str:
    return verdict.because if verdict and verdict.because else otherwise


def _names(words: Sequence[str]) -> str:
    return ", ".join(repr(word) for word in words[:3])
