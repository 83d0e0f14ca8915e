"""The branches of a conversation in which messages were edited or answered again."""

from collections.abc import Mapping
from datetime import datetime

OTHER_BRANCH = "on another branch: edited or answered again"
CYCLE = "its messages form a cycle: the messages before it were read"
NO_BEGINNING = "its beginning is missing: the messages after it were read"


def thread(
    parents: Mapping[str, str | None], times: Mapping[str, datetime], current: object
) -> tuple[list[str], str | None]:
    """The keys from the root to the current message, and a problem on the way.

    Args:
        parents: the key of the message before each message; None begins a conversation.
        times: the times of messages that have one.
        current: the key of the last message. If there is no such message, the newest one that nothing follows is taken.
    """
    key = current if isinstance(current, str) and current in parents else _newest_leaf(parents, times)
    found: list[str] = []
    seen: set[str] = set()
    while key is not None:
        if key in seen:
            return found[::-1], CYCLE
        if key not in parents:
            return found[::-1], NO_BEGINNING
        seen.add(key)
        found.append(key)
        key = parents[key]
    return found[::-1], None


def _newest_leaf(parents: Mapping[str, str | None], times: Mapping[str, datetime]) -> str | None:
    followed = set(parents.values())
    leaves = [key for key in parents if key not in followed] or list(parents)
    dated = [(times[key].timestamp() if key in times else 0.0, place, key) for place, key in enumerate(leaves)]
    return max(dated)[2] if dated else None
