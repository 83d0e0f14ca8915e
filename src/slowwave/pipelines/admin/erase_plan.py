"""Plans an erase: which memories it destroys besides the chosen ones, and which memories return in their place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from slowwave.model.codec import content_key
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.model.operations import Add, Change, Erase, MoveCursor, Operation, Suppress
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.pipelines.admin.edit import STATED
from slowwave.pipelines.ingest.tombstones import SOME, buried, title_tombstone
from slowwave.pipelines.planning import new_id, transition
from slowwave.pipelines.sleep.conversation_summary import CURSOR
from slowwave.policy.guard.grounding import ground
from slowwave.policy.guard.trust import least
from slowwave.policy.text.spellings import Phrase
from slowwave.ports import Ports

BECAUSE = "erased by request"
"""The journal keeps that something was erased, but not what."""


class ErasePlan:
    """The memories that an erase destroys, and its operations in units, each applied whole or not at all.

    A derived memory is destroyed before its sources. If an erase is interrupted between two units, the same
    request finds the rest when it is repeated.

    Attributes:
        memories: those to destroy, by id: the chosen ones and all that were derived from them.
        restored: the ids of memories that return to hot storage, and of facts that are stored again. Filled by `units`.
        titles: those to destroy, by conversation: of conversations of which no message remains, and those that contain `words`.
    """

    def __init__(self, ports: Ports, chosen: Sequence[Memory], words: str | None = None) -> None:
        self.ports = ports
        self.now = ports.now()
        facts = ports.store.select((ports.scope,), Where(kinds=frozenset(FACT_KINDS), cascade=None))
        self.memories = _with_derived(chosen, facts, ports.store.former_bases(ports.scope))
        self.restored: list[str] = []
        self.titles: dict[str, str] = {}
        self._due: dict[str, int] = {}
        self._chosen = {memory.id for memory in chosen}
        self._words = words
        self._superseded: dict[str, list[Memory]] = {}  # by the id of the successor, which is destroyed
        self._live: dict[str, str] = {}  # ids of hot facts by content key
        for fact in facts:
            if fact.id in self.memories:
                continue
            if fact.superseded_by in self.memories:
                self._superseded.setdefault(str(fact.superseded_by), []).append(fact)
            if fact.is_searchable and not fact.is_cascade:
                self._live[content_key(fact.text)] = fact.id

    @property
    def due(self) -> list[str]:
        """What a later sleep pass writes again. Complete once `units` has run."""
        return [f"summaries of {name} from message {first} on" for name, first in self._due.items()]

    def units(self) -> list[list[Operation]]:
        """The operations, in order."""
        units: list[list[Operation]] = [[Suppress(key=SOME, because=BECAUSE)]]
        cascades = [memory for memory in self.memories.values() if memory.is_cascade]
        units += self._cascades(cascades)
        for memory in reversed(self.memories.values()):
            if memory.is_cascade:
                continue
            copy = self._copy(memory)
            unit: list[Operation] = [Erase(memory=memory.id, because=BECAUSE)]
            if copy is None:
                unit = [*(Suppress(key=key, because=BECAUSE) for key in buried(memory)), *unit]
            superseded = self._superseded.get(memory.id, ())
            unit += [_repointed(fact, copy.memory.id) if copy else self._returned(fact) for fact in superseded]
            units.append([*unit, *([copy] if copy else [])])
        for name in self._emptied():
            found = self.ports.store.conversation(self.ports.scope, name)
            units.append([*self._titled(found), Erase(conversation=name, because=BECAUSE)])
        return units

    def emptied_conversation(self, name: str) -> list[Operation]:
        """The operations that destroy the name and the title of a conversation without messages."""
        found = self.ports.store.conversation(self.ports.scope, name)
        return [*self._first_titles(self._titled(found)), Erase(conversation=name, because=BECAUSE)]

    def words(self, text: str) -> list[Operation]:
        """The operations that destroy a text in titles and in the journal; the empty text destroys all titles."""
        phrase = Phrase(text)
        holds = [
            hold
            for found in self.ports.store.conversations(self.ports.scope)
            if phrase.is_in(found.title or "") and found.name not in self.titles
            for hold in self._titled(found)
        ]
        return [*self._first_titles(holds), Erase(words=(text,), because=BECAUSE)]

    def _titled(self, found: ConversationState | None) -> list[Operation]:
        """Hold the title of a conversation, which will be destroyed, so that no import sets it again."""
        if found is None or found.title is None:
            return []
        self.titles[found.name] = found.title
        return [Suppress(key=title_tombstone(found.title), because=BECAUSE)]

    def _first_titles(self, holds: Sequence[Operation]) -> list[Operation]:
        """Hold titles, perhaps as the first that was erased of the scope."""
        return [Suppress(key=SOME, because=BECAUSE), *holds] if holds else []

    def _returned(self, memory: Memory) -> Change:
        """Return a fact whose successor is erased to hot storage; a fact that was replaced as outdated stays outdated."""
        if memory.outdated:
            return _repointed(memory, None)
        twin = self._live.get(content_key(memory.text))
        if twin is not None:  # a scope holds the same text only once
            return _repointed(memory, twin, reason="duplicate")
        self._live[content_key(memory.text)] = memory.id
        self.restored.append(memory.id)
        after = transition(memory, "restore", self.ports.config, superseded_by=None)
        return Change(before=memory, after=after, because="its successor was erased")

    def _copy(self, memory: Memory) -> Add | None:
        """The remaining part of a derived memory, as a new memory without history; None if nothing remains."""
        return self._present_copy(memory) or self._supported_copy(memory)

    def _present_copy(self, memory: Memory) -> Add | None:
        """The fact as it is, without history, if neither it nor its first version rests on an erased memory; else None.

        It is derived because a version between the two rested on an erased memory; that version was undone. A text that a
        person wrote may rest on any version, and so may a fact whose first version a damaged journal does not have.
        """
        if memory.id in self._chosen or memory.kind == SUMMARY or memory.phase == "retracted" or STATED in memory.flags:
            return None
        events = self.ports.store.history(self.ports.scope, memory.id)
        added = events[0].operation if events else None
        if not isinstance(added, Add):
            return None
        versions = (memory, added.memory)
        bases = {base for one in versions for base in (*one.members, *(source.memory for source in one.sources))}
        key = content_key(memory.text)
        if not bases.isdisjoint(self.memories) or memory.superseded_by in self.memories or key in self._live:
            return None
        if memory.is_searchable:
            self._live[key] = memory.id
        copy = replace(memory, id=new_id(self.now), version=1)
        entry = self.ports.store.entries(self.ports.scope, [memory.id]).get(memory.id)
        self.restored.append(copy.id)
        return Add(memory=copy, because="an undone version of it was erased", entry=entry)

    def _supported_copy(self, memory: Memory) -> Add | None:
        """A new fact with the same text, the remaining source messages and no history; None if no message supports it."""
        kept = [source for source in memory.sources if source.memory not in self.memories]
        if not kept or memory.id in self._chosen or memory.kind == SUMMARY or memory.phase not in {*HOT, "cold"}:
            return None
        messages = {one.id: one for one in self.ports.store.get((self.ports.scope,), [one.memory for one in kept])}
        sources = tuple(
            source
            for source in kept
            if source.memory in messages and _supports(messages[source.memory], memory, source.quote)
        )
        key = content_key(memory.text)
        if not sources or key in self._live:
            return None
        self._live[key] = memory.id
        trust = least(messages[source.memory].trust for source in sources)
        copy = replace(memory, id=new_id(self.now), sources=sources, trust=trust, version=1, superseded_by=None)
        entry = self.ports.store.entries(self.ports.scope, [memory.id]).get(memory.id)
        self.restored.append(copy.id)
        return Add(memory=copy, because="others said it as well", entry=entry)

    def _cascades(self, cascades: Sequence[Memory]) -> list[list[Operation]]:
        """Destroy summaries of conversations, and move the cursor of each conversation back to where they began."""
        units: list[list[Operation]] = []
        for name, summaries in _by_conversation(cascades).items():
            starts = [memory.span[0] - 1 for memory in summaries if memory.span and memory.depth == 1]
            start = min(starts, default=None)  # an era alone is written again from the summaries that stay
            conversation = self.ports.store.conversation(self.ports.scope, name)
            unit: list[Operation] = []
            if conversation is not None and start is not None and conversation.cursor(CURSOR) > start:
                before = conversation.cursor(CURSOR)
                unit.append(MoveCursor(conversation=name, cursor=CURSOR, before=before, after=start, because=BECAUSE))
                self._due[name] = start + 1
            holds = [Suppress(key=key, because=BECAUSE) for memory in summaries for key in buried(memory)]
            erases = [Erase(memory=memory.id, because=BECAUSE) for memory in summaries]
            superseded = [fact for memory in summaries for fact in self._superseded.get(memory.id, ())]
            units.append([*unit, *holds, *erases, *(_repointed(fact, None) for fact in superseded)])
        return units

    def _emptied(self) -> list[str]:
        """Conversations of which no message remains: their names are erased too."""
        counts: dict[str, int] = {}
        for memory in self.memories.values():
            if memory.kind == MESSAGE and memory.conversation is not None:
                counts[memory.conversation] = counts.get(memory.conversation, 0) + 1
        names = []
        for name, number in counts.items():
            where = Where(kinds=frozenset({MESSAGE}), conversation=name, limit=number + 1)
            if len(self.ports.store.select((self.ports.scope,), where)) == number:
                names.append(name)
                self._due.pop(name, None)
        return names


def _repointed(memory: Memory, to: str | None, **fields: str) -> Change:
    after = replace(memory, superseded_by=to, version=memory.version + 1, **fields)  # type: ignore[arg-type]  # of Memory
    return Change(before=memory, after=after, because="its successor was erased")


def _with_derived(
    chosen: Sequence[Memory], facts: Iterable[Memory], former: Mapping[str, set[str]]
) -> dict[str, Memory]:
    """The chosen memories and all that were derived from them, directly or not, by id.

    These are facts whose sources they are or were (`former`: sources and members of earlier versions), summaries of facts, topic
    pages that list or listed them, and summaries of the messages. Duplicates that were merged into a chosen fact have the same content, so they are destroyed with it.
    """
    derived = {memory.id: memory for memory in chosen}
    chosen_ids = set(derived)
    rest = [fact for fact in facts if fact.id not in derived]
    fresh = list(chosen)
    while fresh:
        ids = {memory.id for memory in fresh}
        messages = _by_conversation(memory for memory in fresh if memory.kind == MESSAGE)
        summaries = _by_conversation(memory for memory in derived.values() if memory.is_cascade and memory.depth == 1)
        fresh = [
            memory
            for memory in rest
            if not ids.isdisjoint(source.memory for source in memory.sources)
            or not ids.isdisjoint(memory.members)
            or not ids.isdisjoint(former.get(memory.id, ()))
            or (memory.superseded_by in chosen_ids and memory.reason == "duplicate")
            or (memory.is_cascade and _covers(memory, messages, summaries))
        ]
        derived |= {memory.id: memory for memory in fresh}
        rest = [memory for memory in rest if memory.id not in derived]
    return derived


def _by_conversation(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {}
    for memory in memories:
        if memory.conversation is not None:
            found.setdefault(memory.conversation, []).append(memory)
    return found


def _covers(summary: Memory, messages: Mapping[str, list[Memory]], summaries: Mapping[str, list[Memory]]) -> bool:
    """Whether a summary covers an erased message, or ends after the beginning of an erased summary.

    Spans of summaries are contiguous, so the erased summary and all later ones are written again.
    """
    first, last = summary.span or (0, 0)
    name = summary.conversation or ""
    return any(first <= message.seq <= last for message in messages.get(name, ())) or any(
        erased.span is not None and last >= erased.span[0] for erased in summaries.get(name, ())
    )


def _supports(message: Memory, fact: Memory, quote: str) -> bool:
    """Whether a fact can be derived from this message alone."""
    shown = Transcript(conversation=message.conversation or "", turns=(Turn(number=1, memory=message),), most=1)
    proposed = Fact(text=fact.text, quote=quote, turn=1, subject=fact.subject, kind=fact.kind)
    return not isinstance(ground(proposed, shown), Rejected)
