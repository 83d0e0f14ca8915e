"""What is so only at the moment of the talk becomes no fact: requests, faults under repair, documentation, effort and moods."""

from datetime import UTC, datetime
from typing import Literal

import pytest

from slowwave.minds.offline.distil import distil
from slowwave.model.memory import Memory
from slowwave.model.mind import Transcript, Turn

AT = datetime(2024, 5, 15, 9, tzinfo=UTC)


def said(text: str, speaker: str | None = None) -> list[str]:
    """The facts of one message, to an assistant or, with a speaker, to a friend."""
    spoken: list[tuple[Literal["user", "assistant"], str | None, str]] = [("user", speaker, text)]
    if speaker:
        spoken.append(("assistant", "Bob", "Nice!"))
    turns = tuple(
        Turn(
            number=n,
            memory=Memory(
                id=f"m{n}",
                scope="s",
                kind="message",
                text=words,
                recorded_at=AT,
                valid_from=AT,
                role=role,
                speaker=who,
                seq=n,
                conversation="c",
            ),
        )
        for n, (role, who, words) in enumerate(spoken, 1)
    )
    speakers = frozenset(who for _, who, _ in spoken if who)
    return [fact.text for fact in distil(Transcript(conversation="c", turns=turns, most=20, speakers=speakers))[0]]


@pytest.mark.parametrize(
    "text",
    [
        "I'm looking for some marinade recipes that use lime juice.",
        "I'm looking for some tennis news updates.",
        "I'd like to get some more ideas on how to arrange my spice rack.",
        "I'd like to see a code snippet that shows how to read a socket with trio.",
        "I'm trying to debug an issue with my Flask service.",
        "I'm trying to troubleshoot a complex bug in my parser.",
        "I'm considering upgrading to the latest version to leverage any new features.",
        "I've been reading the Stripe documentation.",
        "I came across the concept of backpressure in message queues.",
        "I want to improve the performance of my application.",
        "I've identified a bottleneck of 80ms.",
        'I\'m getting a "AccessRefused: token expired" error when I call the service.',
        "I'm working on a problem where I need to find the slope of a line.",
        "I've tried substituting y = 3x + 1 into the other equation.",
        "I'm going to start with the article from Northwind Weekly.",
        "I've got a deadline to meet.",
        "I've reached 85% as of May 9.",
        "I've installed the required packages using pip.",
        "I've added the `@retry` decorator for both errors.",
        "My sign-in form is not submitting correctly.",
        "I don't want to confuse myself with different methods.",
        "I'm trying to decide where to start with statistics.",
        "I want to write the equation of a line in point-slope form.",
        "I'm using TOTP with PyOTP for sign-in where the user's clock is out of sync.",
        "I'm looking for a method that can help me understand triangle areas.",
        "I'd like to create a dashboard that you can reuse.",
    ],
)
def test_the_task_of_a_session_with_an_assistant_is_no_fact(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm putting a lot of work into my bakery despite everything.",
        "I get help from people who support me.",
        "After losing my job, I wanted to take control of my own destiny.",
        "I've had some rough times with my bakery.",
        "My bakery has been a roller coaster but rewarding.",
        "I'm a mix of excited and scared to start my bakery.",
        "I'm prepping for my bakery more than ever!",
        "I'm taking the time to reflect and find some balance.",
        "My kitchen is feeling a bit cluttered.",
        "We held some events and got to meet some people.",
        "My team has been really encouraging and inspiring.",
        "I need to find a better way to focus my passion.",
    ],
)
def test_effort_and_moods_between_people_are_no_facts(text: str) -> None:
    assert said(text, "Ana") == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I'm looking for a secondhand kiln for my studio.", "The user is looking for a secondhand kiln for the user's studio"),
        ("I don't want any recipes with mushrooms.", "The user doesn't want any recipes with mushrooms"),
        ("I'm trying to fix the damp problem in our bathroom.", "The user is trying to fix the damp problem in the user's bathroom"),
        ("I'm trying to debug an issue where the Lisbon node drops every tenth packet.", "The user is trying to debug an issue where the Lisbon node drops every tenth packet"),
        ("I've started a basic pottery course at Kiln House for beginners.", "The user has started a basic pottery course at Kiln House for beginners"),
        ("I checked into the Seaview Hotel in Brighton yesterday.", "The user checked into the Seaview Hotel in Brighton on 14 May 2024"),
        ("As a nurse with a passion for clocks, I'm happy to start.", "The user is a nurse with a passion for clocks"),
        ("I started volunteering at the harbour museum to make a difference.", "The user started volunteering at the harbour museum to make a difference"),
        ("I'm implementing the sign-in page with Let's Encrypt certificates.", "The user is implementing the sign-in page with Let's Encrypt certificates"),
    ],
)  # fmt: skip
def test_what_outlasts_the_session_stays_a_fact(text: str, fact: str) -> None:
    assert said(text) == [fact]


def test_just_before_a_date_at_the_start_of_a_sentence_keeps_the_date() -> None:
    assert said("Just last week, I found a violin concert in Leeds.", "Ana") == [
        "In the week of 6 May 2024, Ana found a violin concert in Leeds"
    ]


def test_a_role_in_a_wish_of_a_specification_is_not_the_role_of_the_user() -> None:
    assert "The user is a manager" not in said("As a manager, I want to see weekly reports.")
