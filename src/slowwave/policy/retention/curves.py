"""Forgetting curves: strength as a function of the days since the anchor, and the instant it falls below a threshold."""

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
_FAINTEST: Final = sys.float_info.min  # a strength may be tiny, but never nothing

POWER_DECAY: Final = 0.1
POWER_TAU_DAYS: Final = 7.0

AGE_WEIGHT, AGE_DAYS = 0.3, 30.0
USE_WEIGHT, USE_ENOUGH = 0.3, 10
IDLE_WEIGHT, IDLE_DAYS = 0.2, 7.0
TYPE_WEIGHT = 0.2


class Curve(Protocol):
    """A strength in (0, 1] that never rises with the days since its anchor."""

    def strength(self, days: float, /) -> float:
        """The strength after so many days, 0 or more."""
        ...

    def reach(self, threshold: float, /) -> float:
        """About how many days until it falls below; infinite if never."""
        ...


@dataclass(frozen=True, slots=True)
class HalfLife:
    """S0's curve: 0.5 ^ (days / half-life).

    >>> HalfLife(14.0).strength(28.0)
    0.25
    """

    half_life_days: float

    def strength(self, days: float, /) -> float:
        """1 at day 0, a half after each half-life."""
        return max(_FAINTEST, math.pow(0.5, days / self.half_life_days))

    def reach(self, threshold: float, /) -> float:
        """The half-life times log2(1 / threshold)."""
        return max(0.0, -self.half_life_days * math.log2(threshold))


@dataclass(frozen=True, slots=True)
class Ebbinghaus:
    """S1's curve: exp(-days / tau). An infinite tau never fades."""

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

    The exponent was measured on the order in which facts leave: by 0.1 an order by scale alone is hardly disturbed,
    steeper curves forget what was asked for later. A memory 0.1, 0.25, 0.5 or 1.0 (natural logarithm) above a
    threshold falls below it after 12, 78, 1,032 or 154,000 days.
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

    Days count from the last use; `head_days` is how much older the memory was then.
    """

    weight: float
    accesses: int = 0
    head_days: float = 0.0

    @property
    def rest(self) -> float:
        """What time cannot take: its type's weight and its uses."""
        return TYPE_WEIGHT * self.weight + USE_WEIGHT * min(self.accesses / USE_ENOUGH, 1.0)

    def parts(self, days: float) -> dict[str, float]:
        """The four shares of the score."""
        return {
            "recency": AGE_WEIGHT / (1.0 + (days + self.head_days) / AGE_DAYS),
            "use": USE_WEIGHT * min(self.accesses / USE_ENOUGH, 1.0),
            "freshness": IDLE_WEIGHT / (1.0 + days / IDLE_DAYS),
            "type": TYPE_WEIGHT * self.weight,
        }

    def strength(self, days: float, /) -> float:
        """Between the rest and 1."""
        recency = AGE_WEIGHT / (1.0 + (days + self.head_days) / AGE_DAYS)
        return min(1.0, recency + IDLE_WEIGHT / (1.0 + days / IDLE_DAYS) + self.rest)

    def reach(self, threshold: float, /) -> float:
        """The larger root of the quadratic in days that the sum of two hyperbolas makes; infinite if the rest is enough."""
        left = threshold - self.rest
        if left <= 0.0:
            return math.inf
        # left = r / (a + days) + f / (b + days), with
        r, a = AGE_WEIGHT * AGE_DAYS, AGE_DAYS + self.head_days
        f, b = IDLE_WEIGHT * IDLE_DAYS, IDLE_DAYS
        linear = a + b - (r + f) / left
        constant = a * b - (r * b + f * a) / left
        return max(0.0, (-linear + math.sqrt(max(0.0, linear * linear - 4.0 * constant))) / 2.0)


def days_between(anchor: datetime, now: datetime) -> float:
    """Days from anchor to now; 0 if the clock stands before it."""
    return max(0.0, (now - anchor) / _DAY)


def strength_at(curve: Curve, anchor: datetime, now: datetime) -> float:
    """The strength of a memory anchored then, now."""
    return curve.strength(days_between(anchor, now))


def first_below(curve: Curve, anchor: datetime, threshold: float) -> datetime | None:
    """The first instant, to the microsecond, at which the strength is below the threshold; None if that never comes.

    The closed form says where about; floats near the year 9999 cannot say it to the microsecond, so the last step is
    a search around it.
    """

    def below(microseconds: int) -> bool:
        return strength_at(curve, anchor, anchor + microseconds * _MICROSECOND) < threshold

    end = (_LAST - anchor) // _MICROSECOND
    if not below(end):
        return None
    reach = min(curve.reach(threshold) * _DAY_MICROSECONDS, float(end))
    return anchor + _first(below, near=min(int(reach), end), end=end) * _MICROSECOND


def _first(holds: Callable[[int], bool], *, near: int, end: int) -> int:
    """The smallest of 0..end at which something monotone holds, which it does at the end; quick if `near` is near."""
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
    """The nearest of the days 2^(k/4), so that memories fall into few classes that fade alike.

    >>> quarter_octave(22.5)
    22.627416997969522
    """
    return days if math.isinf(days) else octaves(bucket_index(days))


def bucket_index(days: float) -> int:
    """How many quarter octaves lie between one day and the nearest class.

    >>> quarters(2.0), quarters(0.5)
    (4, -4)
    """
    return round(4.0 * math.log2(days))


def octaves(quarters: int) -> float:
    """The days of a class: 2^(quarters / 4)."""
    return math.pow(2.0, quarters / 4.0)
