"""Dates without a year take the nearest year that fits the tense of their sentence."""

from datetime import UTC, datetime

import pytest
from tests.policy.dated_sentences import COMING, PAST_OR_UNKNOWN

from slowwave.policy.text.dates import resolve


@pytest.mark.parametrize(("said", "at", "resolved"), COMING)
def test_coming_dates_take_the_year_in_which_they_come(said: str, at: str, resolved: str) -> None:
    assert resolve(said, datetime.fromisoformat(at).replace(tzinfo=UTC)) == resolved


@pytest.mark.parametrize(("said", "at", "resolved"), PAST_OR_UNKNOWN)
def test_past_dates_take_their_year_and_unclear_ones_stay(said: str, at: str, resolved: str) -> None:
    assert resolve(said, datetime.fromisoformat(at).replace(tzinfo=UTC)) == resolved


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada and I haven't spoken in two years", "Ada and I haven't spoken in two years"),
        ("It is the first snow in three years", "It is the first snow in three years"),
        ("I haven't packed. I leave in two weeks", "I haven't packed. I leave in the week of 9 March 2026"),
    ],
)
def test_a_duration_in_which_something_did_not_happen_is_no_future_date(text: str, expected: str) -> None:
    assert resolve(text, datetime(2026, 3, 1, tzinfo=UTC)) == expected
