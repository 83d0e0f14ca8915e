"""What an erase takes with it: all that rests on what was chosen, and who returns in its place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from slowwave.model.codec import content_key
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.model.operations import Add, Change, Erase, MoveCursor, Operation, Suppress
from slowwave.model.query import Where
from slowwave.pipelines.admin.edit import STATED
from slowwave.pipelines.ingest.tombstones import SOME, buried
from slowwave.pipelines.planning import new_id, transition
from slowwave.pipelines.sleep.conversation_summary import CURSOR
from slowwave.policy.guard.grounding import ground
from slowwave.policy.guard.trust import least
from slowwave.ports import Ports

BECAUSE = "erased by request"
"""The journal keeps that something was erased, never what."""


class ErasePlan:
    """The memories that an erase reaches, and the operations that destroy them, in units that stand or fall together.

    What was derived goes before what it rests on: if an erase is cut off between two units, the same request, made
    again, finds the rest.
    """

    def __init__(self, ports: Ports, chosen: Sequence[Memory]) -> None:
        self.ports = ports
        self.now = ports.now()
        facts = ports.store.select((ports.scope,), Where(kinds=frozenset(FACT_KINDS), cascade=None))
        self.doomed = _with_derived(chosen, facts, {one.id: self._once(one) for one in facts if STATED in one.flags})
        self.restored: list[str] = []
        self._due: dict[str, int] = {}
        self._chosen = {memory.id for memory in chosen}
        self._behind: dict[str, list[Memory]] = {}
        self._live: dict[str, str] = {}
        for fact in facts:
            if fact.id in self.doomed:
                continue
            if fact.superseded_by in self.doomed:
                self._behind.setdefault(str(fact.superseded_by), []).append(fact)
            if fact.is_searchable and not fact.is_cascade:
                self._live[content_key(fact.text)] = fact.id

    def _once(self, fact: Memory) -> set[str]:
        """The messages a fact rested on before a person gave it other words: its history quotes them."""
        told = (event.operation for event in self.ports.store.history(self.ports.scope, fact.id))
        return {source.memory for one in told if isinstance(one, Change) for source in one.before.sources}

    @property
    def due(self) -> list[str]:
        """What a later sleep pass writes again. Complete once `units` has run."""
        return [f"summaries of {name} from message {first} on" for name, first in self._due.items()]

    def units(self) -> list[list[Operation]]:
        """What to do, in order."""
        units: list[list[Operation]] = [[Suppress(key=SOME, because=BECAUSE)]]
        cascades = [memory for memory in self.doomed.values() if memory.is_cascade]
        units += self._cascades(cascades)
        for memory in reversed(self.doomed.values()):
            if memory.is_cascade:
                continue
            again = self._planted(memory)
            unit: list[Operation] = [Erase(memory=memory.id, because=BECAUSE)]
            if again is None:
                unit = [*(Suppress(key=key, because=BECAUSE) for key in buried(memory)), *unit]
            behind = self._behind.get(memory.id, ())
            unit += [_repointed(one, again.memory.id) if again else self._returned(one) for one in behind]
            units.append([*unit, *([again] if again else [])])
        units += [[Erase(conversation=name, because=BECAUSE)] for name in self._emptied()]
        return units

    def _returned(self, memory: Memory) -> Change:
        """What an erased memory stood for comes back; what it had replaced as outdated stays so."""
        if memory.outdated:
            return _repointed(memory, None)
        twin = self._live.get(content_key(memory.text))
        if twin is not None:  # a scope holds the same words once
            return _repointed(memory, twin, reason="duplicate")
        self._live[content_key(memory.text)] = memory.id
        self.restored.append(memory.id)
        after = transition(memory, "restore", self.ports.config, superseded_by=None)
        return Change(before=memory, after=after, because="what stood for it was erased")

    def _planted(self, memory: Memory) -> Add | None:
        """A fact that other messages say as well is stored anew, resting on these alone; its history is gone."""
        kept = [source for source in memory.sources if source.memory not in self.doomed]
        key = content_key(memory.text)
        if not kept or memory.id in self._chosen or memory.kind == SUMMARY or memory.phase not in {*HOT, "cold"}:
            return None
        said = {one.id: one for one in self.ports.store.get((self.ports.scope,), [one.memory for one in kept])}
        sources = tuple(one for one in kept if one.memory in said and _supports(said[one.memory], memory, one.quote))
        if not sources or key in self._live:
            return None
        self._live[key] = memory.id
        trust = least(said[one.memory].trust for one in sources)
        again = replace(memory, id=new_id(self.now), sources=sources, trust=trust, version=1, superseded_by=None)
        entry = self.ports.store.entries(self.ports.scope, [memory.id]).get(memory.id)
        self.restored.append(again.id)
        return Add(memory=again, because="others said it as well", entry=entry)

    def _cascades(self, cascades: Sequence[Memory]) -> list[list[Operation]]:
        """Summaries of conversations go with their cursor, which goes back to where they began."""
        units: list[list[Operation]] = []
        for name, own in _by_conversation(cascades).items():
            starts = [memory.span[0] - 1 for memory in own if memory.span and memory.depth == 1]
            start = min(starts, default=None)  # an era by itself is written again from the summaries that stand
            found = self.ports.store.conversation(self.ports.scope, name)
            unit: list[Operation] = []
            if found is not None and start is not None and found.cursor(CURSOR) > start:
                before = found.cursor(CURSOR)
                unit.append(MoveCursor(conversation=name, cursor=CURSOR, before=before, after=start, because=BECAUSE))
                self._due[name] = start + 1
            holds = [Suppress(key=key, because=BECAUSE) for memory in own for key in buried(memory)]
            behind = [_repointed(one, None) for memory in own for one in self._behind.get(memory.id, ())]
            units.append([*unit, *holds, *(Erase(memory=memory.id, because=BECAUSE) for memory in own), *behind])
        return units

    def _emptied(self) -> list[str]:
        """Conversations of which no message is left: their names go too."""
        counts: dict[str, int] = {}
        for memory in self.doomed.values():
            if memory.kind == MESSAGE and memory.conversation is not None:
                counts[memory.conversation] = counts.get(memory.conversation, 0) + 1
        own = (self.ports.scope,)
        names = []
        for name, number in counts.items():
            where = Where(kinds=frozenset({MESSAGE}), conversation=name, limit=number + 1)
            if len(self.ports.store.select(own, where)) == number:
                names.append(name)
                self._due.pop(name, None)
        return names


def _repointed(memory: Memory, to: str | None, **fields: str) -> Change:
    after = replace(memory, superseded_by=to, version=memory.version + 1, **fields)  # type: ignore[arg-type]  # of Memory
    return Change(before=memory, after=after, because="what stood for it was erased")


def _with_derived(chosen: Sequence[Memory], facts: Iterable[Memory], once: Mapping[str, set[str]]) -> dict[str, Memory]:
    """What matches and all that rests on it, or did `once`: facts, their summaries, and summaries of the stretch it was said in.

    Of a fact that was chosen, what was merged into it says the same, and goes too.
    """
    doomed = {memory.id: memory for memory in chosen}
    picked = set(doomed)
    rest = [fact for fact in facts if fact.id not in doomed]
    fresh = list(chosen)
    while fresh:
        ids = {memory.id for memory in fresh}
        said = _by_conversation(memory for memory in fresh if memory.kind == MESSAGE)
        spans = _by_conversation(memory for memory in doomed.values() if memory.is_cascade and memory.depth == 1)
        fresh = [
            memory
            for memory in rest
            if not ids.isdisjoint(source.memory for source in memory.sources)
            or not ids.isdisjoint(memory.members)
            or not ids.isdisjoint(once.get(memory.id, ()))
            or (memory.superseded_by in picked and memory.reason == "duplicate")
            or (memory.is_cascade and _stretches(memory, said, spans))
        ]
        doomed |= {memory.id: memory for memory in fresh}
        rest = [memory for memory in rest if memory.id not in doomed]
    return doomed


def _by_conversation(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {}
    for memory in memories:
        if memory.conversation is not None:
            found.setdefault(memory.conversation, []).append(memory)
    return found


def _stretches(memory: Memory, said: Mapping[str, list[Memory]], spans: Mapping[str, list[Memory]]) -> bool:
    """Whether it covers an erased message, or is at or after an erased summary: spans tile, so all from there on are written anew."""
    first, last = memory.span or (0, 0)
    name = memory.conversation or ""
    return any(first <= one.seq <= last for one in said.get(name, ())) or any(
        one.span is not None and last >= one.span[0] for one in spans.get(name, ())
    )


def _supports(message: Memory, fact: Memory, quote: str) -> bool:
    """Whether a fact could be drawn from this message alone."""
    shown = Transcript(conversation=message.conversation or "", turns=(Turn(number=1, memory=message),), most=1)
    proposed = Fact(text=fact.text, quote=quote, turn=1, subject=fact.subject, kind=fact.kind)
    return not isinstance(ground(proposed, shown), Rejected)
