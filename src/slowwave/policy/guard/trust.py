"""Trust: the kinds of source of a memory, and how far each is trusted."""

from collections.abc import Iterable
from typing import Final

from slowwave.errors import InputError, shown
from slowwave.model.memory import Trust

ORDER: Final[tuple[Trust, ...]] = ("user", "assistant", "tool", "import", "web", "llm")
"""Kinds of source, the most trusted first. System messages of a program count as the user's."""

PERSONS: Final[frozenset[Trust]] = frozenset({"user", "import"})
"""Kinds of source for which a person is responsible: messages of the user, and files that a person imported."""

VOUCHED_ROLES: Final = frozenset({"user", "assistant"})
"""Roles of a file that a person can vouch for: the words of the user, and the answers to them."""

_ROLES: Final[dict[str, Trust]] = {"user": "user", "system": "user", "assistant": "assistant", "tool": "tool"}


def checked_trust(name: object) -> Trust:
    """The kind of source of this name, or InputError."""
    for trust in ORDER:
        if isinstance(name, str) and trust == name:
            return trust
    raise InputError(f"trust={shown(name)}: use one of {', '.join(ORDER)}")


def trust_of_role(role: str) -> Trust:
    """The kind of source of a message with this role. The name of its speaker does not matter.

    >>> trust_of_role("user"), trust_of_role("tool")
    ('user', 'tool')
    """
    return _ROLES[role]


def least(sources: Iterable[Trust]) -> Trust:
    """The trust of a memory derived from several sources: that of the least trusted; "llm" without any source.

    Repetition therefore never raises trust.
    """
    return max(sources, key=_rank, default=ORDER[-1])


def relayed(source: Trust, through: Trust) -> Trust:
    """The trust of what a source said as another source reports it: at most that of either.

    A tool or a page outside, as an imported file reports it, is trusted as a page of the web: a person is responsible for
    the file, and not for what the tool answered.

    >>> relayed("user", "import"), relayed("tool", "import"), relayed("user", "web")
    ('import', 'web', 'web')
    """
    return least((source, "web" if source == "tool" and through == "import" else through))


def trust_of_message(role: str, through: Trust, *, vouched: bool = False) -> Trust:
    """The trust of a message with this role, as another source reports it.

    If a person vouches for the source, the messages of user and assistant have the trust of their role. What a tool said, and
    system messages, are trusted as without it: no person said them.

    >>> [trust_of_message(role, "import") for role in ("user", "assistant", "system", "tool")]
    ['import', 'import', 'import', 'web']
    >>> [trust_of_message(role, "import", vouched=True) for role in ("user", "assistant", "system", "tool")]
    ['user', 'assistant', 'import', 'web']
    """
    said = trust_of_role(role)
    return said if vouched and role in VOUCHED_ROLES else relayed(said, through)


def trusted(trust: str, bar: str) -> bool:
    """Whether a source is trusted at least as much as another; an unknown kind is trusted least.

    >>> trusted("user", "assistant"), trusted("web", "assistant")
    (True, False)
    """
    return _rank(trust) <= _rank(bar)


def outranks(trust: str, other: str) -> bool:
    """Whether a source is trusted more than another.

    >>> outranks("user", "tool"), outranks("user", "user")
    (True, False)
    """
    return _rank(trust) < _rank(other)


def _rank(trust: str) -> int:
    return ORDER.index(trust) if trust in ORDER else len(ORDER)
