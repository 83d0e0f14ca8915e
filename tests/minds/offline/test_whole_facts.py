"""A fact keeps the time of its sentence, and a sentence that means nothing alone gives no fact."""

from datetime import UTC, datetime

import pytest

from slowwave.minds.offline.distil import distil
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, Transcript, Turn

AT = datetime(2024, 5, 15, 9, tzinfo=UTC)  # a Wednesday


def said(number: int, text: str, role: str, speaker: str | None) -> Memory:
    return Memory(
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


def between_people(text: str) -> tuple[Fact, ...]:
    """What is distilled of a message from Ana to Bob."""
    messages = (said(1, "How are you?", "assistant", "Bob"), said(2, text, "user", "Ana"))
    turns = tuple(Turn(number=n, memory=m) for n, m in enumerate(messages, 1))
    return distil(Transcript(conversation="c", turns=turns, most=20, speakers=frozenset({"Ana", "Bob"})))[0]


def to_assistant(text: str) -> tuple[Fact, ...]:
    return distil(Transcript(conversation="c", turns=(Turn(number=1, memory=said(1, text, "user", None)),), most=20))[0]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Good to hear. Last Friday, I sorted books at the library.", "On 10 May 2024, Ana sorted books at the library"),
        ("When I was a kid, I played the viola in a school orchestra.", "When Ana was a kid, Ana played the viola in a school orchestra"),
        ("As a kid, I collected stamps from Peru.", "As a kid, Ana collected stamps from Peru"),
        ("That is like the kite I had as a kid, I flew kites at the beach.", "As a kid, Ana flew kites at the beach"),
        ("Growing up, we spent every summer at a lake in Finland.", "Growing up, Ana spent every summer at a lake in Finland"),
        ("Oh wow, two years ago, I ran a marathon in Porto!", "In 2022, Ana ran a marathon in Porto"),
        ("After I lost my job at the mill, I opened a bakery in Malmo.", "After Ana lost Ana's job at the mill, Ana opened a bakery in Malmo"),
        ('I\'m reading "The Lean Startup" and hoping it\'ll give me tips for my shop.', 'Ana is reading "The Lean Startup"'),
        ("Lately, I've been looking into beekeeping as a job.", "Ana has been looking into beekeeping as a job"),
        ("I sold my van to a garage I work at yesterday.", "Ana sold Ana's van to a garage Ana works at on 14 May 2024"),
    ],
)  # fmt: skip
def test_the_words_before_a_comma_that_say_when_stay_with_their_clause(text: str, fact: str) -> None:
    assert [each.text for each in between_people(text)] == [fact]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I had a great day out last weekend - we sailed on Lake Garda.", "On the weekend of 11 May 2024 Ana sailed on Lake Garda"),
        ("Last week was wild, I won a medal at the rowing club.", "In the week of 6 May 2024 Ana won a medal at the rowing club"),
    ],
)  # fmt: skip
def test_a_clause_that_gives_the_details_has_the_time_of_the_clause_before(text: str, fact: str) -> None:
    (found,) = between_people(text)
    assert found.text == fact
    assert found.quote is not None
    assert "last we" in found.quote.lower()


def test_the_time_before_which_something_was_is_not_the_time_of_its_details() -> None:
    found = between_people("I learned it before 2019 - I rented a boat in Split.")
    assert [each.text for each in found] == ["Ana rented a boat in Split"]


@pytest.mark.parametrize(
    "text",
    [
        "If I get the visa, I will move to Berlin.",
        "We live in a flat, but if the rent goes up, we will move to Bern.",
        "Once I have the kiln running, do you want a pot?",
    ],
)
def test_a_clause_under_a_condition_or_without_its_main_clause_is_no_fact(text: str) -> None:
    assert between_people(text) == ()
    assert to_assistant(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Wow, that's lovely! Taking in stray dogs - you're so kind.",  # the one who is addressed takes them in
        "Running my own bakery and finding staff is both hard and fun.",  # a gerund, not what the speaker is doing
        "I made a mural to remind myself and others that there is hope within us all.",  # cut before what it reminds of
        "My morning runs get me ready for work, and evenings there boost my mood.",  # cut inside a second clause
        "We have different hobbies and talents, but they all help our town.",  # of several people only together
        "We got a great turnout and it was amazing to see so many people.",  # of what is not said
        "I've got some cool projects in the works.",
        "I'm not gonna let anything or anyone stop me.",
        "I was mesmerized by the castles.",
        "The official opening night is tomorrow.",  # between people, no noun says of what
        "Our children are our future.",  # of people in general
        "I have had quite the adventure!",
        "I met someone who shared some amazing stories.",
        "We raised money and awareness at the event.",  # which event, only the talk before says
        "As soon as I paint, all my worries vanish.",
        "I'm stepping into the unknown and hoping for the best.",
        "My name is Ana.",  # the fact would call Ana Ana
    ],
)
def test_what_means_nothing_without_the_talk_is_no_fact(text: str) -> None:
    assert between_people(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "I've been studying for a week now.",
        "I have about 22 days left.",
        "I've practiced 20 problems so far.",
        "I said the angle opposite the long side was 65 degrees, but it's 60.",
        "The pairs (1,6), (2,5), (3,4) all add up to 7, so there are 6 outcomes.",
        "I've got two options.",
        "I've been practicing more problems and it's really helping.",
        "I'm starting from scratch.",
        "I've been dedicating extra time to practicing.",
        "I've managed to reduce the cyclomatic complexity by 15%.",  # of what
        "For our new shed built of larch, what would you paint it with?",
        "I'm trying to sort triangles, but I made a mistake and thought it was a square.",  # cut before what was thought
        "I'm interested in learning about permutations, like those of 4 objects, where 4! = 24.",
    ],
)
def test_a_length_of_time_or_an_exercise_alone_is_no_fact(text: str) -> None:
    assert to_assistant(text) == ()


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I have been teaching for 12 years.", "The user has been teaching for 12 years"),
        ("I've solved 20 problems on fractions so far.", "The user has solved 20 problems on fractions"),
    ],
)
def test_a_length_of_time_or_a_count_of_something_named_is_a_fact(text: str, fact: str) -> None:
    assert [each.text for each in to_assistant(text)] == [fact]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "Good to hear! My mum and I baked a loaf last night.",
            "Ana and Ana's mum baked a loaf on the night of 14 May 2024",
        ),
        ("I am sticking to my training plan and the people are awesome.", "Ana is sticking to Ana's training plan"),
        ("Since I lost my job at the mill, things have been tough.", "Ana lost Ana's job at the mill"),
        (
            "I joined a march for nurses and it was awesome, made me remember how much they do for us.",
            "Ana joined a march for nurses and it was awesome",
        ),
        ("The band has 14 players now.", "The band has 14 players now"),
        ("I have been rowing twice a week since our last chat.", "Ana has been rowing twice a week"),
    ],
)
def test_words_about_the_talk_or_about_nothing_named_are_left_out(text: str, fact: str) -> None:
    assert [each.text for each in between_people(text)] == [fact]


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I tried my hand at pottery for the first time.", "observation"),
        ("A buddy of mine adopted a girl last year.", "observation"),
        ("I want to try pottery in June.", "goal"),
    ],
)
def test_what_is_past_is_no_goal_and_no_project(text: str, category: str) -> None:
    assert [each.category for each in between_people(text)] == [category]
