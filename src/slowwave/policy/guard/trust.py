"""Trust: where a memory comes from, and how far that is believed."""

from collections.abc import Iterable
from typing import Final

from slowwave.model.memory import Trust

ORDER: Final[tuple[Trust, ...]] = ("user", "assistant", "tool", "import", "web", "llm")
"""Kinds of source, the most trusted first. What a program's own system message says counts as the user's."""

_ROLES: Final[dict[str, Trust]] = {"user": "user", "system": "user", "assistant": "assistant", "tool": "tool"}


def trust_of_role(role: str) -> Trust:
    """The kind of source that a message of this role is, whatever the name of its speaker.

    >>> trust_of_role("user"), trust_of_role("tool")
    ('user', 'tool')
    """
    return _ROLES[role]


def least(sources: Iterable[Trust]) -> Trust:
    """The trust of what is derived from several sources: that of the least trusted; "llm" if it rests on none.

    Repetition never raises it.
    """
    return max(sources, key=_distance, default=ORDER[-1])


def trusted(trust: str, bar: str) -> bool:
    """Whether a source is believed at least as far as another; an unknown one is believed least.

    >>> trusted("user", "assistant"), trusted("web", "assistant")
    (True, False)
    """
    return _distance(trust) <= _distance(bar)


def outranks(trust: str, other: str) -> bool:
    """Whether a source is believed further than another.

    >>> outranks("user", "tool"), outranks("user", "user")
    (True, False)
    """
    return _distance(trust) < _distance(other)


def _distance(trust: str) -> int:
    return ORDER.index(trust) if trust in ORDER else len(ORDER)
