"""Looks up conversations, their messages and their summaries."""

from typing import Final

from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.message import Message
from slowwave.model.query import Where
from slowwave.policy.summaries.spans import ERA_SIZE
from slowwave.ports import Ports

NAMED = 5
"""Names of conversations that an error lists."""
NEWEST_SUMMARIES = 2 * ERA_SIZE + 4
"""How many summaries the last full era, the next one and their stretches can be."""

READABLE: Final = frozenset({"active", "cold"})
"""Phases of messages that a conversation shows: not those taken back or under review."""
UNDER_REVIEW: Final = frozenset({"quarantined"})
WITHHELD: Final = "[withheld for review]"
"""The content of a message under review where its place in the conversation is shown."""


def conversation_messages(ports: Ports, name: str, *, withheld: bool = False) -> list[Message]:
    """The messages of a conversation in order, without those taken back.

    Args:
        ports: the store and the scope.
        name: of the conversation.
        withheld: also show the place of each message under review, with `WITHHELD` for its words and without its
            speaker. A tool call then keeps its output, without which model providers refuse a history. False: leave
            them out.
    """
    phases = READABLE | UNDER_REVIEW if withheld else READABLE
    where = Where(kinds=frozenset({MESSAGE}), phases=phases, conversation=name, order="seq")
    return [as_said(memory) for memory in ports.store.select((ports.scope,), where)]


def as_said(memory: Memory) -> Message:
    """A stored message as the caller passed it; of one under review only its place."""
    hidden = memory.phase in UNDER_REVIEW
    return Message(
        role=memory.role or "user",
        content=WITHHELD if hidden else memory.text,
        speaker=None if hidden else memory.speaker,
        at=memory.at,
        id=memory.ref or memory.id,
    )


def latest_conversation(ports: Ports) -> str | None:
    """The conversation written to last; one index read."""
    newest = ports.store.select((ports.scope,), Where(kinds=frozenset({MESSAGE}), order="newest", limit=1))
    return newest[0].conversation if newest else None


def unknown_conversation(ports: Ports, name: str) -> str:
    """The error for a conversation that does not exist, with the names of those that do."""
    names = [conversation.name for conversation in ports.store.conversations(ports.scope) if conversation.name]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    known = f"there are {', '.join(names[:NAMED])}{more}" if names else "there is none yet"
    return f"no conversation {name!r}: {known}"


def conversation_summaries(ports: Ports, name: str, limit: int | None = None) -> list[Memory]:
    """The hot summaries of stretches of a conversation, oldest first; of more than `limit` the newest."""
    where = Where(
        kinds=frozenset({SUMMARY}),
        phases=frozenset(HOT),
        conversation=name,
        cascade=True,
        order="newest",
        limit=limit,
    )
    return ports.store.select((ports.scope,), where)[::-1]
