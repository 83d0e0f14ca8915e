import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.retention.curves import (
    Curve,
    Ebbinghaus,
    HalfLife,
    Hyperbolic,
    Power,
    bucket_days,
    days_between,
    first_below,
    strength_at,
)

T = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime.max.replace(tzinfo=UTC)
INSTANT = timedelta(microseconds=1)

times = st.datetimes(timezones=st.just(UTC))
days = st.floats(min_value=0, max_value=4e6)
constants = st.floats(min_value=1e-6, max_value=1e6)
shares = st.floats(min_value=0, max_value=1)
thresholds = st.floats(min_value=1e-6, max_value=0.999)
unit_curves = st.builds(HalfLife, constants) | st.builds(Ebbinghaus, constants | st.just(math.inf))
curves = (
    unit_curves
    | st.builds(Power, st.floats(min_value=0.01, max_value=1))
    | st.builds(Hyperbolic, shares, st.integers(min_value=0, max_value=10**6), days)
)


@pytest.mark.parametrize(("day", "strength"), [(1, 0.95), (7, 0.71), (14, 0.50), (28, 0.25), (60, 0.05)])
def test_a_half_life_of_14_days_reproduces_the_published_table(day: int, strength: float) -> None:
    assert HalfLife(14.0).strength(day) == pytest.approx(strength, abs=0.005)


def test_half_life_crosses_a_tenth_on_day_46() -> None:
    assert (first_below(HalfLife(14.0), T, 0.1) - T).days == 46


def test_an_episodic_memory_of_middling_importance_crosses_a_fifth_after_36_days() -> None:
    tau = 0.25 * 2 * 45
    assert (first_below(Ebbinghaus(tau), T, 0.2) - T).days == 36
    assert (first_below(Ebbinghaus(bucket_days(tau)), T, 0.2) - T).days == 36


@pytest.mark.parametrize(("above", "lasts"), [(0.1, 12), (0.25, 78), (0.5, 1_032), (1.0, 154_000)])
def test_the_power_curve_crosses_thresholds_as_measured(above: float, lasts: float) -> None:
    assert Power(0.1 * math.exp(above)).reach(0.1) == pytest.approx(lasts, rel=0.01)


@pytest.mark.parametrize(("weight", "day"), [(0.9, 494), (0.8, 234), (0.7, 147), (0.5, 78), (0.3, 49)])
def test_the_relevance_score_falls_below_a_fifth_on_the_day_computed_for_each_type(weight: float, day: int) -> None:
    at = first_below(Hyperbolic(weight), T, 0.2)
    assert math.ceil((at - T) / timedelta(days=1)) == day


def test_a_decision_never_falls_below_a_fifth() -> None:
    assert first_below(Hyperbolic(1.0), T, 0.2) is None
    assert Hyperbolic(1.0).reach(0.2) == math.inf


@pytest.mark.parametrize(("day", "recency"), [(0, 1.0), (30, 0.5), (60, 0.333), (90, 0.25), (365, 0.076)])
def test_recency_is_hyperbolic_not_a_half_life(day: int, recency: float) -> None:
    assert Hyperbolic(0.5).parts(day)["recency"] / 0.3 == pytest.approx(recency, abs=0.001)


def test_a_tool_output_used_a_hundred_times_scores_as_computed_after_a_year() -> None:
    assert Hyperbolic(0.3, 100, 365 - 91).strength(91) == pytest.approx(0.397, abs=0.001)


@given(st.builds(Hyperbolic, shares, st.integers(min_value=0, max_value=100), days), days)
def test_the_parts_of_a_score_add_up_to_it(curve: Hyperbolic, day: float) -> None:
    assert sum(curve.parts(day).values()) == pytest.approx(curve.strength(day))


@given(unit_curves)
def test_a_fresh_memory_has_strength_one(curve: Curve) -> None:
    assert curve.strength(0.0) == 1.0


@given(curves, times, times, times)
def test_strength_is_between_zero_and_one_and_never_rises(
    curve: Curve, anchor: datetime, one: datetime, other: datetime
) -> None:
    sooner, later = sorted((one, other))
    before, after = strength_at(curve, anchor, sooner), strength_at(curve, anchor, later)
    assert 0.0 < after <= before <= 1.0


@given(curves, times, thresholds)
def test_the_instant_of_a_crossing_is_exact(curve: Curve, anchor: datetime, threshold: float) -> None:
    at = first_below(curve, anchor, threshold)
    if at is None:
        assert strength_at(curve, anchor, END) >= threshold
        return
    assert strength_at(curve, anchor, at) < threshold
    assert at == anchor or strength_at(curve, anchor, at - INSTANT) >= threshold


@given(curves, times, thresholds, thresholds)
def test_a_lower_threshold_is_never_crossed_earlier(curve: Curve, anchor: datetime, one: float, other: float) -> None:
    low, high = sorted((one, other))
    first, second = first_below(curve, anchor, high), first_below(curve, anchor, low)
    assert (second or END) >= (first or END)


@given(unit_curves, times, times, thresholds)
def test_in_one_class_the_order_of_crossings_is_the_order_of_strengths(
    curve: Curve, one: datetime, other: datetime, threshold: float
) -> None:
    sooner, later = sorted((one, other))
    assert (first_below(curve, sooner, threshold) or END) <= (first_below(curve, later, threshold) or END)
    assert strength_at(curve, sooner, END) <= strength_at(curve, later, END)


def test_a_clock_before_the_anchor_counts_as_zero_days() -> None:
    assert days_between(T, T - timedelta(days=3)) == 0.0
    assert strength_at(HalfLife(1.0), T, T - timedelta(days=3)) == 1.0


@given(constants)
def test_rounding_moves_a_time_constant_by_less_than_a_tenth(tau: float) -> None:
    rounded = bucket_days(tau)
    assert abs(math.log2(rounded / tau)) <= 1 / 8 + 1e-9
    assert 4 * math.log2(rounded) == pytest.approx(round(4 * math.log2(rounded)), abs=1e-9)


def test_memories_that_never_fade_have_their_own_class() -> None:
    assert bucket_days(math.inf) == math.inf
