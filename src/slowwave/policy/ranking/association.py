"""Associations between facts that are used together: their weight fades if it is not renewed, and below 0.3 counts as 0."""

from datetime import datetime
from math import exp
from typing import Final

from slowwave.policy.retention.curves import days_between

FADES_DAYS: Final = 90.0
LEAST_WEIGHT: Final = 0.3


def decayed_weight(weight: float, at: datetime, now: datetime) -> float:
    """The present weight of an association that was last renewed at `at`: weight * exp(-days / 90).

    >>> from datetime import timedelta, timezone
    >>> at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    >>> round(decayed_weight(0.8, at, at + timedelta(days=88)), 2)
    0.3
    """
    return weight * exp(-days_between(at, now) / FADES_DAYS)


def effective_weight(weight: float, at: datetime, now: datetime) -> float:
    """The present weight, or 0 below 0.3."""
    current = decayed_weight(weight, at, now)
    return current if current >= LEAST_WEIGHT else 0.0
