"""A "never" of the speaker against what the same speaker did."""

import pytest

from slowwave.policy.comparison.contradictions import conflicts, denials


def even(_: str) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I've never used Docker.", ["I've never used Docker."]),
        (
            "I am quite lost here, because we have never deployed to Render before.",
            ["because we have never deployed to Render before."],
        ),
        ("My sister has never used Docker.", []),
        ("Never mention Docker when I ask about containers.", []),
        ("I have never wanted to use Docker, I want to stay simple.", []),
        ("I never skip it, I always write tests.", ["I never skip it,"]),
        ("Have I never used Docker before?", []),
        ("I used Docker yesterday.", []),
    ],
)
def test_a_denial_is_a_first_person_never(text: str, found: list[str]) -> None:
    assert list(denials(text)) == found


def test_a_finished_action_contradicts_a_denial() -> None:
    texts = ["The weather is nice today.", "I've integrated Flask-Login last week, and it was easy.", "Flask is nice."]
    (found,) = conflicts("I've never integrated Flask-Login", texts, even)
    assert (found.index, found.clause, found.share) == (1, "I've integrated Flask-Login last week,", 1.0)
    assert "I've never integrated Flask-Login" in found.because


@pytest.mark.parametrize(
    "text",
    [
        "I never integrated Flask-Login either",
        "Should I have integrated Flask-Login?",
        "I'm trying to integrate Flask-Login",
        "I want to see Flask-Login integrated",
        "Can you help me: how to integrate Flask-Login",
        "I did not integrate Flask-Login",
        "The invoice is paid",
        "",
    ],
)
def test_negations_plans_attempts_and_questions_contradict_no_fact(text: str) -> None:
    assert conflicts("I've never integrated Flask-Login", [text], even) == []


def test_conflicts_are_ordered_by_share_then_by_position() -> None:
    texts = ["I integrated Flask", "I integrated Flask-Login", "We integrated Flask-Login too"]
    found = conflicts("I have never integrated Flask-Login", texts, even, limit=3)
    assert [conflict.index for conflict in found] == [1, 2, 0]
    assert [conflict.index for conflict in conflicts("I have never integrated Flask-Login", texts, even)] == [1]


def test_a_denial_without_idf_mass_has_no_conflicts() -> None:
    assert conflicts("I never did", ["I did"], even) == []
    assert conflicts("I never sang", ["I sang"], lambda _: 0.0) == []
