"""Tests of the lines of topic pages in contexts: a fact and the clause that it tells are not both shown."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from slowwave.model.memory import Memory, SourceRef
from slowwave.pipelines.recall.core_memory import context_line
from slowwave.pipelines.recall.page_lines import _UNCLEAR, _is_shown, _words
from slowwave.policy.summaries.pages import PageLine

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SAID = Memory(
    id="m", scope="s", kind="message", role="user", speaker="Ines", conversation="c", seq=1,
    text="I bought a red kayak yesterday! My brother rows on Sundays.", recorded_at=NOW, valid_from=NOW,
)  # fmt: skip
TOLD = Memory(
    id="f", scope="s", kind="semantic", subject="Ines", text="Ines bought a red kayak on 28 February 2026",
    sources=(SourceRef(memory="m", ref="m"),), recorded_at=NOW, valid_from=NOW,
)  # fmt: skip
PAGE = replace(TOLD, id="p", kind="summary", category="page", ref="Ines/sports")


def line(text: str, member: str) -> PageLine:
    return PageLine(text=text, day=date(2026, 3, 1), member=member)


@pytest.mark.parametrize(("text", "shown"), [("I bought a red kayak yesterday", True), ("My brother rows", False)])
def test_a_clause_is_left_out_beside_the_fact_that_tells_it(text: str, *, shown: bool) -> None:
    fact = context_line(TOLD.text, TOLD, "", facts=(TOLD,), quoted=False)
    assert _is_shown(line(text, "m"), SAID, [fact]) is shown
    assert not _is_shown(line(text, "m"), SAID, [])


def test_words_of_a_person_have_the_person_before_them() -> None:
    assert _words(PAGE, line("I bought a red kayak", "m"), SAID) == "(sports) Ines: I bought a red kayak"
    assert _words(PAGE, line(TOLD.text, "f"), TOLD) == f"(sports) {TOLD.text}"


@pytest.mark.parametrize(
    ("text", "unclear"),
    [
        ("I enjoy it after a swim", True),
        ("They painted the hull", True),
        ("I lent him a rope", True),
        ("I bought a kayak and painted it", False),
        ("Itineraries bore me", False),
    ],
)
def test_a_clause_that_begins_with_a_pronoun_says_nothing_alone(text: str, *, unclear: bool) -> None:
    assert bool(_UNCLEAR.match(text.lower())) is unclear
