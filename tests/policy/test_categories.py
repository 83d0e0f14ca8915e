from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.retention.categories import DEFAULT, REGISTRY, category, expires_at, is_known, later

T = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("name", "days"),
    [("session_state", 1), ("tool_output", 7), ("project_status", 30), ("decision", 365), ("preference", 730)],
)
def test_times_to_live_are_those_of_the_sources(name: str, days: int) -> None:
    assert expires_at(name, T, None, {}) == T + days * DAY


def test_other_categories_do_not_expire() -> None:
    listed = {"session_state", "tool_output", "project_status", "decision", "preference"}
    assert all(expires_at(name, T, None, {}) is None for name in REGISTRY.keys() - listed)


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("decision", 1.0),
        ("gotcha", 0.9),
        ("preference", 0.8),
        ("finding", 0.7),
        ("observation", 0.5),
        ("tool_output", 0.3),
        ("other", 0.5),
    ],
)
def test_type_weights_are_those_of_the_sources(name: str, weight: float) -> None:
    assert category(name).weight == weight


def test_retention_stages_are_those_of_the_sources() -> None:
    assert category("tool_output").stage_days == 7
    assert category("observation").stage_days == 30
    assert category("finding").stage_days == category("gotcha").stage_days == 90
    assert (
        category("decision").stage_days is category("identity").stage_days is category("preference").stage_days is None
    )


def test_an_unknown_category_has_the_default_settings_and_is_recognised() -> None:
    assert category("weather") is DEFAULT is category("other")
    assert is_known("gotcha")
    assert not is_known("weather")


def test_identity_never_expires_under_any_settings() -> None:
    assert expires_at("identity", T, None, {"identity": 1.0}) is None
    assert category("identity").protected


def test_settings_override_the_registry_also_for_unknown_categories() -> None:
    assert expires_at("tool_output", T, None, {"tool_output": None}) is None
    assert expires_at("weather", T, None, {"weather": 0.5}) == T + DAY / 2


def test_use_extends_only_categories_anchored_at_the_last_use() -> None:
    used = T + 5 * DAY
    assert expires_at("preference", T, used, {}) == used + 730 * DAY
    assert expires_at("preference", T, T - DAY, {}) == T + 730 * DAY
    assert expires_at("tool_output", T, used, {}) == T + 7 * DAY
    assert expires_at("session_state", T, used, {}) == T + DAY


@given(st.datetimes(timezones=st.just(UTC)), st.floats(min_value=1e-6, max_value=1e6))
def test_dates_after_the_year_9999_raise_no_error(at: datetime, days: float) -> None:
    end = later(at, days)
    assert (end is None) == ((datetime.max.replace(tzinfo=UTC) - at) / DAY < days)
