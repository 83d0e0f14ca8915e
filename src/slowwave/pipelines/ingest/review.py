"""Finds texts that read as instructions to a model and are not from the user. They wait for a person's review."""

from collections.abc import Iterable
from typing import Final

from slowwave.model.memory import KINDS, Memory
from slowwave.model.query import Where
from slowwave.pipelines.planning import check_reviews
from slowwave.policy.guard.redaction import redact
from slowwave.policy.guard.trust import trusted
from slowwave.ports import Ports

QUARANTINED: Final = "quarantined"
"""The phase of a memory under review: it is stored, but not in searches, contexts, facts or summaries."""


def suspect(text: str, trust: str) -> str | None:
    """Why a text from a source of this trust needs review, or None. A text of the user never does."""
    if trusted(trust, "user"):
        return None
    from slowwave.policy.guard.injection import instruction_shaped  # noqa: PLC0415 - texts of the user do without

    return instruction_shaped(text)


def review(ports: Ports) -> list[Memory]:
    """The memories under review, oldest first; `reason` says why.

    Raises:
        TrustError: the reader of these ports may not review.
    """
    check_reviews(ports, "this lists what waits for review")
    where = Where(kinds=frozenset(KINDS), phases=frozenset({QUARANTINED}), cascade=None)
    return ports.store.select((ports.scope,), where)


def secrets(texts: Iterable[str]) -> tuple[str, ...]:
    """A note for each kind of secret in stated texts, which are stored as they are."""
    kinds = dict.fromkeys(kind for text in texts for kind in redact(text).kinds)
    return tuple(f"it holds what looks like a secret ({kind}), kept as it was stated" for kind in kinds)
