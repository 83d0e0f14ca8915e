"""What is only work of a session on code or an exercise gives no fact; what is told of a project, a study or a life does."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave.minds.offline.distil import distil
from slowwave.minds.offline.rules.session_work import WorkMessage, without_fault
from slowwave.model.memory import Memory
from slowwave.model.mind import Transcript, Turn

AT = datetime(2024, 5, 15, 9, tzinfo=UTC)
EXAMPLES = Path(__file__).parents[2] / "examples" / "traps_sixth.jsonl"


def said(text: str) -> list[str]:
    """The facts of one message to an assistant."""
    message = Memory(
        id="m1",
        scope="s",
        kind="message",
        text=text,
        recorded_at=AT,
        valid_from=AT,
        role="user",
        seq=1,
        conversation="c",
    )
    turns = (Turn(number=1, memory=message),)
    return [fact.text for fact in distil(Transcript(conversation="c", turns=turns, most=20, speakers=frozenset()))[0]]


@pytest.mark.parametrize(
    "text",
    [
        "I'm trying to optimize the speed of my login page, can you help me?",
        "We're trying to reduce the latency of our API",
        "I have a function `total` in my script, can you check it?",
        "I've set the timeout of the server to 30 seconds. Is that enough for my API?",
        "I've been reading about the benefits of roles. How do I add them to my app and its API?",
        "I want to add a feature that lets users upload pictures. How would I do that in my app?",
        "I'm working on refactoring my error handling, here's my code",
        "I've added some logging to my code. Can you see what is wrong?",
        "I've tried using the retry flag of the client in my deployment script, can you help?",
        "I'm trying to fix the race condition in my queue handler, can you look at it?",
        "I need to sort the list of objects by age in my script, can you show me?",
        "I want the code to be short and clean, please rewrite it",
        "I've requested a code review, but I'd like to find bugs in my API before. Can you help?",
        "I'm trying to figure out the best way to store images in my database, any ideas?",
        "I have an array of prices and a function that sums them, can you check it?",
        "I want to raise the memory limit to 2GB. Can you help me with the config of my container?",
        "I've defined my services in the compose file as follows:\n```yaml\na: 1\n```",
        "I want to handle different status codes in my API client, can you help me?",
        "I've added 12 patterns to it. Can you review my code?",
        "As you suggested, I want to use pooling in my database client. Can you show me?",
        "In this example, I create a group with 3 servers. Can you explain the code?",
        "I'm using the `map` function to build the rows of my table, can you check my code?",
        "I'm trying to limit retries using the `maxRetries` parameter in my API, can you show me the code?",
        "I've been tracking the performance metrics of late. Can you look at the code of my app?",
        "I have access to various libraries. Can you improve the code of my app?",
        "I'm trying to cut the latency of our API to 2 seconds. Can you look at the queries?",
        "I'm trying to add Sentry 7.3.0 to my Node.js app. Here's my code:\n```js\ninit()\n```",
        "I'd like to upgrade Lodash to version 4.17 in my app and its tests. Can you help me with that?",
        "I'm working on integrating OpenCV 4.7.0 into my app, here's my code",
        "I'm trying to tune my model for the RTX 2060 GPU of my server, any suggestions?",  # no year
        "I'm interested in exploring ways to speed up the rendering of my React app. Any tips?",
        "I've been analyzing the fusion of layers in TensorRT for my model. Can you explain the code?",
        "I've checked my Docker Hub credentials. Why does the build of my image fail?",
        "I'm trying to send receipts via Redis to all clients of my chat app, can you help?",
        "I'm trying to split the analytics of my app into a module of 200 lines",
        'I\'m trying to resolve the "MongoTimeoutError" that my driver reports. Can you help?',
        "I've set the minimum size to 2 instances and the maximum size to 6. Can you check the config of my app?",
        "I'm configuring my Flask app for production, can you check the config?",
        "## Running the App\nI'll run the Flask app first and let you know what the logs say.",
        "I'm working on a project that involves containers. Can you check my Dockerfile and the config of my server?",
        "I've studied the rate limits. How do I stay below them in my API client?",
        "I've been using the old keys for a while now. Can you show the code for the new ones in my API?",
        "I'm trying to extract job titles and company names in my script with the NER of spaCy. Here's my code:\n```python\nrun()\n```",
        "My GitHub Actions workflow is defined as follows:\n```yaml\na: 1\n```\nCan you fix the build?",
    ],
)
def test_a_task_for_the_assistant_is_no_fact(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "I'm trying to move our invoices from Oracle to Postgres 16 by June. Can you help me plan it?",
            "The user is trying to move the user's invoices from Oracle to Postgres 16 by June 2024",
        ),
        (
            "I'm building a budget app for my sister's bakery, can you suggest a name?",
            "The user is building a budget app for the user's sister's bakery",
        ),
        (
            "I've added Redis to our ticket API, but I'm seeing delays. Can you explain how our cache evicts queries?",
            "The user has added Redis to the user's ticket API",
        ),
        (
            "The latency of our API is 2 seconds, and we use Redis 7. Can you look at the queries?",
            "The user uses Redis 7",
        ),
        (
            "I've decided to use rooms for the chats of my app, can you help?",
            "The user has decided to use rooms for the chats of the user's app",
        ),
        (
            "We use pytest for the tests of our app. Can you write one?",
            "The user uses pytest for the tests of the user's app",
        ),
        (
            "I want to learn Spanish for a trip to Lima, can you help me?",
            "The user wants to learn Spanish for a trip to Lima",
        ),
        (
            "I'm upgrading the app to spaCy 3.5. I've used the older model for a year at my clinic. Can you show me the code of the loader?",
            "The user is upgrading the app to spaCy 3.5",
        ),
        (
            "I've cut the build of our app from 9 to 4 minutes, but I'm still trying to speed up the tests. Any tips?",
            "The user has cut the build of the user's app from 9 to 4 minutes",
        ),
        ("I set the alarm to 6 every day, is that healthy?", "The user sets the alarm to 6 every day"),
    ],
)
def test_what_is_named_measured_or_told_stays(text: str, fact: str) -> None:
    assert fact in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "I have a jar with 5 blue and 7 white beads. What is the probability of two blue ones?",
        "I divided both sides by 3 and got x = 9. Is that right?",
        "So my speed went up by 4 points per quiz, makes sense, thanks!",
        "I've been doing these exercises for a while, what's next?",
        "I'm working with a scalene triangle, what should I do first?",
        "I'm trying to classify triangles by their angles",
        "I've been working on calculating the slope of a line, is that useful?",
        "I used the distance formula for the two points of the line, is that right?",
        "I've been practicing how to sketch circles with a radius, what's next?",
        "My current score is 81%",
        "My goal is to make the code of my app more efficient, can you help?",
        "I've tried adding 4 to both sides but get stuck, where did I go wrong?",
        "I've been reading about the distance formula, is (2, 3) to (5, 7) 5 units?",
        "I scored 4/5 on my practice problems. What should I do next?",
        "I'm aiming for a 90%+ score",
        "I've completed 15 problems with 95% accuracy, what's next?",
        "I've been analyzing problems like the probability of an even number on a 6-sided die. Am I right?",
        "I mixed up the signs of the slope at first, can you check my equation?",
        "1. **Check Units:** Always check the units when adding lengths",
    ],
)
def test_the_content_of_an_exercise_is_no_fact(text: str) -> None:
    assert said(text) == []


def test_a_score_with_its_subject_and_progress_in_a_study_stay() -> None:
    assert said("My score in the June mock exam is 81%") == ["The user's score in the June 2024 mock exam is 81%"]
    assert said("I've completed 6 proofs about triangles, but I'm unsure about the next ones. Can you help?") == [
        "The user has completed 6 proofs about triangles"
    ]


def test_what_is_done_next_in_the_session_is_no_fact() -> None:
    assert said("I'll use Lighthouse and WebPageTest first and get back to you with the numbers") == []
    assert said("I'll use Lighthouse for all our audits") == ["The user will use Lighthouse for all the user's audits"]


def test_a_fault_leaves_the_statement_before_it() -> None:
    asked = WorkMessage("Can you help me with my API and its database?")
    assert without_fault("I added Redis to our API, but I'm seeing delays", asked) == "I added Redis to our API"
    assert without_fault("I raised the limit, but it's still failing", asked) == ""
    assert without_fault("I got the basics done, but I'm having trouble with tests", asked) == ""
    assert without_fault("I adopted a cat, but I'm having trouble sleeping", WorkMessage("Any tips?")) == (
        "I adopted a cat, but I'm having trouble sleeping"
    )


def test_what_one_answer_is_for_is_no_standing_instruction() -> None:
    assert said("Give me some tips to avoid such mistakes in the future") == []
    assert said("Give me metric units in the future") == [
        "The user wants the assistant to give the user metric units from now on"
    ]


def test_a_wish_for_one_case_is_not_told_without_it() -> None:
    assert said("When asking about money, I always want exact figures") == []
    assert said("I always want exact figures") == ["The user always wants exact figures"]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "I've never used Rust for my API server, and always include the version of a crate when you show code.",
            ["The user wants the assistant to always include the version of a crate when it shows code"],
        ),
        (
            "I have kept hens in my garden since 2010, and always write short sentences in your answers.",
            [
                "The user has kept hens in the user's garden since 2010",
                "The user wants the assistant to always write short sentences in its answers",
            ],
        ),
        (
            "I bake bread on Sundays and always use rye flour.",
            ["The user bakes bread on Sundays and always uses rye flour"],
        ),
        (
            "I have been a vegetarian since 2010 and never eat fish.",
            ["The user has been a vegetarian since 2010 and never eats fish"],
        ),
    ],
)
def test_an_instruction_behind_a_statement_is_one_of_its_own_and_a_habit_is_not(text: str, facts: list[str]) -> None:
    assert sorted(said(text)) == sorted(facts)


def test_a_joined_verb_agrees_with_the_third_person() -> None:
    assert said("I have never flown to Japan but am open to going in May") == [
        "The user has never flown to Japan but is open to going in May 2024"
    ]
    assert said("I'm learning Go at work and have finished the tour of Go") == [
        "The user is learning Go at work and has finished the tour of Go"
    ]


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the example traps are not beside the tests")
def test_no_trap_of_programmers_and_learners_is_stored() -> None:
    for one in map(json.loads, EXAMPLES.read_text(encoding="utf-8").splitlines()):
        facts = said(one["messages"][0]["content"])
        assert not [w for w in one["must_not"] if any(re.search(w, fact, re.IGNORECASE) for fact in facts)], one["id"]
