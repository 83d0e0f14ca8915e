"""What a text says of itself, and what a question asks for."""

import sys
from array import array
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.text import features
from slowwave.policy.text.features import (  # fmt: skip
    COUNT,
    WHEN,
    WHERE,
    WHO,
    WHY,
    date_terms,
    index_text,
    is_small_talk,
    name_tokens,
    parse_question,
    passages,
)
from slowwave.policy.text.tokens import term_id, terms, word_id

PEOPLE = {"ann": frozenset({0}), "melanie": frozenset({1}), "smith": frozenset({0, 2}), "bob": frozenset({2})}


@given(st.text())
def test_an_entry_contains_the_terms_in_order(text: str) -> None:
    entry = index_text(text)
    assert list(memoryview(entry.terms).cast("Q")) == [term_id(term) for term in terms(text)]
    assert entry.words == len(terms(text))
    assert 0.0 <= entry.question <= 1.0


def test_terms_are_little_endian_on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    swapped = array("Q", [word_id("cat")])
    swapped.byteswap()
    monkeypatch.setattr(sys, "byteorder", "big")
    assert index_text("cat").terms == swapped.tobytes()


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("I like it.", 0.0),
        ("Do you like it?", 1.0),
        ("I do. And you there?", 0.6),
        ("好きですか？", 1.0),
        ("Fine!\nWhy?", 0.5),
        ("", 0.0),
    ],
)
def test_the_share_of_words_in_questions(text: str, share: float) -> None:
    assert index_text(text).question == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("nothing here", 0),
        ("We left yesterday", WHEN),
        ("you may march on", 0),
        ("last May", WHEN),
        ("I have two", COUNT),
        ("he lives in Paris", WHERE | WHO),
        ("because it rained", WHY),
        ("my sister called", WHO),
        ("I'm told, I am", 0),
    ],
)
def test_cues_name_the_questions_that_a_text_can_answer(text: str, cues: int) -> None:
    found = index_text(text).cues
    assert found & ~WHO == cues & ~WHO
    assert not cues & WHO or found & WHO


def test_only_long_texts_are_split_into_passages() -> None:
    assert passages("word " * features.LONG) == []
    cut = passages(" ".join(map(str, range(100))))
    assert [len(part.split()) for part in cut] == [40, 40, 20]
    assert " ".join(cut).split() == list(map(str, range(100)))


def test_a_very_long_text_has_longer_passages() -> None:
    cut = passages("word " * 100_000)
    assert len(cut) == features.PASSAGES_MOST


def test_a_question_can_name_a_speaker() -> None:
    question = parse_question("When did Melanie's brother call?", PEOPLE)
    assert question.speaker == 1
    assert question.wording == "When did brother call?"
    assert question.terms == (word_id("brother"), word_id("call"))
    assert question.cue == WHEN


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("What did Ann tell Bob?", None),
        ("What does Mel like?", 1),
        ("What does mel like about Rome?", None),
        ("what does ann like?", 0),
        ("what does ann like about Rome?", None),
        ("Where does Smith live?", None),
        ("Where does Ann Smith live?", 0),
        ("Is Me a name?", None),
        ("Who is An?", None),
        ("Who is it?", None),
    ],
)
def test_only_capitalised_or_full_names_match(text: str, speaker: int | None) -> None:
    assert parse_question(text, PEOPLE).speaker == speaker


def test_an_ambiguous_nickname_resolves_to_no_person() -> None:
    assert parse_question("What about Mari?", {"marie": frozenset({0}), "maria": frozenset({1})}).speaker is None


def test_without_known_speakers_the_wording_is_the_exact_text() -> None:
    assert parse_question("  odd   spaces Ann ", {}).wording == "  odd   spaces Ann "


@pytest.mark.parametrize(
    ("text", "of_user"),
    [
        ("What is my name?", True),
        ("What did you suggest?", False),
        ("Did you know me?", True),
        ("Which port is used?", False),
        ("Welcher Port wird benutzt?", True),
    ],
)
def test_a_question_is_about_the_user_if_it_says_i_or_my_or_is_not_in_english(text: str, of_user: bool) -> None:
    assert parse_question(text, {}).of_user is of_user


@pytest.mark.parametrize(
    ("text", "recent"), [("Where do I live now?", True), ("the latest build", True), ("I know nothing", False)]
)
def test_questions_for_the_present_state_are_detected(text: str, recent: bool) -> None:
    assert parse_question(text, {}).recent is recent


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("How many cats?", COUNT),
        ("Where?", WHERE),
        ("Why?", WHY),
        ("Who?", WHO),
        ("Which year and why?", WHEN | WHY),
        ("Cats?", 0),
    ],
)
def test_the_kind_of_answer_is_detected(text: str, cue: int) -> None:
    assert parse_question(text, {}).cue == cue


def test_terms_contain_no_stop_words_and_no_repetitions() -> None:
    assert parse_question("the cat and the cats", {}).terms == (word_id("cat"),)
    assert parse_question("what is it?", {}).terms == ()


def test_each_word_of_a_name_can_be_used_alone() -> None:
    assert name_tokens("Dr. Ann-Marie Smith B.") == ["ann", "marie", "smith"]
    assert name_tokens("Will") == []


def test_a_day_is_found_by_its_number_month_and_year() -> None:
    assert date_terms(datetime(2023, 5, 8, tzinfo=UTC)) == tuple(map(term_id, terms("8 May 2023")))


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("ok", True),
        ("Noted.", True),
        ("👍 !", True),
        ("Yes, that is good", True),
        ("Ok, 7", False),
        ("好的", True),
        ("天气", False),
    ],
)
def test_acknowledgements_are_small_talk(text: str, nothing: bool) -> None:
    assert is_small_talk(text) is nothing
    assert not is_small_talk(f"{text} {'ok ' * 40}")
