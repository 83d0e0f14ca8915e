"""Looks up conversations and their summaries."""

from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.query import Where
from slowwave.policy.summaries.spans import ERA_SIZE
from slowwave.ports import Ports

NAMED = 5
"""Names of conversations that an error lists."""
NEWEST_SUMMARIES = 2 * ERA_SIZE + 4
"""How many summaries the last full era, the next one and their stretches can be."""


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
