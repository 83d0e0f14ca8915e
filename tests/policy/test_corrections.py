"""Explicit corrections: which old facts a new one ends, and which it leaves alone."""

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.comparison.corrections import correction


@pytest.mark.parametrize(
    ("kind", "new", "old"),
    [
        ("ended", "Matteo no longer uses a standing desk", "Matteo uses a standing desk"),
        ("ended", "Matteo doesn't use a standing desk anymore.", "Matteo uses a standing desk"),
        ("ended", "Matteo no longer uses a standing desk because of his back", "Matteo uses a standing desk"),
        ("ended", "Matteo stopped using a standing desk", "Matteo uses a standing desk"),
        ("ended", "Matteo no longer uses a standing desk", "Matteo uses a standing desk at home"),
        ("ended", "I no longer smoke", "I smoke"),
        ("ended", "Alice is no longer the manager of Bob", "Alice is the manager of Bob"),
        ("changed", "Alice switched back to vim from VS Code", "Alice uses VS Code"),
        ("changed", "The launch moved from June 5 to June 12", "The launch is on June 5"),
        ("changed", "Alice moved the launch from June 5 to June 12", "The launch is on June 5"),
        ("changed", "The deadline has been moved from April 1 to April 5", "The deadline is April 1"),
        ("changed", "The meeting was rescheduled from Monday to Tuesday", "The meeting is on Monday"),
        ("changed", "Alice moved from Paris to Rome", "Alice lives in Paris"),
        ("changed", "Alice works at Acme instead of Globex", "Alice works at Globex"),
        ("changed", "Bob prefers tea rather than coffee", "Bob prefers coffee"),
        ("changed", "Alice replaced vim with VS Code", "Alice uses vim"),
        ("corrected", "Alice is actually not vegetarian", "Alice is vegetarian"),
        ("corrected", "Actually, Alice isn't vegetarian", "Alice is vegetarian"),
        ("corrected", "Alice did not actually visit Paris", "Alice visited Paris"),
        ("corrected", "Alice never in fact lived in Rome", "Alice lived in Rome"),
        ("corrected", "I lied, I'm not a vegetarian", "I am a vegetarian"),
        ("corrected", "Turns out the user is not allergic to nuts", "The user is allergic to nuts"),
        ("corrected", "Sorry, I was joking: I don't drive a tram", "I drive a tram"),
        ("ended", "The user is not vegetarian", "The user is vegetarian"),
        ("ended", "The user does not live in Bern", "The user lives in Bern"),
        ("ended", "Ottilie doesn't live in Bern", "Ottilie lives in Bern"),
        ("ended", "The user is not vegetarian, the user is vegan", "The user is vegetarian"),
    ],
)
def test_explicit_corrections_are_detected_with_their_kind(kind: str, new: str, old: str) -> None:
    found = correction(new, old)
    assert found is not None
    assert found.kind == kind
    assert new in found.because


@pytest.mark.parametrize(
    ("new", "old"),
    [
        # plain denials that say less, or something else
        ("A man is not playing the flute", "A man is playing the flute"),
        ("The dog does not bark", "The dog barks"),
        ("Ottilie is not singing", "Ottilie is singing"),
        ("The user does not like tea in the evening", "The user likes tea"),
        ("The user does not live in Bern", "The user lived in Bern"),
        ("Ottilie does not live in Bern", "Ludwig lives in Bern"),
        ("The user did not visit Bern", "The user visits Bern"),
        ("Alice doesn't use vim", "Alice's sister uses vim"),
        # another subject
        ("Bob no longer uses a standing desk", "Matteo uses a standing desk"),
        ("Alice moved from Paris to Rome", "Bob lives in Paris"),
        ("I no longer smoke", "You smoke"),
        ("I no longer smoke", "Bob smokes"),
        ("Alice's sister no longer uses vim", "Alice uses vim"),
        ("Alice no longer uses vim", "Alice's sister uses vim"),
        ("Alice's dog no longer likes walks", "Bob's dog likes walks"),
        ("Alice and Bob no longer use vim", "Alice uses vim"),
        ("Alice no longer uses vim", "Alice and Bob use vim"),
        ("Bob told Alice he no longer uses vim", "Alice uses vim"),
        ("The launch moved from June 5 to June 12", "The review is on June 5"),
        ("The cache moved from Redis to disk", "The session cache is in Redis"),
        # another relation or value
        ("Matteo no longer drinks", "Matteo drinks green tea"),
        ("Alice no longer likes tea", "Alice likes coffee"),
        ("Alice moved from Paris to Rome", "Alice visited Paris"),
        ("Alice moved from Paris to Rome", "Alice loves London"),
        ("Alice sold her car instead of her bike", "Alice buys a bike"),
        ("Alice no longer works", "Alice works at Acme"),
        ("Matteo switched back to sitting", "Matteo uses a standing desk"),
        ("The bug moved from parser.py to lexer.py", "The bug is in parser.js"),
        # other times and numbers
        ("The launch moved from June 5 to June 12", "The launch is on June 6"),
        ("The launch moved from June 5 to June 12", "The launch is on June 5 in room 7"),
        ("Alice no longer works on Mondays", "Alice works on Tuesdays"),
        ("Project 3 no longer uses port 8003", "Project 4 uses port 8003"),
        ("Alice ran a race on May 10 instead of May 3", "Alice ran a race on May 3"),
        # not plainly said
        ("Alice may no longer use vim", "Alice uses vim"),
        ("Does Alice no longer use vim?", "Alice uses vim"),
        ("The launch will move from June 5 to June 12", "The launch is on June 5"),
        ("Alice plans to switch from vim to emacs", "Alice uses vim"),
        ("Alice has not moved from Paris to Rome", "Alice lives in Paris"),
        ("Since May, Alice no longer uses vim", "Alice uses vim"),
        ("Alice actually does not use vim, not even at work", "Alice uses vim"),
        # nothing that could end
        ("Alice did not visit Paris", "Alice visited Paris"),
        ("Alice no longer uses vim", "Alice never uses vim"),
        ("Alice no longer uses vim", "Alice used vim"),
        ("Alice no longer uses vim", "Alice wants to use vim"),
        ("Alice likes tea", "Alice likes tea"),
        ("Matteo non usa più una scrivania", "Matteo usa una scrivania"),
        ("No longer", "Alice uses vim"),
        ("Matteo no longer uses a standing desk, " + "and so on " * 50, "Matteo uses a standing desk"),
    ],
)
def test_sentences_that_are_not_explicit_correct_nothing(new: str, old: str) -> None:
    assert correction(new, old) is None


def test_known_names_of_one_subject_count_as_one() -> None:
    pair = ("The user no longer uses a standing desk", "Matteo uses a standing desk")
    assert correction(*pair) is None
    assert correction(*pair, called=["the user", "Matteo", "Matteo Rossi"]) is not None
    assert correction(*pair, called=["the user", "Anna"]) is None


WORDS = st.sampled_from(
    [
        "Alice",
        "no longer",
        "uses",
        "vim",
        "not",
        "anymore",
        "actually",
        "from",
        "to",
        "moved",
        "the",
        "Paris",
        ",",
        "June 5",
    ]
)
FACTS = st.lists(WORDS, max_size=8).map(" ".join)


@given(FACTS)
def test_no_fact_corrects_itself(text: str) -> None:
    assert correction(text, text) is None


@given(FACTS | st.text(max_size=40), FACTS | st.text(max_size=40))
def test_correction_accepts_any_text(new: str, old: str) -> None:
    found = correction(new, old)
    assert found is None or found.kind in {"ended", "changed", "corrected"}


def test_not_after_all_is_a_correction() -> None:
    new = "The user is not allergic to penicillin after all, the test was negative"
    found = correction(new, "The user is allergic to penicillin")
    assert found is not None
    assert found.kind == "corrected"
    assert correction(new, "The user is allergic to nuts") is None
