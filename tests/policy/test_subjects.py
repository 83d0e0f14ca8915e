"""Names of one subject: what teaches them, what does not, and how they fold into one key."""

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.comparison.subjects import Alias, aliases_from, canonical, first_names, key, learned, names_of


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("My name is Matteo Rossi and I live in Rome.", ["matteo rossi", "matteo"]),
        ("Nice to meet you. my name’s Ludwig van Beethoven!", ["ludwig van beethoven", "ludwig"]),
        ("call me Matt", ["matt"]),
        ("Please call me Matt, everyone does.", ["matt"]),
        ("At work everyone calls me Teo", ["teo"]),
        ("I go by Teo.", ["teo"]),
        ("Hi, I'm Matteo", ["matteo"]),
        ("Hello there! I’m Matteo.", ["matteo"]),
        ("I am Jean-Luc Picard from France", ["jean-luc picard", "jean-luc"]),
        ("My name is Anna. But call me Ann.", ["anna", "ann"]),
    ],
)
def test_names_that_speakers_give_themselves_are_learned(text: str, names: list[str]) -> None:
    found = aliases_from(text, "User")
    assert [alias.name for alias in found] == names
    assert {alias.subject for alias in found} == {"user"}
    assert all("They said" in alias.because for alias in found)


@pytest.mark.parametrize(
    "text",
    [
        "I'm Italian.",
        "I'm Catholic and proud",
        "I'm Team Lead.",
        "I'm fine",
        "I'm Project Manager at Acme",
        "Don't call me Matt",
        "My name is not Bob",
        "Call me Monday",
        "Call me later",
        "What if my name is Bob?",
        "If my name is Bob, then what",
        'She said "my name is Anna"',
        "She said my name is Bob",
        "My friend's name is Anna",
        "This is Sarah, my sister.",
        "```\nprint('my name is Bob')\n```",
        "",
    ],
)
def test_other_sentences_teach_no_names(text: str) -> None:
    assert aliases_from(text, "user") == ()


def test_a_speaker_is_not_an_alias_of_themselves() -> None:
    assert [alias.name for alias in aliases_from("My name is Matteo Rossi.", "Matteo")] == ["matteo rossi"]


def test_user_name_and_first_person_are_one_subject_once_learned() -> None:
    aliases = learned({}, aliases_from("My name is Matteo Rossi, call me Matt.", "user"))
    spoken = ["The user", "user", "I", "me", "Matteo", "MATTEO  ROSSI", "matt"]
    assert {canonical(one, aliases, speaker="user") for one in spoken} == {"user"}
    assert canonical("I", aliases) == "i"
    assert canonical("Anna", aliases) == "anna"
    assert names_of("Matt", aliases) == {"user", "matteo", "matteo rossi", "matt"}


def test_a_name_of_two_subjects_stays_ambiguous() -> None:
    first = Alias(name="matteo", subject="anna's brother", because="")
    second = Alias(name="matteo", subject="user", because="")
    aliases = learned({}, [first, second, second])
    assert canonical("Matteo", aliases) == "matteo"
    assert canonical("Matteo", learned(aliases, [first])) == "matteo"


def test_learning_returns_a_new_mapping() -> None:
    known = {"teo": "user"}
    assert learned(known, [Alias(name="matt", subject="teo", because="")]) == {"teo": "user", "matt": "user"}
    assert known == {"teo": "user"}


def test_a_unique_first_name_is_an_alias_of_the_full_name() -> None:
    found = first_names(["Matteo", "Matteo Rossi", "Anna", "Anna Berg", "Anna Lund", "Bob"])
    assert [(alias.name, alias.subject) for alias in found] == [("matteo", "matteo rossi")]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("  The  User ", "user"),
        ("the", "the"),
        ("Zoë’s team.", "zoë's team"),
        ("A", "a"),
        ("A project", "project"),
        ("", ""),
    ],
)
def test_keys_ignore_case_articles_and_punctuation(written: str, expected: str) -> None:
    assert key(written) == expected


NAMES = st.sampled_from(["a1", "b1", "c1", "d1", "user"])


@given(st.lists(st.tuples(NAMES, NAMES), max_size=12), NAMES)
def test_canonical_always_ends_and_is_idempotent(pairs: list[tuple[str, str]], name: str) -> None:
    aliases = learned({}, [Alias(name=a, subject=b, because="") for a, b in pairs])
    one = canonical(name, aliases)
    assert canonical(one, aliases) == one
    assert one in names_of(name, aliases)


@given(NAMES)
def test_a_cycle_of_aliases_does_not_hang(name: str) -> None:
    assert canonical(name, {"a1": "b1", "b1": "c1", "c1": "a1"}) in {"a1", "b1", "c1", "d1", "user"}
