"""The law of phases: which event turns which phase into which, for every family of memory."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from slowwave.errors import InputError
from slowwave.model.memory import MESSAGE, Memory

FACT: Final = "fact"
CASCADE: Final = "cascade"
FAMILIES: Final = (MESSAGE, FACT, CASCADE)

REASONS: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "promote": None,  # used often enough for core
        "demote": None,
        "expire": "expired",  # its time to live is over
        "fade": "faded",  # below the forgetting threshold
        "stage": "stage",  # past its retention stage
        "trim": "budget",  # over a size target
        "consolidate": "consolidated",  # a summary stands for it
        "merge": "duplicate",  # another memory says the same
        "replace": "replaced",  # something newer is true instead
        "retract": None,  # taken back, nothing instead
        "revive": None,  # out of cold storage
        "restore": None,  # what took its place, or the retraction, is gone
        "quarantine": None,  # a person shall look at it
        "release": None,
        "reject": None,
    }
)
"""Every event, and the reason a memory carries after it."""

# What can happen to anything that is stored.
_COMMON: Final = {
    ("active", "retract"): "retracted",
    ("quarantined", "retract"): "retracted",
    ("retracted", "restore"): "active",
    ("active", "quarantine"): "quarantined",
    ("quarantined", "release"): "active",
    ("quarantined", "reject"): "retracted",
}
_SUPERSEDED: Final = {
    ("active", "replace"): "superseded",
    ("superseded", "retract"): "retracted",
    ("superseded", "restore"): "active",
}
_STORED_AWAY: Final = {
    ("active", "trim"): "cold",
    ("cold", "revive"): "active",
    ("cold", "retract"): "retracted",
    ("cold", "quarantine"): "quarantined",
}

# The law. Messages know no fading: only a size target moves them. Core is left by demotion, by a person, or because
# something newer is true: never by fading, merging or compressing. Pinning changes no phase.
_LAW: Final[Mapping[str, Mapping[tuple[str, str], str]]] = MappingProxyType(
    {
        MESSAGE: MappingProxyType(_COMMON | _STORED_AWAY),
        FACT: MappingProxyType(
            _COMMON
            | _SUPERSEDED
            | _STORED_AWAY
            | {
                ("active", "promote"): "core",
                ("core", "demote"): "active",
                ("core", "replace"): "superseded",
                ("core", "retract"): "retracted",
                ("core", "quarantine"): "quarantined",
                ("active", "expire"): "cold",
                ("active", "fade"): "cold",
                ("active", "stage"): "cold",
                ("active", "consolidate"): "superseded",
                ("cold", "consolidate"): "superseded",
                ("active", "merge"): "superseded",
                ("cold", "merge"): "superseded",
                ("cold", "replace"): "superseded",
            }
        ),
        CASCADE: MappingProxyType(_COMMON | _SUPERSEDED),
    }
)


class PhaseError(InputError):
    """An event that cannot happen to a memory in this phase; the message lists what can."""


def family(memory: Memory) -> str:
    """Which law a memory lives under: "message", "cascade" (a summary with a span) or "fact"."""
    if memory.kind == MESSAGE:
        return MESSAGE
    return CASCADE if memory.is_cascade else FACT


def step(family: str, phase: str, event: str) -> str:
    """The phase after an event.

    >>> step("fact", "active", "fade")
    'cold'

    Raises:
        PhaseError: if it is not in the table, listing what is.
    """
    after = _LAW[family].get((phase, event))
    if after is None:
        allowed = ", ".join(possible(family, phase)) or "nothing"
        raise PhaseError(f"a {family} that is {phase} cannot {event}: possible is {allowed}")
    return after


def reason(event: str) -> str | None:
    """The reason a memory carries after an event: set with its phase, in the same change.

    >>> reason("trim")
    'budget'
    """
    return REASONS[event]


def possible(family: str, phase: str) -> tuple[str, ...]:
    """The events that can happen to a memory in this phase, in alphabetical order."""
    return tuple(sorted(event for known, event in _LAW[family] if known == phase))
