"""Reads everything a scope contains, as the records of an export."""

from collections.abc import Iterator, Sequence
from typing import Final

from slowwave.model.exchange import ConversationTitle, ExportedCursor, ExportedLink, ExportedMemory, Item
from slowwave.model.memory import KINDS, MESSAGE
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.ports import Ports

PAGE: Final = 2000
"""Messages that are read at once."""
BATCH: Final = 500
"""Facts whose links are read at once."""


def outgoing(ports: Ports) -> Iterator[Item]:
    """Everything a scope contains, in an order that can be imported: messages, titles, cursors, facts, summaries, links.

    Phases, times, uses and sources are included. The journal, vectors, suppressed keys and other scopes are not.
    """
    scope = (ports.scope,)
    conversations = sorted(ports.store.conversations(ports.scope), key=lambda conversation: conversation.name)
    for conversation in conversations:
        after = 0
        while page := ports.store.select(scope, _page(conversation.name, after)):
            yield from (ExportedMemory(memory=memory, where="") for memory in page)
            after = page[-1].seq
    yield from _states(conversations)
    ids: list[str] = []
    for cascade in (False, True):
        where = Where(kinds=frozenset(KINDS) - {MESSAGE}, cascade=cascade)
        for memory in sorted(ports.store.select(scope, where), key=lambda fact: (fact.recorded_at, fact.id)):
            ids.append(memory.id)
            yield ExportedMemory(memory=memory, where="")
    yielded: set[tuple[str, str, str]] = set()
    for start in range(0, len(ids), BATCH):
        for link in ports.store.links(ports.scope, ids[start : start + BATCH]):
            place = (link.source, link.target, link.kind)
            if place not in yielded:
                yielded.add(place)
                yield ExportedLink(link=link, where="")


def _states(conversations: Sequence[ConversationState]) -> Iterator[ConversationTitle | ExportedCursor]:
    """The titles and the cursors of conversations."""
    for conversation in conversations:
        if conversation.title is not None:
            yield ConversationTitle(conversation=conversation.name, title=conversation.title, where="")
    for conversation in conversations:
        for cursor, seq in sorted(conversation.cursors.items()):
            yield ExportedCursor(conversation=conversation.name, cursor=cursor, seq=seq, where="")


def _page(conversation: str, after: int) -> Where:
    return Where(kinds=frozenset({MESSAGE}), conversation=conversation, after_seq=after, order="seq", limit=PAGE)
