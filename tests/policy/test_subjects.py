"""Subjects of facts: their keys, and which two are one subject."""

import pytest

from slowwave.policy.comparison.subjects import key, one_subject


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


@pytest.mark.parametrize(
    ("new", "old", "names"),
    [
        ("Alice", "alice", ("Alice", "alice")),
        ("The User", "user", ("The User", "user", "the user")),
        ("Alice", "Bob", ()),
        ("Alice", None, ()),
        ("", "", ()),
    ],
)
def test_the_names_of_a_common_subject_are_returned(new: str | None, old: str | None, names: tuple[str, ...]) -> None:
    assert one_subject(new, old) == names
