"""Cascade: long conversations become summaries of their stretches, and those become eras; nothing is ever left out."""

from collections.abc import Sequence

from slowwave.errors import ModelError
from slowwave.model.codec import content_key
from slowwave.model.fact import Brief
from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.message import clean
from slowwave.model.operation import Add, Advance, Change, Operation
from slowwave.model.plan import FREE, Cost, Group, cost_of
from slowwave.model.query import Where
from slowwave.model.state import Conversation
from slowwave.pipelines.entries import entries
from slowwave.pipelines.making import new_id
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.policy.cascade import Era, Span, due_eras, due_spans
from slowwave.policy.grounding import adds, related
from slowwave.policy.trust import least
from slowwave.ports import Ports

CURSOR = "cascade"
WORDS = 120
"""About how long the summary of a stretch is."""
ERA_WORDS = 300
SPANS = 32
"""How many stretches one night summarises; the rest is left for the next."""


def cascade(night: Night, *, force: bool = False, only: str | None = None) -> Staged:
    """Summarise what lies outside the immediate window of every conversation that is due."""
    groups: list[Group] = []
    problems: list[str] = []
    cost, left = FREE, 0
    for found in _due(night.ports, force=force, only=only):
        spans = _spans(night.ports, found, force=force)
        room = SPANS - len(groups)
        if not night.think or room <= 0:
            left += len(spans)
            continue
        writer = _Writer(night, found)
        writer.write(spans[:room])
        groups += writer.groups
        problems += writer.problems
        cost += writer.cost
        left += len(spans) - writer.written + writer.eras_left
    return Staged(groups=tuple(groups), left=left, problems=tuple(problems), cost=cost)


def _due(ports: Ports, *, force: bool, only: str | None) -> list[Conversation]:
    if only is not None:
        named = ports.store.conversation(ports.scope, only)
        found = [named] if named is not None else []
    else:
        found = ports.store.conversations(ports.scope)
    return [one for one in found if one.name and (_spans(ports, one, force=force) or _eras(ports, one))]


def _eras(ports: Ports, found: Conversation) -> tuple[Era, ...]:
    """Eras that are still to be written, because a mind failed at them."""
    if not found.cursor(CURSOR):
        return ()
    standing = _standing(ports, found)
    parts = sorted(memory.span for memory in standing if memory.span and memory.depth == 1)
    return due_eras(parts, {memory.span for memory in standing if memory.span and memory.depth > 1})


def _standing(ports: Ports, found: Conversation) -> list[Memory]:
    where = Where(kinds=frozenset({SUMMARY}), phases=frozenset(HOT), conversation=found.name, cascade=True, order="seq")
    return ports.store.select((ports.scope,), where)


def _spans(ports: Ports, found: Conversation, *, force: bool) -> tuple[Span, ...]:
    return due_spans(
        found.last_seq,
        found.cursor(CURSOR),
        immediate_window=ports.config.immediate_window,
        recent_window=ports.config.recent_window,
        force=force,
    )


class _Writer:
    """Summaries of one conversation in the making. Stops at the first that fails, so that spans tile without a gap."""

    def __init__(self, night: Night, found: Conversation) -> None:
        self.night = night
        self.ports = night.ports
        self.found = found
        self.groups: list[Group] = []
        self.problems: list[str] = []
        self.cost: Cost = FREE
        self.written = 0
        self.eras_left = 0

    def write(self, spans: Sequence[Span]) -> None:
        """The stretches in order, then the eras they complete or extend."""
        made: list[Memory] = []
        cursor = self.found.cursor(CURSOR)
        for span in spans:
            because = f"messages {span[0]} to {span[1]} of {self.found.name} in fewer words"
            move = Advance(conversation=self.found.name, cursor=CURSOR, before=cursor, after=span[1], because=because)
            said = self._messages(span)
            if not said:  # all of it was taken back: there is nothing to say of this stretch
                self.groups.append(Group(operations=(move,), because=because))
                self.written += 1
                cursor = span[1]
                continue
            summary = self._summary(said, span, depth=1, words=WORDS)
            if summary is None:
                break
            self._store(summary, because, move)
            cursor = span[1]
            made.append(summary)
            self.written += 1
        standing = _standing(self.ports, self.found)
        parts = {m.span: m for m in (*standing, *made) if m.span and m.depth == 1}
        eras = {m.span: m for m in standing if m.span and m.depth > 1}
        for era in due_eras(sorted(parts), eras):
            self._write_era(era, [parts[span] for span in era.parts], list(eras.values()))

    def _write_era(self, era: Era, parts: Sequence[Memory], standing: Sequence[Memory]) -> None:
        summary = self._summary(parts, era.span, depth=2, words=ERA_WORDS)
        if summary is None:
            self.eras_left += 1
            return
        because = f"the era of messages {era.span[0]} to {era.span[1]} of {self.found.name}"
        outgrown = [
            Change(
                before=old,
                after=moved(old, "replace", self.ports.config, superseded_by=summary.id),
                because=because,
            )
            for old in standing
            if old.span and old.span[0] == era.span[0]
        ]
        self._store(summary, because, *outgrown)

    def _messages(self, span: Span) -> list[Memory]:
        where = Where(
            kinds=frozenset({MESSAGE}),
            conversation=self.found.name,
            after_seq=span[0] - 1,
            until_seq=span[1],
            order="seq",
        )
        shown = self.ports.store.select((self.ports.scope,), where)
        return [memory for memory in shown if memory.phase not in {"quarantined", "retracted"}]

    def _summary(self, memories: Sequence[Memory], span: Span, *, depth: int, words: int) -> Memory | None:
        """A validated summary, or None with the problem noted: then the stretch stays due."""
        try:
            proposal = self.ports.mind.summarise(Brief(memories=tuple(memories), style="cascade", words=words))
        except ModelError as error:
            self.problems.append(str(error))
            self.cost += cost_of(error)
            return None
        self.cost += proposal.cost
        text = clean(proposal.value.text).strip()
        if self.ports.store.held(self.ports.scope, [content_key(text)]):
            return None  # a person undid these very words: the stretch waits for others
        invented = adds(text, memories)
        if not text or invented or not related(text, memories):
            what = f"it invents {', '.join(map(repr, invented[:3]))}" if invented else "it speaks of something else"
            self.problems.append(f"a summary of messages {span[0]} to {span[1]} was refused: {what}")
            return None
        now = self.night.now
        return Memory(
            id=new_id(now),
            scope=self.ports.scope,
            kind=SUMMARY,
            category="summary",
            text=text,
            recorded_at=now,
            valid_from=memories[0].valid_from,
            importance=max(memory.importance for memory in memories),
            trust=least(memory.trust for memory in memories),
            conversation=self.found.name,
            depth=depth,
            span=span,
        )

    def _store(self, summary: Memory, because: str, *others: Operation) -> None:
        made, problems = entries(self.ports, [summary.text])
        self.problems += problems
        add = Add(memory=summary, because=because, entry=made[0])
        self.groups.append(Group(operations=(add, *others), because=because))
