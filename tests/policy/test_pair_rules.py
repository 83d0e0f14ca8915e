"""Two sentences of one person: which later one outdates the earlier one, and which leaves it alone."""

import pytest

from slowwave.policy.comparison.pair_rules import changed_for, outdated_by
from slowwave.policy.comparison.restatement import superseded_hits
from slowwave.policy.text.tokens import stem, words


@pytest.mark.parametrize(
    ("new", "old", "value"),
    [
        ("The rehearsal is on Friday, not Thursday.", "The rehearsal is on Thursday.", "Thursday"),
        ("It's Bea, not Beatrix.", "My name is Beatrix.", "Beatrix"),
        ("I've moved out of Graz to Linz.", "I live in Graz.", "Graz"),
        ("I left Fairphone.", "I work at Fairphone.", "Fairphone"),
        ("I take my tea plain now, not with sugar.", "I take my tea with sugar.", "sugar"),
    ],
)
def test_what_is_denied_or_left_is_outdated(new: str, old: str, value: str) -> None:
    found = outdated_by(new, old)
    assert found is not None
    assert (found.old_value, found.certain) == (value, True)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We booked the cabin in Tromsø for March.", "We might book the cabin in Tromsø for March."),
        ("From now on always answer in English.", "Always answer in German."),
    ],
)
def test_a_plain_statement_after_a_doubt_and_a_newer_instruction_outdate_perhaps(new: str, old: str) -> None:
    found = outdated_by(new, old)
    assert found is not None
    assert not found.certain


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I went to the market.", "Maybe I should go to the gym."),
        ("I might move out of Graz.", "I live in Graz."),
        ("The dog is not only sweet but also clever.", "The dog is sweet."),
        ("Always use metres when I ask about distance.", "Always add a table when I ask about data."),
        ("I don't like tea.", "I like tea."),
        ("If I left Fairphone I would travel.", "I work at Fairphone."),
    ],
)
def test_other_pairs_leave_the_older_one_alone(new: str, old: str) -> None:
    assert outdated_by(new, old) is None


@pytest.mark.parametrize(
    "question",
    [
        "What is my dog's name?",
        "Do you know my dog's name?",
        "Hi, could you tell me my dog's name?",
        "Is my dog's name Max?",
    ],
)
@pytest.mark.parametrize("new", ["My dog's name is Rex.", "My dog's name is Rex, not Max."])
def test_a_question_is_outdated_by_nothing_because_it_states_nothing(question: str, new: str) -> None:
    assert outdated_by(new, question) is None
    assert changed_for(frozenset(map(stem, words("dog name"))), "My dog's name is now Rex.", question) is None


def test_a_question_outdates_nothing() -> None:
    assert (
        outdated_by("Did we book the cabin in Tromsø for March?", "We might book the cabin in Tromsø for March.")
        is None
    )


def test_a_statement_that_ends_with_a_question_mark_may_be_outdated() -> None:
    assert outdated_by("The rehearsal is on Friday, not Thursday.", "The rehearsal is on Thursday, right?") is not None


@pytest.mark.parametrize(("question", "pairs"), [("Where do I live?", 1), ("What is my dog called?", 0)])
def test_a_sentence_is_outdated_only_for_a_question_about_its_outdated_clause(question: str, pairs: int) -> None:
    ranked = [("I live in Graz and my dog is called Rex.", 1, None), ("I now live in Linz.", 2, None)]
    assert len(superseded_hits(question, ranked)) == pairs


def test_the_older_hit_of_a_denied_value_is_marked() -> None:
    ranked = [("The rehearsal is on Thursday.", 1, None), ("Sorry, the rehearsal is on Friday, not Thursday.", 2, None)]
    (pair,) = superseded_hits("When is the rehearsal?", ranked)
    assert (pair.newer, pair.older, pair.stale) == (1, 0, True)


@pytest.mark.parametrize(
    ("question", "new", "old"),
    [
        ("who is my landlord", "We have a new landlord, Mrs Oak.", "My landlord is Mr Brandt."),
        ("when is the call with Ola", "The call with Ola got pushed to Thursday.", "The call with Ola is on Tuesday."),
    ],
)
def test_a_word_of_change_in_a_short_later_sentence_outdates_perhaps(question: str, new: str, old: str) -> None:
    stems = frozenset(map(stem, words(question)))
    found = changed_for(stems, new, old)
    assert found is not None
    assert not found.certain
    assert changed_for(stems, old, new) is None


@pytest.mark.parametrize(
    ("question", "new", "old"),
    [
        ("who is my landlord", "I might look for a new landlord.", "My landlord is Mr Brandt."),
        ("who is my landlord", "I have a new dentist now.", "My landlord is Mr Brandt."),
        ("what is my dog called", "My dog Rex is ill now.", "My dog is Rex."),
        ("what is the dog called", "The dog barks at the new postman.", "The dog is called Rex."),
        ("where do I work", "thanks, works now", "I have worked at Studio North since 2019."),
        ("where do I work", "Great, it works now!", "I have worked at Studio North since 2019."),
    ],
)
def test_a_doubt_another_subject_and_a_statement_that_keeps_all_change_nothing(
    question: str, new: str, old: str
) -> None:
    assert changed_for(frozenset(map(stem, words(question))), new, old) is None


def test_a_report_that_an_instruction_is_followed_is_not_outdated_by_it() -> None:
    new = "Always report exact weights when I ask about loaves."
    assert outdated_by(new, "I've weighed the loaves as I said, always to report exact weights") is None
    assert outdated_by(new, "Always report rough weights of loaves") is not None
