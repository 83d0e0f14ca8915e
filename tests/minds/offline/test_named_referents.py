"""A fact says what it is about: nouns that only the talk before explains are named from it, or the fact is refused."""

from datetime import UTC, datetime

import pytest

from slowwave.minds.offline.distil import distil
from slowwave.model.memory import Memory
from slowwave.model.mind import Transcript, Turn

AT = datetime(2024, 5, 15, 9, tzinfo=UTC)  # a Wednesday


def said(number: int, text: str, role: str, speaker: str | None) -> Turn:
    memory = Memory(
        id=f"m{number}",
        scope="s",
        kind="message",
        text=text,
        recorded_at=AT,
        valid_from=AT,
        role=role,
        speaker=speaker,
        seq=number,
        conversation="c",
    )
    return Turn(number=number, memory=memory)


def to_assistant(text: str) -> list[str]:
    """The facts of a message to an assistant."""
    return [
        fact.text for fact in distil(Transcript(conversation="c", turns=(said(1, text, "user", None),), most=20))[0]
    ]


def between_people(text: str) -> list[str]:
    """The facts of a message from Ana to Bob."""
    turns = (said(1, "How are you?", "assistant", "Bob"), said(2, text, "user", "Ana"))
    transcript = Transcript(conversation="c", turns=turns, most=20, speakers=frozenset({"Ana", "Bob"}))
    return [fact.text for fact in distil(transcript)[0]]


@pytest.mark.parametrize(
    "text",
    [
        "I want to further improve the accuracy.",
        "I've reached 85% coverage.",
        "I'm hoping to find some new varieties.",
        "I had to wash all the dirty ones before the guests came.",
        "I'd like to add my boots to the list.",
        "I checked the logs on Monday to find the error.",
        "I've moved the furniture, but I'm not sure about the result.",
        "I think this shorter schedule is easier for me.",
        "I'm looking for some modern styles.",
    ],
)
def test_a_noun_that_only_the_talk_before_explains_gives_no_fact(text: str) -> None:
    assert to_assistant(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I'm building a parcel tracker for my shop. I tested the tracker with ten parcels.", "The user tested the parcel tracker for the user's shop with ten parcels"),
        ("I collect old stamps. I've got some rare ones from Peru.", "The user has got some rare stamps from Peru"),
        ("I want to lower the latency of my web shop. I measured the latency at 90ms on Monday.", "The user measured the latency of the user's web shop at 90ms on 13 May 2024"),
    ],
)  # fmt: skip
def test_a_noun_that_a_sentence_before_describes_is_named_as_there(text: str, fact: str) -> None:
    assert fact in to_assistant(text)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I sold the caravan to a neighbour.", "The user sold the caravan to a neighbour"),
        ("I play the accordion.", "The user plays the accordion"),
        ("I walk to the office every day.", "The user walks to the office every day"),
        ("We keep geese behind the quarry.", "The user keeps geese behind the quarry"),
        ("I prefer paper tickets to digital ones.", "The user prefers paper tickets to digital ones"),
        ("I read the letters that my aunt wrote in 1950.", "The user read the letters that the user's aunt wrote in 1950"),
    ],
)  # fmt: skip
def test_a_noun_that_a_listener_knows_or_the_sentence_describes_keeps_its_fact(text: str, fact: str) -> None:
    assert fact in to_assistant(text)


def test_the_quote_of_a_named_noun_begins_with_the_sentence_that_names_it() -> None:
    text = "I collect old stamps. I've got some rare ones from Peru."
    facts = distil(Transcript(conversation="c", turns=(said(1, text, "user", None),), most=20))[0]
    assert [fact.quote for fact in facts if "Peru" in fact.text] == [text.rstrip(".")]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm planning to add a shed after the roof is done, but first", ["The user is planning to add a shed after the roof is done"]),
        ("I use the hour to read mail, answer letters, or do some light gardening.", ["The user uses the hour to read mail, answer letters, or do some light gardening"]),
        ("I'm looking for a way to quickly digitize these slides.", []),
        ("I want to show the costs across these rooms.", []),
        ("My best moment was when my cousin hit that high note in Verona.", []),
    ],
)  # fmt: skip
def test_a_fact_is_not_cut_within_a_list_or_before_an_object(text: str, facts: list[str]) -> None:
    assert to_assistant(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "I tried a new driver, but it didn't help.",
        "I tried reinstalling Debian, but the issue persists.",
        "I came up with 12 hours, but I want to make sure I'm not missing anything.",
        "I get a timeout because the user is not in the cache.",
        "I'm trying to classify a triangle with sides 5 cm, 5 cm and 8 cm.",
        "I've been given the points (1,3) and (4,2).",
        "I reached 65% after my first test run.",
        "The model is trained on 80 classes.",
        "Let me know if you need more figures.",
        "I've been reading about different approaches.",
        "I got a great one for $1 off a box of tea.",
        "I'm hoping to apply that to my free days.",
        "I want to watch the server logs to see",
    ],
)
def test_the_task_of_the_moment_gives_no_fact(text: str) -> None:
    assert to_assistant(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I'm porting Aria to Rust, but I'm not sure how to test it.", "The user is porting Aria to Rust"),
        ("I'm learning the viola, but I'm having trouble with my shoulder.", "The user is learning the viola, but the user is having trouble with the user's shoulder"),
        ("I started my own bakery in May.", "The user started the user's own bakery in May 2024"),
    ],
)  # fmt: skip
def test_a_difficulty_with_the_task_is_left_out_and_one_of_a_life_stays(text: str, fact: str) -> None:
    assert to_assistant(text) == [fact]


def test_a_name_after_and_is_no_verb() -> None:
    assert to_assistant("I'm using Django and Express to run my shop.") == [
        "The user is using Django and Express to run the user's shop"
    ]


@pytest.mark.parametrize(
    "text", ["Write it again and shorten the explanations.", "Give me one more example for all answers."]
)
def test_an_order_about_the_answer_before_is_no_standing_instruction(text: str) -> None:
    assert to_assistant(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I found a silver coin in my attic last weekend, May 4th.", "The user found a silver coin in the user's attic on 4 May 2024"),
        ("I met Tom last Friday (May 10) in Rome.", "The user met Tom on 10 May 2024 in Rome"),
        ("I have a dentist appointment tomorrow, May 16th, in Leeds.", "The user has a dentist appointment on 16 May 2024, in Leeds"),
    ],
)  # fmt: skip
def test_a_written_day_beside_a_relative_one_is_the_only_date_of_a_fact(text: str, fact: str) -> None:
    assert to_assistant(text) == [fact]


@pytest.mark.parametrize("text", ["From now on always answer in French.", "Never let anything stop you."])
def test_an_order_between_people_is_no_statement_of_its_writer(text: str) -> None:
    assert between_people(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Some friends from church and I went to Bali last month.", "Ana and some friends from church went to Bali in April 2024"),
        ("Two of my colleagues and I ran a relay in Oslo.", "Ana and two of Ana's colleagues ran a relay in Oslo"),
        ("The kids and I baked bread with rye flour yesterday.", "Ana and the kids baked bread with rye flour on 14 May 2024"),
    ],
)  # fmt: skip
def test_people_without_a_name_stay_in_the_subject(text: str, fact: str) -> None:
    assert between_people(text) == [fact]
