"""One memory's next version: a move through the phases by law, or a use."""

from dataclasses import replace
from datetime import datetime

from slowwave.model.config import Config
from slowwave.model.memory import Memory
from slowwave.policy.lifecycle import family_of, step
from slowwave.policy.retention import due_at, reinforced

_REASONS = {
    "replace": "replaced",
    "duplicate": "duplicate",
    "consolidate": "consolidated",
    "expire": "expired",
    "fade": "faded",
    "stage": "stage",
    "trim": "budget",
    "retract": "retracted",
}


def moved(memory: Memory, event: str, config: Config, now: datetime, **fields: object) -> Memory:
    """The memory after the event, with its phase, its reason and the instant it next needs attention.

    Raises:
        PhaseError: if the law knows no such step.
    """
    after = replace(
        memory,
        phase=step(family_of(memory), memory.phase, event),
        reason=_REASONS.get(event),
        version=memory.version + 1,
        **fields,  # type: ignore[arg-type]  # the caller names fields of Memory
    )
    return replace(after, due_at=due_at(after, config, after=now) if after.hot else None)


def used(memory: Memory, config: Config, now: datetime, session: str | None) -> Memory:
    """The memory after one more use: anchor, stability and counters, no new version."""
    return reinforced(memory, config, now, session)
