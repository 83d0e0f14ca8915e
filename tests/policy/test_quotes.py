"""Quotes are found whatever became of their typography, and not in the middle of a word."""

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.text.quotes import locate


@pytest.mark.parametrize(
    ("quote", "text", "stands"),
    [
        ("it's  Argon2", "Now it’s argon2, ok", "it’s argon2"),
        ("“a salt”", "with a salt.", "a salt"),
        ("use Argon2 here", "we **use** `Argon2`\n here", "use** `Argon2`\n here"),
        ("really likes climbing rock", "I really like climbing rocks", "really like climbing rocks"),
        ("住在东京", "我住在东京，喜欢", "住在东京"),
        ("STRASSE", "Hauptstraße, Straße", "Straße"),
        ("I realy like climbing rocks", "Well, I really like climbing rocks, yes", "I really like climbing rocks"),
        (
            "our service uses Argon2 with 12-byte salt",
            "So our service uses Argon2 with a 12-byte salt now",
            "our service uses Argon2 with a 12-byte salt",
        ),
    ],
)
def test_quotes_are_found_in_spite_of_typography(quote: str, text: str, stands: str) -> None:
    found = locate(quote, text)
    assert found is not None
    assert text[found.start : found.end] == stands


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("art", "we start the cart"),
        ("I hate long walks", "The weather has been rather fine this year, has it not?"),
        ("a quote that is longer than the text", "text"),
        ("", "anything"),
        ("...", "anything"),
        ("no cats", "no cars"),
        ("John Doe lives in Springfield", "Understood."),
        ("I really love climbing big mountains", "I really like climbing rocks, yes"),
    ],
)
def test_an_unknown_quote_is_not_found(quote: str, text: str) -> None:
    assert locate(quote, text) is None


def test_exact_and_near_quotes_are_distinguished() -> None:
    exact, near = (
        locate("really like rocks", "I really like rocks"),
        locate("really likes rocks", "I really like rocks"),
    )
    assert exact is not None
    assert exact.exact
    assert near is not None
    assert not near.exact


@given(st.text(min_size=1, max_size=60), st.integers(0, 59), st.integers(1, 60))
def test_any_run_of_whole_words_is_found(text: str, start: int, length: int) -> None:
    words = text.split()
    cut = " ".join(words[start % (len(words) or 1) :][:length])
    found = locate(cut, text)
    assert found is None or 0 <= found.start < found.end <= len(text)
    if any(c.isascii() and c.isalnum() for c in cut.split(" ")[0][:1]) and cut.isascii() and text.isascii():
        assert found is not None


def test_a_long_quote_is_found_only_exactly() -> None:
    short, long = ("the harbour lamps were lit at nine and " * times for times in (10, 11))
    assert locate(short.replace("lit", "lid", 1), f"They said: {long}.")
    assert locate(long.replace("lit", "lid", 1), f"They said: {long}.") is None
    span = locate(long.upper(), f"They said: {long}.")
    assert span is not None
    assert span.exact
