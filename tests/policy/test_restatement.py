"""Restated: which of the hits of a question say anew what another one says."""

import pytest

from slowwave.policy.comparison.restatement import asks_current_value, superseded_hits

HOME = [("I live in Ghent", 1, None), ("I love the sea", 2, None), ("By the way, I moved to Antwerp!", 3, None)]


def test_the_later_of_two_homes_makes_the_earlier_one_stale() -> None:
    (pair,) = superseded_hits("where do I live?", HOME)
    assert (pair.newer, pair.older, pair.new_value, pair.old_value, pair.stale) == (2, 0, "Antwerp", "Ghent", True)
    assert "Antwerp" in pair.because
    assert superseded_hits("where do I live?", [*reversed(HOME)])[0].older == 2


def test_a_question_for_history_marks_nothing_as_stale() -> None:
    (pair,) = superseded_hits("what is the order in which I live where, from first to last?", HOME)
    assert not pair.stale
    assert superseded_hits("where did I live before I moved?", HOME) == []


def test_only_sentences_that_share_a_word_with_the_question_count() -> None:
    assert superseded_hits("what is my phone number?", HOME) == []
    assert superseded_hits("who sails?", [("I love tea", 1, None)]) == []
    moves = [("I moved to Ghent", 1, None), ("I live in Antwerp now", 2, None), ("I moved to Bruges", 3, None)]
    assert [(pair.older, pair.newer) for pair in superseded_hits("where do I live?", moves)] == [(1, 2)]


def test_statements_of_different_speakers_do_not_supersede() -> None:
    talk = [("I live in Ghent", 1, "Anna"), ("I now live in Antwerp", 2, "Ben")]
    assert superseded_hits("where does Anna live?", talk) == []
    assert len(superseded_hits("where does Anna live?", [(text, at, "Anna") for text, at, _ in talk])) == 1


def test_statements_of_the_same_time_do_not_supersede() -> None:
    assert superseded_hits("where do I live?", [("I live in Ghent", 1, None), ("I now live in Antwerp", 1, None)]) == []


def test_an_unannounced_value_counts_only_for_present_questions() -> None:
    talk = [("I live in Ghent", 1, None), ("I live in Antwerp", 2, None)]
    (pair,) = superseded_hits("where do I live", talk)
    assert pair.because.startswith("perhaps outdated: ")
    assert superseded_hits("live music", talk) == []


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("where do I live", True),
        ("who is my manager?", True),
        ("my number", True),
        ("where did I live", False),
        ("tea", False),
    ],
)
def test_present_and_past_questions_are_distinguished(question: str, *, asks: bool) -> None:
    assert asks_current_value(question) is asks


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I no longer live in Ghent", "I live in Ghent with my sister"),
        ("I moved from Ghent to Antwerp", "I live in Ghent"),
        ("I don't live in Ghent anymore", "I live in Ghent"),
    ],
)
def test_a_corrected_statement_is_stale(new: str, old: str) -> None:
    (pair,) = superseded_hits("where do I live?", [(new, 2, None), (old, 1, None)])
    assert (pair.newer, pair.older, pair.stale) == (0, 1, True)
    assert new in pair.because


def test_a_correction_of_something_else_marks_nothing() -> None:
    assert (
        superseded_hits("where do I live?", [("I live in Rome", 1, None), ("I used to live in Ghent", 2, None)]) == []
    )
    assert (
        superseded_hits("where do I live?", [("I no longer live in Rome", 2, None), ("I live in Ghent", 1, None)]) == []
    )
