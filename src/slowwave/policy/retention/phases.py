"""The state machine of phases: which event leads from which phase to which, for each family of memory."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from slowwave.errors import InputError
from slowwave.model.memory import MESSAGE, NOTE, REJECTED, Memory

FACT: Final = "fact"
CASCADE: Final = "cascade"

REASONS: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "promote": None,  # used often enough for core memory
        "demote": None,
        "expire": "expired",  # past its time to live
        "fade": "faded",  # below the forgetting threshold
        "stage": "stage",  # past its retention stage
        "trim": "budget",  # over a size target
        "consolidate": "consolidated",  # a summary replaces it
        "merge": "duplicate",  # another memory says the same
        "replace": "replaced",  # a newer fact supersedes it
        "retract": None,  # withdrawn without a successor
        "revive": None,  # moved from cold to hot
        "restore": None,  # its successor or its retraction was undone
        "quarantine": None,  # waits for review by a person
        "release": None,
        "reject": REJECTED,
    }
)
"""Every event -> the reason that a memory has after it."""

# Transitions of all families.
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
_ARCHIVED: Final = {
    ("active", "trim"): "cold",
    ("cold", "revive"): "active",
    ("cold", "retract"): "retracted",
    ("cold", "quarantine"): "quarantined",
}

# Messages do not fade: only a size limit archives them. A core fact leaves core by demotion, by a person, or because a newer
# fact supersedes it; never by fading, merging or compressing. Pinning changes no phase. A note is archived only after its
# own end.
_TRANSITIONS: Final[Mapping[str, Mapping[tuple[str, str], str]]] = MappingProxyType(
    {
        MESSAGE: MappingProxyType(_COMMON | _ARCHIVED),
        FACT: MappingProxyType(
            _COMMON
            | _SUPERSEDED
            | _ARCHIVED
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
        NOTE: MappingProxyType(
            _COMMON
            | {
                ("active", "expire"): "cold",
                ("cold", "revive"): "active",
                ("cold", "retract"): "retracted",
                ("cold", "quarantine"): "quarantined",
            }
        ),
    }
)


class PhaseError(InputError):
    """An event that is not possible in this phase. The message lists the possible ones."""


def family(memory: Memory) -> str:
    """The family of a memory: "message", "cascade" (a summary with a span), "note" or "fact"."""
    if memory.kind in {MESSAGE, NOTE}:
        return memory.kind
    return CASCADE if memory.is_cascade else FACT


def step(family: str, phase: str, event: str) -> str:
    """The phase after an event.

    >>> step("fact", "active", "fade")
    'cold'

    Raises:
        PhaseError: if the event is not possible in this phase.
    """
    after = _TRANSITIONS[family].get((phase, event))
    if after is None:
        allowed = ", ".join(possible(family, phase)) or "nothing"
        raise PhaseError(f"a {family} that is {phase} cannot {event}: possible is {allowed}")
    return after


def reason(event: str, phase: str = "active") -> str | None:
    """The reason that a memory of a phase has after an event; it is set in the same change as the phase.

    What is retracted while it waits for review is rejected, whoever retracts it: it stays withheld.

    >>> reason("trim"), reason("retract"), reason("retract", "quarantined")
    ('budget', None, 'rejected')
    """
    return REJECTED if (phase, event) == ("quarantined", "retract") else REASONS[event]


def has_expired(memory: Memory) -> bool:
    """Whether a sleep pass archived the memory because its time was over."""
    return memory.phase == "cold" and memory.reason == "expired"


def possible(family: str, phase: str) -> tuple[str, ...]:
    """The possible events in this phase, in alphabetical order."""
    return tuple(sorted(event for before, event in _TRANSITIONS[family] if before == phase))
