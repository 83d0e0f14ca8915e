"""Review: what reads as an instruction to a model, and was not said by the user, waits for a person to look at it."""

from collections.abc import Iterable
from typing import Final

from slowwave.model.memory import KINDS, Memory
from slowwave.model.query import Where
from slowwave.policy.guard.injection import instruction_shaped
from slowwave.policy.guard.redaction import redact
from slowwave.policy.guard.trust import trusted
from slowwave.ports import Ports

QUARANTINED: Final = "quarantined"
"""The phase of what waits: stored, but neither recalled nor distilled, in no context and in no summary."""


def suspect(text: str, trust: str) -> str | None:
    """Why a text from a source of this trust is to be looked at first, or None. The user may say anything."""
    return None if trusted(trust, "user") else instruction_shaped(text)


def review(ports: Ports) -> list[Memory]:
    """What waits for a person, oldest first; `reason` says what it looks like."""
    where = Where(kinds=frozenset(KINDS), phases=frozenset({QUARANTINED}), cascade=None)
    return ports.store.select((ports.scope,), where)


def secrets(texts: Iterable[str]) -> tuple[str, ...]:
    """A note for each kind of secret that a person states: it is kept, because the person says so."""
    kinds = dict.fromkeys(kind for text in texts for kind in redact(text).kinds)
    return tuple(f"it holds what looks like a secret ({kind}), kept as it was stated" for kind in kinds)
