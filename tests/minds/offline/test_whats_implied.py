"""Statements beside questions, taken for granted, of rules and places, and of what is no longer so become facts."""

from datetime import UTC, datetime

import pytest

from slowwave.minds.offline.distil import distil
from slowwave.model.memory import Memory
from slowwave.model.mind import Transcript, Turn

AT = datetime(2025, 3, 5, 9, tzinfo=UTC)


def texts(text: str) -> list[str]:
    """The facts of one message to an assistant, said on Wednesday 5 March 2025."""
    memory = Memory(
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
    turn = Turn(number=1, memory=memory)
    found, _ = distil(Transcript(conversation="c", turns=(turn,), most=20, speakers=frozenset()))
    return [fact.text for fact in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("My name's Amira Said and I’m based in Tunis, what time is it in Oslo now?", ["The user's name is Amira Said", "The user is based in Tunis"]),
        ("my brother Uli is a joiner in Kiel and I want to visit him in June, ideas?", ["The user's brother Uli is a joiner in Kiel"]),
        ("We replaced the stove with a wood burner in 2021, is that legal in a flat?", ["The user replaced the stove with a wood burner in 2021"]),
        ("Now that I work at Bosch I drive to Stuttgart every day", ["The user works at Bosch", "The user drives to Stuttgart every day"]),
        ("since i moved to Turin for my degree i've hardly seen my parents", ["The user moved to Turin for the user's degree"]),
    ],
)  # fmt: skip
def test_a_statement_beside_a_question_or_taken_for_granted_is_stored(text: str, wanted: list[str]) -> None:
    assert [fact for fact in texts(text) if fact in wanted] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The API must return ISO dates, the old client breaks otherwise", "The API must return ISO dates, the old client breaks otherwise"),
        ("On this project we use pnpm, not npm", "On the user's project the user uses pnpm, not npm"),
        ("Guests sleep in the attic room", "Guests sleep in the attic room"),
        ("our style guide forbids semicolons", "The user's style guide forbids semicolons"),
        ("the spare key is under the mat btw", "The spare key is under the mat"),
        ("Reach me at 0151 496 0733 or via Signal", "The user can be reached at 0151 496 0733 or via Signal"),
        ("You can reach my sister Ada on 0151 496 0744", "The user's sister Ada can be reached on 0151 496 0744"),
        ("Allergy: penicillin", "The user's allergy is penicillin"),
        ("birthday 4 May", "The user's birthday is 4 May"),
        ("no longer vegetarian but still no pork", "The user is no longer vegetarian but still no pork"),
        ("never again will I fly with Nord Air", "The user will never again fly with Nord Air"),
        ("My physio appointment was moved to Thursday at 4", "The user's physio appointment was moved to 6 March 2025 at 4"),
        ("We moved from Utrecht to Gouda in 2019", "The user moved from Utrecht to Gouda in 2019"),
        ("use 24h times with me", "The user wants the assistant to use 24h times with the user"),
        ("For recipes, give me weights in grams, not cups.", "The user wants the assistant to give the user weights in grams for recipes, not cups"),
        ("my nephew's coming to live with us in september", "The user's nephew is coming to live with the user in September 2025"),
        ("We're expecting our second in November!", "The user is expecting the user's second child in November"),
        ("im 42 next month", "The user turns 42 in April 2025"),
    ],
)  # fmt: skip
def test_rules_places_notes_and_changes_are_readable_facts(text: str, wanted: str) -> None:
    assert texts(text) == [wanted]


@pytest.mark.parametrize(
    "text",
    [
        "The function must return a list",
        "Each class must have at most 3 methods in this exercise",
        "I have 12 apples and give Tom 5, how many are left?",
        "A train leaves Hull at 9:15 and travels at 80 km/h",
        "The test fails on line 42 with a TypeError",
        "my array has 5 elements",
        "sure, and I'm the Queen of Sheba",
        "I'm 900 years old today, or so it feels",
        "Knock knock. Who's there? I'm Olive. Olive who?",
        "The key to success is in the details",
        "Should I move to Porto or stay in Braga?",
        "no longer needed",
    ],
)
def test_exercises_programs_and_jokes_are_no_facts(text: str) -> None:
    assert texts(text) == []
