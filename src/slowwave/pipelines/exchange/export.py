"""Reads everything a scope contains, as the records of an export."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from slowwave.model.exchange import Chapter, ConversationTitle, ExportedCursor, ExportedLink, ExportedMemory, Item
from slowwave.model.memory import FACT_KINDS, HOT, KINDS, MESSAGE, NOTE, Memory, altered
from slowwave.model.note import has_expired
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.pipelines.conversations import READABLE
from slowwave.ports import Ports

PAGE: Final = 2000
"""Messages that are read at once."""
BATCH: Final = 500
"""Facts whose links are read at once."""


class Contents:
    """What a scope contains, read when it is asked for.

    Args:
        ports: the store and the scope.
        reasoning: with what assistants thought before their messages.

    Attributes:
        scope: its path.
        at: when the export began.
        zone: the zone of dates without one.
        secret: the secret of the store, with which an export is signed.
    """

    def __init__(self, ports: Ports, *, reasoning: bool = False) -> None:
        self._ports = ports
        self._reasoning = reasoning
        self.scope = ports.scope
        self.at = ports.now()
        self.zone = ports.zone
        self.secret = ports.store.secret

    def records(self) -> Iterator[Item]:
        """Everything, as `outgoing` returns it."""
        return outgoing(self._ports, reasoning=self._reasoning)

    def facts(self) -> Iterator[Memory]:
        """The facts in use, oldest first, without summaries of conversations."""
        where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT))
        yield from sorted(self._select(where), key=lambda fact: (fact.recorded_at, fact.id))

    def notes(self) -> Iterator[Memory]:
        """The notes that have not expired, by folder and name."""
        where = Where(kinds=frozenset({NOTE}), phases=frozenset(HOT), order="name")
        yield from (note for note in self._select(where) if not has_expired(note, self.at))

    def chapters(self) -> Iterator[Chapter]:
        """The conversations by name, with the messages that are neither retracted nor under review."""
        for state in sorted(self._ports.store.conversations(self.scope), key=lambda state: state.name):
            messages = (message for message in _messages(self._ports, state) if message.phase in READABLE)
            yield Chapter(name=state.name, title=state.title, messages=messages)

    def _select(self, where: Where) -> Sequence[Memory]:
        return self._ports.store.select((self.scope,), where)


def outgoing(ports: Ports, *, reasoning: bool = False) -> Iterator[Item]:
    """Everything a scope contains, in an order that can be imported: messages, titles, cursors, facts, summaries, links.

    What assistants thought before their messages is included only with `reasoning`.

    The conversation written to last is the last one, so that it is also the latest one after an import. Phases, times,
    uses and sources are included. The journal, vectors, suppressed keys and other scopes are not.
    """
    # While others write: what is read after these cursors is read again after an import, and no source of a fact is missing.
    states = ports.store.conversations(ports.scope)[::-1]
    others = [memory for cascade in (False, True) for memory in _others(ports, cascade=cascade)]
    for state in ports.store.conversations(ports.scope)[::-1]:
        for memory in _messages(ports, state):
            shown = memory if reasoning or memory.reasoning is None else altered(memory, reasoning=None)
            yield ExportedMemory(memory=shown, where="")
    yield from _states(states)
    yield from (ExportedMemory(memory=memory, where="") for memory in others)
    ids = [memory.id for memory in others]
    yielded: set[tuple[str, str, str]] = set()
    for start in range(0, len(ids), BATCH):
        for link in ports.store.links(ports.scope, ids[start : start + BATCH]):
            place = (link.source, link.target, link.kind)
            if place not in yielded:
                yielded.add(place)
                yield ExportedLink(link=link, where="")


def _others(ports: Ports, *, cascade: bool) -> list[Memory]:
    """The memories that are no messages, without the summaries of conversations or only these."""
    where = Where(kinds=frozenset(KINDS) - {MESSAGE}, cascade=cascade)
    return sorted(ports.store.select((ports.scope,), where), key=_after_members)


def _after_members(memory: Memory) -> tuple[int, datetime, str]:
    """Orders memories so that a summary follows its members, which have a lower depth.

    Their times do not show it: a topic page keeps its time when it is written again with newer members.
    """
    return memory.depth, memory.recorded_at, memory.id


def _messages(ports: Ports, conversation: ConversationState) -> Iterator[Memory]:
    """The messages up to the last one of this state: an export ends while others go on writing."""
    after = 0
    while page := ports.store.select((ports.scope,), _page(conversation, after)):
        yield from page
        after = page[-1].seq


def _states(conversations: Sequence[ConversationState]) -> Iterator[ConversationTitle | ExportedCursor]:
    """The titles and the cursors of conversations."""
    for conversation in conversations:
        if conversation.title is not None:
            yield ConversationTitle(conversation=conversation.name, title=conversation.title, where="")
    for conversation in conversations:
        for cursor, seq in sorted(conversation.cursors.items()):
            yield ExportedCursor(conversation=conversation.name, cursor=cursor, seq=seq, where="")


def _page(conversation: ConversationState, after: int) -> Where:
    return Where(
        kinds=frozenset({MESSAGE}),
        conversation=conversation.name,
        after_seq=after,
        until_seq=conversation.last_seq,
        order="seq",
        limit=PAGE,
    )
