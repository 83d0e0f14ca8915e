"""A pronoun for a person of the clause or message before becomes that person."""

from datetime import UTC, datetime

import pytest
from tests.minds.offline.test_whats_implied import texts

from slowwave import AgentMemory
from slowwave.minds.offline.rules.antecedents import person_in, with_antecedent
from slowwave.testing import FrozenClock


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("my brother Uli is a joiner and I want to visit him in June", "The user wants to visit the user's brother Uli in June 2025"),
        ("We adopted a puppy two weeks ago! Her name's Coco", "The user's puppy is called Coco"),
        ("I visited my sister Ana in Leeds last week. I borrowed her car.", "The user borrowed the user's sister Ana's car"),
        ("My dad lives in Cork. I call him every Sunday.", "The user calls the user's dad every Sunday"),
    ],
)  # fmt: skip
def test_a_pronoun_becomes_the_person_of_the_clause_before(text: str, wanted: str) -> None:
    assert wanted in texts(text)


@pytest.mark.parametrize(
    "text",
    [
        "My wife and my mum met. I called her on Sunday.",  # two women
        "My brother lives in Cork. I call her every Sunday.",  # a man
        "I saw a dog. I took him to Leeds.",  # nobody's dog
    ],
)
def test_a_pronoun_without_a_clear_person_states_nothing(text: str) -> None:
    assert not [fact for fact in texts(text) if "Sunday" in fact or "took" in fact]


def test_the_person_of_a_statement_is_the_only_one_it_names() -> None:
    assert person_in("I have a son and a daughter") == ""
    assert person_in("I met a doctor") == ""
    assert with_antecedent("I told her to stop", "my mum") == "I told my mum to stop"


def told(*messages: str, hours: int = 1) -> list[str]:
    """The facts of a talk in which the user writes these messages, so many hours apart, each answered and consolidated by itself."""
    clock = FrozenClock(datetime(2025, 1, 16, 9, tzinfo=UTC))
    with AgentMemory.open(":memory:", llm=None, embedder="none", clock=clock) as memory:
        for message in messages:
            clock.advance(hours=hours)
            memory.add_messages([{"role": "user", "content": message}, {"role": "assistant", "content": "Nice."}], "c")
            memory.consolidate("c", force=True)
        return [fact.text for fact in memory.get_all()]


def test_the_message_before_names_the_person() -> None:
    assert "The user's daughter Mia turns 5 on 14 March 2025" in told(
        "My daughter Mia started school in Bern.", "She turns 5 on 14 March."
    )
    assert "The user wants to visit the user's brother Uli in June 2025" in told(
        "My brother Uli is a joiner.", "I want to visit him in June"
    )


def test_the_message_before_names_nobody_for_certain() -> None:
    days_later = told("My daughter Mia sings.", "She turns 5 on 14 March.", hours=50)
    assert not [fact for fact in days_later if "March" in fact]
    assert not [fact for fact in told("My daughter Mia met Emma.", "She turns 5 on 14 March.") if "March" in fact]
    assert not [fact for fact in told("My daughter Mia sings.", "He turns 5 on 14 March.") if "March" in fact]
    assert not [
        fact for fact in told("My daughter Mia sings.", "It is cold.", "She turns 5 on 14 March.") if "March" in fact
    ]
