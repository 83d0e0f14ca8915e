"""A draft of changes to facts: what a mind's verdicts come to, checked, as operations. It performs nothing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slowwave.model.codec import content_key
from slowwave.model.entry import Entry
from slowwave.model.fact import Candidate, Verdict
from slowwave.model.memory import Memory, SourceRef
from slowwave.model.operation import Add, Change, Hold, Link, Operation, Refuse, Use
from slowwave.pipelines.entries import entries
from slowwave.pipelines.moves import dated, moved, used
from slowwave.policy.duplicates import longer
from slowwave.policy.grounding import adds, keeps
from slowwave.ports import Ports

WAITS = "unreconciled"
"""The flag of a fact that is stored and searchable while no mind could say what it does to what is known."""

_LINKS = frozenset({"close", "value changed?", "conflict?", "unsure"})


@dataclass(slots=True, kw_only=True)
class Draft:
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

    def judge(
        self,
        new: Memory,
        entry: Entry | None,
        verdicts: Sequence[Verdict],
        candidates: Sequence[Candidate],
        because: str,
    ) -> None:
        """Carry out what a mind says of one new fact. Without a verdict the fact is stored and waits."""
        if not verdicts:
            self.wait(new, entry, because=because)
            return
        targets = {
            candidate.number: self.standing.get(candidate.memory.id, candidate.memory) for candidate in candidates
        }
        fixed = {candidate.number for candidate in candidates if candidate.fixed}
        main = next((v for v in verdicts if v.op != "DELETE"), None)
        ended = [v for v in verdicts if v.op == "DELETE" and v.memory in targets]
        target = targets.get(main.memory) if main and main.memory is not None else None
        if main is None or target is None or main.op == "ADD":
            kept = self.place(new, entry, because=_why(main, because))
        elif main.memory in fixed or not target.hot:
            kept = self.place(new, entry, because=because)
            self.link(
                kept, target, "conflict?" if main.op == "UPDATE" else "close", because=_why(main, "it may not change")
            )
        elif main.op == "NOOP":
            kept = self.reinforce(target, new, because=_why(main, "already known"))
        elif main.op == "UPDATE":
            kept = self._update(new, entry, main, target, because)
        else:
            kept = self.place(new, entry, because=because)
            self.link(kept, target, main.relation if main.relation in _LINKS else "close", because=_why(main, "close"))
        for verdict in ended:
            old = targets[verdict.memory] if verdict.memory is not None else kept
            old = self.standing.get(old.id, old)
            if verdict.memory in fixed:
                self.link(kept, old, "conflict?", because=_why(verdict, "it may not change"))
            elif old.id != kept.id and old.hot:
                self.retract(old, kept, because=_why(verdict, "no longer true"))

    def _update(self, new: Memory, entry: Entry | None, verdict: Verdict, target: Memory, because: str) -> Memory:
        text = (verdict.text or new.text).strip()
        if verdict.relation == "contradictory":
            if invented := adds(text, [new, target]):
                self.problems.append(f"kept the words as they were said: {_names(invented)} stands in neither memory")
                text = new.text
            return self.supersede(target, new, entry, text, because=_why(verdict, "it changed"))
        both = [new, target]
        for wording in dict.fromkeys((text, longer(new.text, target.text))):
            if not keeps(wording, both) and not adds(wording, both):
                return self.merge(target, new, wording, because=_why(verdict, "the same fact, more fully"))
        self.problems.append(f"did not merge {new.text!r} into {target.text!r}: a name, number or date would be lost")
        kept = self.place(new, entry, because=because)
        self.link(kept, target, "close", because=_why(verdict, "close, but each says more"))
        return kept

    def place(self, new: Memory, entry: Entry | None, *, because: str) -> Memory:
        """Store the fact, or take the waiting flag off it where it already stands."""
        if new.id in self.in_store:
            current = self.standing.get(new.id, new)
            kept = replace(new, flags=new.flags - {WAITS}, version=current.version)
            if kept == current:
                return current
            kept = dated(replace(kept, version=current.version + 1), self.ports.config, self.now)
            self._put(Change(before=current, after=kept, because=because, entry=entry), kept)
            return kept
        self._put(Add(memory=new, because=because, entry=entry), new)
        self.facts[new.id] = new
        return new

    def wait(self, new: Memory, entry: Entry | None, *, because: str) -> None:
        """Store the fact as it is, flagged, until a mind can decide."""
        self.waiting += 1
        if new.id not in self.in_store:
            self.place(replace(new, flags=new.flags | {WAITS}), entry, because=f"{because}; waits for a mind")

    def reinforce(self, known: Memory, new: Memory, *, because: str) -> Memory:
        """The fact was heard again: its sources join the known memory's, which counts one use more."""
        current = self._with_sources(known, new.sources, because=because)
        if not current.hot:
            current = self._change(current, moved(current, "revive", self.ports.config, self.now), because=because)
        after = used(current, self.ports.config, self.now, session=None)
        self._put(Use(seen=current, after=after, because=because), after)
        self.notes.append(f"already known: {known.text!r}")
        self._dissolve(new, current, because=because)
        return after

    def merge(self, known: Memory, new: Memory, text: str, *, because: str) -> Memory:
        """One memory for both: the fuller wording, all sources."""
        current = self.standing.get(known.id, known)
        made, problems = entries(self.ports, [text])
        self.problems += problems
        after = replace(
            current,
            text=text,
            sources=_joined(current.sources, new.sources),
            importance=max(current.importance, new.importance),
            version=current.version + 1,
        )
        self._put(Change(before=current, after=after, because=because, entry=made[0]), after)
        self.facts[after.id] = after
        self.notes.append(f"merged into {known.text!r}")
        self._dissolve(new, after, because=because)
        return after

    def supersede(self, old: Memory, new: Memory, entry: Entry | None, text: str, *, because: str) -> Memory:
        """The new fact takes the old one's place; the old one's time ends where the new one's begins."""
        if text != new.text:
            made, problems = entries(self.ports, [text])
            self.problems += problems
            new, entry = replace(new, text=text), made[0]
        kept = self.place(new, entry, because=because)
        current = self.standing.get(old.id, old)
        ended = moved(
            current, "replace", self.ports.config, self.now, superseded_by=kept.id, valid_to=_end(current, kept)
        )
        self._change(current, ended, because=because)
        self.notes.append(f"replaced {old.text!r}")
        return kept

    def retract(self, old: Memory, new: Memory, *, because: str) -> None:
        """The old fact is no longer true; nothing takes its place."""
        ended = moved(old, "retract", self.ports.config, self.now, valid_to=_end(old, new))
        self._change(old, ended, because=because)
        self.notes.append(f"retracted {old.text!r}")

    def link(self, source: Memory, target: Memory, kind: str, *, because: str) -> None:
        """Join two memories that a person or a mind may want to look at together."""
        if any(
            one.kind == kind and {one.source, one.target} == {source.id, target.id}
            for one in self.ports.store.links(self.ports.scope, [source.id], [kind])
        ):
            return
        link = Link(source=source.id, target=target.id, kind=kind, weight=1.0, before=0.0, because=because, at=self.now)
        self.operations.append(link)
        self.notes.append(f"linked ({kind}) with {target.text!r}")

    def refuse(self, text: str, quote: str, reason: str) -> None:
        """Write down a fact that is not stored, and why."""
        self.operations.append(Refuse(text=text, quote=quote, reason=reason, because=reason))

    def let_go(self, keys: Iterable[str]) -> None:
        """A person states again what an undo holds: it is held no longer."""
        self.operations += [Hold(key=key, on=False, because="stated again") for key in keys]

    def known(self, key: str, found: Mapping[str, Memory]) -> Memory | None:
        """The live memory of the same words, in the store or earlier in this batch."""
        for memory in self.standing.values():
            if memory.phase in {"active", "core", "cold"} and content_key(memory.text) == key:
                return memory
        known = found.get(key)
        return self.standing.get(known.id, known) if known is not None else None

    def _dissolve(self, new: Memory, into: Memory, *, because: str) -> None:
        if new.id in self.in_store:
            current = self.standing.get(new.id, new)
            gone = moved(current, "merge", self.ports.config, self.now, superseded_by=into.id)
            self._change(current, replace(gone, flags=gone.flags - {WAITS}), because=because)

    def _with_sources(self, known: Memory, sources: tuple[SourceRef, ...], *, because: str) -> Memory:
        current = self.standing.get(known.id, known)
        joined = _joined(current.sources, sources)
        if joined == current.sources:
            return current
        return self._change(current, replace(current, sources=joined, version=current.version + 1), because=because)

    def _change(self, before: Memory, after: Memory, *, because: str) -> Memory:
        self._put(Change(before=before, after=after, because=because), after)
        return after

    def _put(self, operation: Operation, after: Memory) -> None:
        self.operations.append(operation)
        self.standing[after.id] = after


def _joined(first: tuple[SourceRef, ...], second: tuple[SourceRef, ...]) -> tuple[SourceRef, ...]:
    return (*first, *(source for source in second if source.memory not in {one.memory for one in first}))


def _end(old: Memory, new: Memory) -> datetime:
    return max(old.valid_from, new.valid_from)


def _why(verdict: Verdict | None, otherwise: str) -> str:
    return verdict.because if verdict and verdict.because else otherwise


def _names(words: Sequence[str]) -> str:
    return ", ".join(repr(word) for word in words[:3])
