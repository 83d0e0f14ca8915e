"""Outgoing: everything a scope holds, as the records of an export."""

from collections.abc import Iterator
from typing import Final

from slowwave.model.exchange import ExportedCursor, ExportedLink, ExportedMemory, Item
from slowwave.model.memory import KINDS, MESSAGE
from slowwave.model.query import Where
from slowwave.ports import Ports

PAGE: Final = 2000
"""Messages that are read at once."""
BATCH: Final = 500
"""Facts whose links are read at once."""


def outgoing(ports: Ports) -> Iterator[Item]:
    """Everything a scope holds, in an order that can be taken in: messages, cursors, facts, summaries, links.

    Phases, times, uses and sources are in it. The journal, vectors, what undo holds and other scopes are not.
    """
    scope = (ports.scope,)
    conversations = sorted(ports.store.conversations(ports.scope), key=lambda one: one.name)
    for found in conversations:
        after = 0
        while page := ports.store.select(scope, _page(found.name, after)):
            yield from (ExportedMemory(memory=memory, where="") for memory in page)
            after = page[-1].seq
    for found in conversations:
        for cursor, seq in sorted(found.cursors.items()):
            yield ExportedCursor(conversation=found.name, cursor=cursor, seq=seq, where="")
    ids: list[str] = []
    for cascade in (False, True):
        where = Where(kinds=frozenset(KINDS) - {MESSAGE}, cascade=cascade)
        for memory in sorted(ports.store.select(scope, where), key=lambda one: (one.recorded_at, one.id)):
            ids.append(memory.id)
            yield ExportedMemory(memory=memory, where="")
    told: set[tuple[str, str, str]] = set()
    for start in range(0, len(ids), BATCH):
        for link in ports.store.links(ports.scope, ids[start : start + BATCH]):
            place = (link.source, link.target, link.kind)
            if place not in told:
                told.add(place)
                yield ExportedLink(link=link, where="")


def _page(conversation: str, after: int) -> Where:
    return Where(kinds=frozenset({MESSAGE}), conversation=conversation, after_seq=after, order="seq", limit=PAGE)
