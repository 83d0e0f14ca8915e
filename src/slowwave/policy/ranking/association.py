"""Associations: facts that are used together are joined; a join that is not renewed fades, and a weak one says nothing."""

from datetime import datetime
from math import exp
from typing import Final

from slowwave.policy.retention.curves import days_between

FADES_DAYS: Final = 90.0
SAYS_NOTHING: Final = 0.3


def decayed_weight(weight: float, at: datetime, now: datetime) -> float:
    """What a join of that weight, last renewed then, weighs now: weight * exp(-days / 90).

    >>> from datetime import timedelta, timezone
    >>> at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    >>> round(weight_now(0.8, at, at + timedelta(days=88)), 2)
    0.3
    """
    return weight * exp(-days_between(at, now) / FADES_DAYS)


def effective_weight(weight: float, at: datetime, now: datetime) -> float:
    """The weight with which it counts: 0 below 0.3."""
    current = decayed_weight(weight, at, now)
    return current if current >= SAYS_NOTHING else 0.0
