"""Looks up conversations: the latest one, and what to say of one that is not there."""

from slowwave.model.memory import MESSAGE
from slowwave.model.query import Where
from slowwave.ports import Ports

NAMED = 5
"""Names of conversations that an error lists."""


def latest_conversation(ports: Ports) -> str | None:
    """The conversation written to last; one index read."""
    found = ports.store.select((ports.scope,), Where(kinds=frozenset({MESSAGE}), order="newest", limit=1))
    return found[0].conversation if found else None


def unknown_conversation(ports: Ports, name: str) -> str:
    """That there is no conversation of a name, and which there are."""
    names = [found.name for found in ports.store.conversations(ports.scope) if found.name]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    there = f"there are {', '.join(names[:NAMED])}{more}" if names else "there is none yet"
    return f"no conversation {name!r}: {there}"
