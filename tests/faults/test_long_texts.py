"""Long texts of many kinds through every verb that takes a text: the time grows in proportion to the length."""

from pathlib import Path
from typing import Final

import pytest
from tests.attack.texts import seconds, too_slow

from slowwave.testing.long_texts import KINDS

LIMITS: Final = {"consolidated": 3.0}
"""Seconds for 20,000 characters, if more than one: some kinds state hundreds of facts, each of which is read and checked."""
SHORT: Final = frozenset(
    {
        "upper-case hex", "one letter", "hash", "dotted", "long blanks", "days", "opened quotes", "base64 of words",
        "chemical formula", "statement",
    }
)  # fmt: skip
EACH: Final = [kind if kind in SHORT else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS]


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile the patterns and load the tables: the first call of each verb does it."""
    for kind in ("statement", "Japanese"):
        seconds(KINDS[kind](400), tmp_path_factory.mktemp("warm"))


@pytest.mark.parametrize("kind", EACH)
def test_the_time_of_every_verb_grows_in_proportion_to_the_length_of_the_text(kind: str, tmp_path: Path) -> None:
    assert too_slow(KINDS[kind], 5_000, tmp_path) == {}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_no_verb_takes_a_second_for_twenty_thousand_characters(kind: str, tmp_path: Path) -> None:
    taken = seconds(KINDS[kind](20_000), tmp_path)
    assert {name: took for name, took in taken.items() if took > LIMITS.get(name, 1.0)} == {}


@pytest.mark.long
@pytest.mark.parametrize("kind", [*sorted(SHORT), "words", "semicolon", "Japanese", "any code point", "JSON"])
def test_the_time_grows_in_proportion_up_to_two_hundred_thousand_characters(kind: str, tmp_path: Path) -> None:
    assert too_slow(KINDS[kind], 200_000, tmp_path) == {}


def test_each_kind_gives_a_text_of_the_length_that_is_asked_for() -> None:
    assert len(KINDS) >= 100
    assert {kind: len(text(1_000)) for kind, text in KINDS.items()} == dict.fromkeys(KINDS, 1_000)
    assert len({text(1_000) for text in KINDS.values()}) == len(KINDS)
