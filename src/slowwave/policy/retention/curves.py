"""Forgetting curves: strength as a function of the days since the last use, and when it falls below a threshold."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_DAY: Final = timedelta(days=1)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAY_MICROSECONDS: Final = 86_400_000_000
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_FAINTEST: Final = sys.float_info.min  # a strength is never 0

POWER_DECAY: Final = 0.1
POWER_TAU_DAYS: Final = 7.0

AGE_WEIGHT, AGE_DAYS = 0.3, 30.0
USE_WEIGHT, USE_ENOUGH = 0.3, 10
IDLE_WEIGHT, IDLE_DAYS = 0.2, 7.0
TYPE_WEIGHT = 0.2


class Curve(Protocol):
    """A strength in (0, 1] that never rises with the days since the anchor (the last use)."""

    def strength(self, days: float, /) -> float:
        """The strength after this many days (0 or more)."""
        ...

    def reach(self, threshold: float, /) -> float:
        """Approximately the days until the strength falls below the threshold; infinite if it never does."""
        ...


@dataclass(frozen=True, slots=True)
class HalfLife:
    """S0's curve: 0.5 ^ (days / half-life).

    >>> HalfLife(14.0).strength(28.0)
    0.25
    """

    half_life_days: float

    def strength(self, days: float, /) -> float:
        """1 at day 0, halved by each half-life."""
        return max(_FAINTEST, math.pow(0.5, days / self.half_life_days))

    def reach(self, threshold: float, /) -> float:
        """The half-life times log2(1 / threshold)."""
        return max(0.0, -self.half_life_days * math.log2(threshold))


@dataclass(frozen=True, slots=True)
class Ebbinghaus:
    """S1's curve: exp(-days / tau). With an infinite tau the strength stays 1."""

    tau_days: float

    def strength(self, days: float, /) -> float:
        """1 at day 0, 1/e after tau days."""
        return max(_FAINTEST, math.exp(-days / self.tau_days))

    def reach(self, threshold: float, /) -> float:
        """Tau times ln(1 / threshold)."""
        return max(0.0, -self.tau_days * math.log(threshold))


@dataclass(frozen=True, slots=True)
class Power:
    """A scale times (1 + days/7) ^ -0.1: steep in the first week, almost flat after a year.

    The exponent was measured by the order in which facts are archived: with 0.1 the order hardly differs from the order by
    scale; steeper curves archive facts that later questions need. A memory whose strength is 0.1, 0.25, 0.5 or 1.0 (natural
    logarithm) above a threshold falls below it after 12, 78, 1,032 or 154,000 days.
    """

    scale: float

    def strength(self, days: float, /) -> float:
        """The scale at day 0."""
        return self.scale * math.pow(1.0 + days / POWER_TAU_DAYS, -POWER_DECAY)

    def reach(self, threshold: float, /) -> float:
        """7 * ((scale / threshold) ^ 10 - 1)."""
        return max(0.0, POWER_TAU_DAYS * (math.pow(self.scale / threshold, 1.0 / POWER_DECAY) - 1.0))


@dataclass(frozen=True, slots=True)
class Hyperbolic:
    """S3's relevance score: 0.3 / (1 + age/30) + 0.3 min(accesses/10, 1) + 0.2 / (1 + idle/7) + 0.2 weight.

    Days count from the last use; `head_days` is the age of the memory at its last use.
    """

    weight: float
    accesses: int = 0
    head_days: float = 0.0

    @property
    def constant(self) -> float:
        """The part that does not depend on time: the weight of the type, and the uses."""
        return TYPE_WEIGHT * self.weight + USE_WEIGHT * min(self.accesses / USE_ENOUGH, 1.0)

    def parts(self, days: float) -> dict[str, float]:
        """The four parts of the score."""
        return {
            "recency": AGE_WEIGHT / (1.0 + (days + self.head_days) / AGE_DAYS),
            "use": USE_WEIGHT * min(self.accesses / USE_ENOUGH, 1.0),
            "freshness": IDLE_WEIGHT / (1.0 + days / IDLE_DAYS),
            "type": TYPE_WEIGHT * self.weight,
        }

    def strength(self, days: float, /) -> float:
        """Between `constant` and 1."""
        recency = AGE_WEIGHT / (1.0 + (days + self.head_days) / AGE_DAYS)
        return min(1.0, recency + IDLE_WEIGHT / (1.0 + days / IDLE_DAYS) + self.constant)

    def reach(self, threshold: float, /) -> float:
        """The larger root of the quadratic equation of the two hyperbolas; infinite if `constant` reaches the threshold."""
        remaining = threshold - self.constant
        if remaining <= 0.0:
            return math.inf
        # Solved for days: remaining = r / (a + days) + f / (b + days)
        r, a = AGE_WEIGHT * AGE_DAYS, AGE_DAYS + self.head_days
        f, b = IDLE_WEIGHT * IDLE_DAYS, IDLE_DAYS
        linear = a + b - (r + f) / remaining
        constant = a * b - (r * b + f * a) / remaining
        return max(0.0, (-linear + math.sqrt(max(0.0, linear * linear - 4.0 * constant))) / 2.0)


def days_between(anchor: datetime, now: datetime) -> float:
    """The days from the anchor to now; 0 if the clock is before the anchor."""
    return max(0.0, (now - anchor) / _DAY)


def strength_at(curve: Curve, anchor: datetime, now: datetime) -> float:
    """The present strength of a memory with this anchor."""
    return curve.strength(days_between(anchor, now))


def first_below(curve: Curve, anchor: datetime, threshold: float) -> datetime | None:
    """The first instant, to the microsecond, at which the strength is below the threshold; None if it never is.

    The closed form gives it approximately, because floats are not exact to the microsecond near the year 9999. A search
    around it then finds the exact instant.
    """

    def below(microseconds: int) -> bool:
        return strength_at(curve, anchor, anchor + microseconds * _MICROSECOND) < threshold

    end = (_LAST - anchor) // _MICROSECOND
    if not below(end):
        return None
    reach = min(curve.reach(threshold) * _DAY_MICROSECONDS, float(end))
    return anchor + _first(below, near=min(int(reach), end), end=end) * _MICROSECOND


def _first(holds: Callable[[int], bool], *, near: int, end: int) -> int:
    """The smallest of 0..end at which a monotone condition holds. It holds at `end`; the search starts at `near`."""
    low, high, stride = near, near, 1
    while not holds(high):
        low, high, stride = high + 1, min(high + stride, end), stride * 2
    stride = 1
    while low and holds(low - 1):
        high, low, stride = low - 1, max(low - 1 - stride, 0), stride * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


def bucket_days(days: float) -> float:
    """The nearest of the numbers of days 2^(k/4), so that few decay classes exist.

    >>> bucket_days(22.5)
    22.627416997969522
    """
    return days if math.isinf(days) else octaves(bucket_index(days))


def bucket_index(days: float) -> int:
    """The number of quarter octaves from one day to the nearest class.

    >>> bucket_index(2.0), bucket_index(0.5)
    (4, -4)
    """
    return round(4.0 * math.log2(days))


def octaves(quarters: int) -> float:
    """The number of days of a class: 2^(quarters / 4)."""
    return math.pow(2.0, quarters / 4.0)
