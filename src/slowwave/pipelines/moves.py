"""One memory's next version: a move through the phases by law, or a use."""

from dataclasses import replace
from datetime import datetime

from slowwave.model.config import Config
from slowwave.model.memory import HOT, Memory, altered
from slowwave.policy.core import promotes
from slowwave.policy.lifecycle import family, reason, step
from slowwave.policy.retention import planned, reinforced


def moved(memory: Memory, event: str, config: Config, **fields: object) -> Memory:
    """The memory after the event, with its phase, its reason and the instant it next needs attention.

    Raises:
        PhaseError: if the law knows no such step.
    """
    phase = step(family(memory), memory.phase, event)
    put_away: dict[str, object] = {} if phase in HOT else {"due_at": None, "pace": None}
    after = altered(
        memory,
        phase=phase,
        reason=reason(event),
        version=memory.version + 1,
        **put_away,
        **fields,
    )
    return after if put_away else dated(after, config)


def dated(memory: Memory, config: Config) -> Memory:
    """The memory with the instant it needs attention, which may have passed; what is not hot needs none."""
    return planned(memory, config)


def put_off(memory: Memory, config: Config, now: datetime) -> Memory:
    """The memory, looked at and left as it is, with the next instant after now at which it needs attention."""
    return planned(memory, config, after=now)


def used(memory: Memory, config: Config, now: datetime, session: str | None) -> Memory:
    """The memory after one more use: anchor, stability and counters, no new version. One that earned core is due."""
    after = reinforced(memory, config, now, session)
    return replace(after, due_at=now) if after.phase == "active" and promotes(after, config) else after
