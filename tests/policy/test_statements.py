"""Statements: what is read out of a plain sentence, and what is not read at all."""

import pytest

from slowwave.policy.comparison.statements import formed, implied, plain, statement, stems


def test_a_state_has_a_holder_a_relation_and_a_value() -> None:
    said = statement("Alice's new manager is Ann Lee, since May")
    assert said is not None
    assert (said.holder, said.relations, said.value) == (("alice", "'s", "manager"), {"be"}, ("Ann", "Lee"))
    assert (said.tail, said.new, said.event, said.sure) == (", since May", True, False, True)
    assert stems(said.value) == {"ann", "lee"}


def test_a_change_can_have_several_relations() -> None:
    said = statement("We've moved to Ghent last week")
    assert said is not None
    assert said.relations >= {"live", "use"}
    assert (said.value, said.tail, said.new, said.event) == (("Ghent",), "last week", True, True)


@pytest.mark.parametrize("text", ["I moved from Ghent to Antwerp", "I moved to Antwerp from Ghent"])
def test_a_change_can_name_the_value_before(text: str) -> None:
    said = statement(text)
    assert said is not None
    assert (said.before, said.value, said.tail) == (("Ghent",), ("Antwerp",), "")


@pytest.mark.parametrize(
    "text",
    ["I moved the standup to 10:00", "The standup was moved to 10:00", "The standup is now at 10:00"],
)
def test_three_wordings_of_a_changed_time_have_one_subject(text: str) -> None:
    said = statement(text)
    assert said is not None
    assert said.holder == ("the", "standup")
    assert said.value == ("10:00",)
    assert said.new


@pytest.mark.parametrize("text", ["I'm 31", "I am 31", "The user is 31", "Actually, I'm 31."])
def test_the_first_person_is_the_user(text: str) -> None:
    said = statement(text)
    assert said is not None
    assert (said.holder, said.value) == (("user",), ("31",))


@pytest.mark.parametrize(
    ("text", "holder", "value"),
    [
        ("Bob Lee is our new CEO", ("our", "ceo"), ("Bob", "Lee")),
        ("Bob owns the shop", ("own", "the", "shop"), ("Bob",)),
        ("The user owns the shop", ("own", "the", "shop"), ("User",)),
        ("I own the shop", ("own", "the", "shop"), ("User",)),
    ],
)
def test_a_sentence_with_the_value_first_is_parsed(text: str, holder: tuple[str, ...], value: tuple[str, ...]) -> None:
    said = statement(text)
    assert said is not None
    assert (said.holder, said.value, said.value_first) == (holder, value, True)
    assert said.sure == ("CEO" in text)


def test_current_does_not_mean_new() -> None:
    said = statement("My current address is 7 Oak St")
    assert said is not None
    assert said.holder == ("user", "'s", "address")
    assert not said.new


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Ghent?",
        "I do not live in Ghent",
        "I might live in Ghent",
        "I also live in Ghent",
        "Ik woon nu in Gent",
        "The man who lives in Ghent is here",
        "Yesterday, I live in Ghent",
        "Hello there",
        "Bob is our CEO, and a friend",
        "I live in one two three four five six seven",
        "x" * 300,
    ],
)
def test_other_sentences_are_not_parsed(text: str) -> None:
    assert statement(text) is None


def test_capitalised_modals_are_names() -> None:
    assert plain("The deadline is May 3")
    assert not plain("The deadline may be tomorrow")


def test_formed_also_parses_sentences_that_are_not_plain() -> None:
    assert formed("I might be based in Ghent") is None
    assert formed("My wish is Ghent") is not None
    assert statement("My wish is Ghent") is None


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("I moved to Bern", "live use"),
        ("We switched to Postgres 16", "use"),
        ("I got a new job at Globex", "work"),
        ("The standup moved to Monday", "live use"),
        ("I live in Bern", ""),
        ("Nothing of the kind", ""),
    ],
)
def test_a_change_implies_the_verb_of_its_state(text: str, verbs: str) -> None:
    assert implied(text) == verbs
