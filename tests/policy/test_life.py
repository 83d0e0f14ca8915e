"""Tests of what is said of a life as it lasts."""

import pytest

from slowwave.policy.retention.life import tells_of_life


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
