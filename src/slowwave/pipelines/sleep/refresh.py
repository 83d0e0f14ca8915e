"""Refresh: a new date for what was looked at in vain."""

from slowwave.pipelines.making import chunked
from slowwave.pipelines.sleep.stage import Night, Staged


def refresh(night: Night) -> Staged:
    """Move the due memories that no stage wanted to the instant they next need attention."""
    unwanted = [memory for memory in night.open() if memory.id not in night.waiting]
    changes = [change for memory in unwanted if (change := night.later(memory)) is not None]
    night.taken.update(change.before.id for change in changes)
    return Staged(groups=chunked(changes, "looked at and left as they are"))
