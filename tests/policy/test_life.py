"""Tests of what is said of a life as it lasts, and of what the page of a life lists."""

import pytest

from slowwave.policy.retention.life import tells_of_life
from slowwave.policy.summaries.life_sentences import labelled_answer, life_sentences


@pytest.mark.parametrize(
    "text",
    [
        "I'm a nurse at the harbour clinic",
        "Ines is from Graz",
        "I grew up near the salt lakes",
        "My daughter Lena plays the cello",
        "We have three kids",
        "I'm divorced",
        "Toffee, my guinea pig, loves parsley",
        "We adopted a second cat named Biscuit",
        "Ines lost her job at the mill",
        "I failed the pilot's test",
        "I struggled with insomnia when I was young",
        "Ines joined a rowing club in May 2026",
        "I volunteer at the soup kitchen",
        "I've been playing the oboe for six years",
        "Ines started learning Danish",
        "I'm doing karate on Sundays",
        "Green is my favourite",
        "Ines hates coriander",
        "This ring is a gift from my aunt in Porto",
        "I hope to become a judge",
        "My grandfather passed away",
        "We won the second prize",
        "I'll never forget the day my youngest spoke her first words",
        "Ines got noticed by two gallery owners",
        "I was mentored by a retired judge",
        "My recipes were featured in a magazine",
        "I recorded my first album in a barn",
        "Ines designed a new website for the seed bank",
        'We performed a dance called "Low Tide"',
        "We flew to Japan for three weeks",
        "Took a short trip to Lisbon with my sister",
        "It's a part-time position at the town archive",
        "Knitting helps me unwind",
        "On the water I'm most alive",
        "Ines volunteers at the harbour school",
        "I applied to the harbour college",
    ],
)
def test_what_lasts_of_a_life_is_recognised(text: str) -> None:
    assert tells_of_life(text)


@pytest.mark.parametrize(
    "text",
    [
        "We took the kids to the zoo",
        "I had a picnic with my wife",
        "I'm swamped with work",
        "Ines is planning a trip to Rome",
        "I might take up chess",
        "We should get a dog",
        "I talked to someone named Rui",
        "I got to feed a horse",
        "Their love and support helped me",
        "I made soup yesterday",
        "It's one of my favorite memories",
        "I got into the car",
        "We took a trip in May",
        "I built a fire",
        "He noticed the rain",
        "My position on this is clear",
        "I made a list of songs",
        "Her words fired up the crowd",
        "A mother's love really grounds us",
        "It's nice to know that what I'm doing is of use",
        "I remember why I'm doing what I'm doing",
        "We've been overwhelmed by the volunteers",
        "I heard stories from an old veteran named Samuel",
        "One idea I had was to join a rowing club",
        "I wonder how it applies to my field",
        "This formula can be applied to other problems",
        "It's unfortunate how many people suffer from it",
        "I cook for people who lost their jobs",
    ],
)
def test_an_outing_a_mood_and_a_vague_plan_are_none_of_it(text: str) -> None:
    assert not tells_of_life(text)


def listed(text: str) -> list[str]:
    return [clause.text for clause in life_sentences(text)]


def test_a_sentence_of_a_life_is_listed_whole() -> None:
    said = "What a day! This ring is dear to me - a gift from my aunt in Porto. We ate cake."
    assert listed(said) == ["This ring is dear to me - a gift from my aunt in Porto."]


def test_of_a_long_sentence_the_clause_that_tells_is_listed() -> None:
    said = (
        "We talked for hours about the weather and the harbour and the prices of fish and all the neighbours there, "
        "and I joined a choir, but the soup was cold."
    )
    assert listed(said) == ["and I joined a choir,"]


@pytest.mark.parametrize("text", ["Do you have three kids?", "You won the first prize!", "[image: my dog Biscuit]"])
def test_questions_captions_and_words_about_the_other_are_not_listed(text: str) -> None:
    assert listed(text) == []


def test_a_sentence_that_points_back_comes_with_the_one_before() -> None:
    said = "I sing in the harbour choir. It's a big part of my life."
    assert listed(said) == ["I sing in the harbour choir.", "It's a big part of my life."]
    assert listed("It's a big part of my life.") == []


@pytest.mark.parametrize(
    "text",
    [
        "Yeah, we go a few times a week.",
        "Three times a week; it keeps us on track.",
        "I see them at least once a week.",
        "Turns out she had no other family - it broke my heart.",
    ],
)
def test_what_says_nothing_without_the_words_before_is_not_listed(text: str) -> None:
    assert listed(text) == []


def test_how_often_is_listed_with_what_is_done() -> None:
    assert listed("I row twice a week.") == ["I row twice a week."]
    assert listed("We go to the mosque every week.") == ["We go to the mosque every week."]


@pytest.mark.parametrize(
    ("asked", "said", "line"),
    [
        ("How long have you been married?", "Seven years already! We had a feast.", "married: Seven years already"),
        ("Lovely dogs! What are their names?", "Thanks! Biscuit and Toffee.", "names of pets: Biscuit and Toffee"),
        ("What are their names?", "Lena and Paul!", "names: Lena and Paul"),
        ("A second cat! What's her name?", "Her name is Biscuit! She sleeps.", "names of pets: Biscuit"),
        ("Such a cute dog! What's his name?", "His name is a long story!", None),
        ("Where do you live?", "In Graz, since May.", "home: In Graz, since May"),
        ("Where do you live?", "Not far away.", None),
        ("What are their names?", "They're doing great.", None),
        ("How long have you been married?", "Ages!", None),
        ("How was the feast?", "Seven guests came!", None),
    ],
)
def test_a_short_answer_is_listed_with_a_label_and_without_words_of_the_question(
    asked: str, said: str, line: str | None
) -> None:
    assert labelled_answer(said, asked) == line


def test_a_work_or_a_journey_stands_on_the_page_of_a_life() -> None:
    assert [one.text for one in life_sentences("What a month! I wrote my second novel in a hut. The stove broke.")] == [
        "I wrote my second novel in a hut."
    ]
    assert [one.text for one in life_sentences("Big news! I got sponsored by a sail maker!")] == [
        "I got sponsored by a sail maker!"
    ]
