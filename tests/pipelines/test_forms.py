from datetime import UTC, datetime

import pytest

from slowwave.model.memory import Memory
from slowwave.model.query import Hit
from slowwave.pipelines.recall.forms import HitForms, trimmed
from slowwave.policy.text.tokens import content_terms

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SAID = (
    "Thanks, Rui! I sold the old boat on Monday. Losing the berth gave me the push to buy a cabin by the lake instead."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks, Odile!", ""),
        ("Wow, Odile! I really sold the boat.", "I sold the boat."),
        ("Hey Odile! The ramp isn't just for us, it's for the whole street!", None),
        ("Great work on the fence, Odile!", None),
        ("Blue.", "Blue."),
        ("Thanks, Odile! [image: a red kayak on a roof]", ""),
    ],
)
def test_a_trimmed_message_keeps_its_meaning_or_nothing(text: str, expected: str | None) -> None:
    short = trimmed(text)
    if expected is None:
        assert short.removeprefix("Odile! ") == text.removeprefix("Hey Odile! ")
    else:
        assert short == expected


def hit(*facts: str, asked: str = "") -> HitForms:
    """The forms of a message with facts."""
    said = Memory(
        id="m",
        scope="s",
        kind="message",
        role="user",
        speaker="Odile",
        conversation="c",
        seq=1,
        text=SAID,
        recorded_at=NOW,
        valid_from=NOW,
    )
    known = [
        Memory(id=f"f{place}", scope="s", kind="semantic", text=text, recorded_at=NOW, valid_from=NOW)
        for place, text in enumerate(facts)
    ]
    return HitForms(hit=Hit(memory=said, score=1.0, facts=tuple(known)), asked=content_terms(asked))


def test_one_clause_of_a_message_does_not_replace_it() -> None:
    forms = hit("Odile sold the old boat on Monday")
    assert "gave me the push" in forms.short.text
    assert "Thanks" not in forms.short.text
    assert "gave me the push" not in forms.least.text
    assert forms.least.tokens < forms.short.tokens < forms.full.tokens
    assert forms.least.facts == forms.hit.facts


def test_facts_with_most_words_of_a_message_replace_it() -> None:
    forms = hit("Odile sold the old boat on Monday", "Losing the berth pushed Odile to buy a cabin by the lake")
    assert forms.short == forms.least
    assert forms.short.facts == forms.hit.facts


def test_a_message_without_facts_has_no_shorter_form_than_its_own_words() -> None:
    forms = hit()
    assert forms.least == forms.short
    assert forms.detailed == forms.full


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("What did she buy?", "user (Odile): Losing the berth gave me the push to buy a cabin by the lake instead."),
        ("When was the boat sold?", "Odile sold the old boat on Monday"),
        ("Which colour?", "Odile sold the old boat on Monday"),
    ],
)
def test_an_excerpt_has_the_sentences_with_words_of_the_question_or_facts_with_as_many(
    asked: str, expected: str
) -> None:
    forms = hit("Odile sold the old boat on Monday", asked=asked)
    assert forms.excerpt.text == f"[2026-03-01] {expected}"
    assert forms.excerpt.tokens < forms.short.tokens


def test_an_excerpt_without_a_word_of_the_question_is_the_short_form() -> None:
    assert hit(asked="Which colour?").excerpt == hit(asked="Which colour?").short


def test_details_that_only_facts_name_are_in_the_longest_form() -> None:
    forms = hit("Odile sold the old boat to Bjarne")
    assert "Bjarne" in forms.detailed.text
    assert "Bjarne" not in forms.full.text


def test_a_message_has_the_date_of_its_fact_behind_its_own_words_in_each_of_its_forms() -> None:
    forms = hit("Odile sold the old boat on 23 February 2026")
    for form in (forms.short, forms.full, forms.detailed):
        assert "on Monday [23 February 2026]. Losing" in form.text
        assert form.facts == forms.hit.facts


def test_a_message_has_no_date_that_its_facts_do_not_have() -> None:
    for fact in ("Odile sold the old boat", "Odile sold the old boat on 16 February 2026"):
        assert "on Monday. Losing" in hit(fact).full.text
