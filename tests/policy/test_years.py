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
