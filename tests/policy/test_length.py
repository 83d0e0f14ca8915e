"""How long summaries may be, and what they hold."""

from hypothesis import given, strategies as st

from slowwave.policy.summaries.length import LEAST, MOST, PROFILES, SHORTEST, Profile, coverage, length, profile


@given(spoken=st.integers(0, 10**6), importance=st.floats(0, 1))
def test_a_summary_has_at_most_half_the_words_of_its_span(spoken: int, importance: float) -> None:
    for chosen in PROFILES.values():
        words = length(chosen, spoken=spoken, importance=importance)
        assert words == SHORTEST or SHORTEST < words <= spoken // 2


@given(st.floats(0, 1), st.floats(0, 1))
def test_higher_importance_never_yields_fewer_words(one: float, other: float) -> None:
    low, high = (length(Profile(), spoken=10_000, importance=value) for value in sorted((one, other)))
    assert Profile().words * LEAST <= low <= high <= Profile().words * MOST


def test_a_share_is_relative_to_the_words_of_the_span() -> None:
    assert length(profile("detailed"), spoken=1000, importance=0.1) == 200
    assert profile("gpt-5-mini") == profile("summarizer")


def test_coverage_counts_distinct_words_by_their_rarity() -> None:
    rarity = {"lisbon": 3.0, "moved": 1.0}.get
    said = ["I moved to Lisbon", "moved"]
    assert coverage("to Lisbon", said, lambda word: rarity(word, 0.0)) == 0.75
    assert coverage("", said, lambda word: rarity(word, 0.0)) == 0.0
    assert coverage("", ["the"], lambda _: 1.0) == 1.0
