"""Extractive summaries: most informative words in a budget, nothing rewritten."""

import importlib.util
import os
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.retention.importance import Frequencies
from slowwave.policy.summaries.extract import SummaryClause, parse, render, select, split_clauses

YOUNG = Frequencies(documents=0, frequency=lambda _: 0)
WORDS = ["saxophone", "Lisbon", "greyhound", "2019", "thing", "people", "adopted", "the", "not"]
UNITS = st.lists(
    st.builds(
        SummaryClause,
        text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
        speaker=st.sampled_from(["Ann", "Bob", None]),
        position=st.integers(0, 5),
        cues=st.floats(0, 2),
        question=st.booleans(),
        caption=st.booleans(),
    ),
    max_size=12,
)


def length(chosen: tuple[SummaryClause, ...]) -> int:
    return sum(len(unit.text.split()) for unit in chosen)


@given(candidates=UNITS, limit=st.integers(0, 30))
def test_a_summary_keeps_the_limit_the_order_and_the_words(candidates: list[SummaryClause], limit: int) -> None:
    chosen = select(candidates, limit=limit, rarity=YOUNG.rarity)
    assert length(chosen) <= limit
    assert [unit.position for unit in chosen] == sorted(unit.position for unit in chosen)
    assert all(unit in candidates for unit in chosen)


@given(candidates=UNITS, limit=st.integers(0, 30))
def test_selecting_again_from_a_summary_changes_nothing(candidates: list[SummaryClause], limit: int) -> None:
    chosen = select(candidates, limit=limit, rarity=YOUNG.rarity)
    assert select(chosen, limit=limit, rarity=YOUNG.rarity) == chosen


@given(candidates=UNITS)
def test_a_sufficient_budget_covers_every_informative_word(candidates: list[SummaryClause]) -> None:
    chosen = select(candidates, limit=1_000, rarity=YOUNG.rarity)
    kept = {word for unit in chosen for word in unit.text.split()}
    assert {word for unit in candidates for word in unit.text.split()} - kept <= {"the", "not"}


@given(candidates=UNITS)
def test_every_selected_clause_adds_a_word(candidates: list[SummaryClause]) -> None:
    chosen = select(candidates, limit=1_000, rarity=YOUNG.rarity)
    for one, other in combinations(chosen, 2):
        assert set(one.text.lower().split()) - {"the", "not"} != set(other.text.lower().split()) - {"the", "not"}


def test_names_numbers_and_rare_words_come_first_and_questions_and_captions_last() -> None:
    pool = [
        SummaryClause(text="we saw some people there"),
        SummaryClause(text="we saw Lisbon in 2019 there"),
        SummaryClause(text="we saw one greyhound there", question=True),
        SummaryClause(text="we saw one saxophone there", caption=True),
        SummaryClause(text="we saw one accordion there"),
    ]
    chosen = [select(pool, limit=5 + part, rarity=YOUNG.rarity)[0].text for part in range(2)]
    assert chosen == ["we saw Lisbon in 2019 there"] * 0 + [chosen[0], "we saw Lisbon in 2019 there"]
    assert chosen[0] == "we saw one accordion there"


def test_cues_raise_the_value_of_a_clause() -> None:
    plain, cued = SummaryClause(text="one greyhound"), SummaryClause(text="one saxophone", cues=2.0)
    assert select([plain, cued], limit=2, rarity=YOUNG.rarity) == (cued,)


def test_names_of_speakers_have_no_value() -> None:
    assert (
        select(
            [SummaryClause(text="Caroline Caroline", speaker="Mel")],
            limit=9,
            rarity=YOUNG.rarity,
            speakers=["Caroline"],
        )
        == ()
    )


def test_summary_clauses_are_trimmed_and_have_cues() -> None:
    text = "Hey Mel! I adopted a greyhound in 2019, and it sleeps all day long. Isn't it cute? [image: a dog asleep]"
    adopted, sleeps, cute, asleep = split_clauses(text, speaker="Ann", position=7, speakers=["Ann", "Mel"])
    assert [unit.text for unit in (adopted, sleeps)] == ["I adopted a greyhound in 2019", "it sleeps all day long."]
    assert adopted.cues > sleeps.cues > 0
    assert (cute.question, asleep.caption) == (True, True)
    assert {unit.speaker for unit in (adopted, sleeps, cute, asleep)} == {"Ann"}
    assert {unit.position for unit in (adopted, sleeps, cute, asleep)} == {7}


def test_brief_clauses_are_notes() -> None:
    assert [unit.text for unit in split_clauses("I'm at the gym", brief=True)] == ["at the gym"]


def test_a_text_without_content_has_no_clauses() -> None:
    assert split_clauses("Hey! It is so. And you?") == ()


def test_a_summary_is_printed_by_speaker_in_order_of_time() -> None:
    chosen = (
        SummaryClause(text="ran a race.", speaker="Mel"),
        SummaryClause(text="a medal", speaker="Mel", caption=True),
        SummaryClause(text="adopted a dog", speaker="Ann"),
        SummaryClause(text="it rained"),
        SummaryClause(text="painted a lake!", speaker="Mel"),
    )
    assert render(chosen) == "Mel: ran a race; [a medal]; painted a lake!\nAnn: adopted a dog\nit rained"
    assert render(()) == ""


@given(candidates=UNITS)
def test_parse_is_the_inverse_of_render(candidates: list[SummaryClause]) -> None:
    again = parse(render(candidates), speakers=["Ann", "Bob"], position=4)
    assert sorted((u.text, u.speaker or "", u.caption) for u in again) == sorted(
        (u.text, u.speaker or "", u.caption) for u in candidates
    )
    assert {unit.position for unit in again} <= {4}
    assert render(again) == render(candidates)


def test_only_speakers_are_labels_and_empty_parts_are_none() -> None:
    assert [(unit.speaker, unit.text) for unit in parse("Plan: sell it; []\n\nAnn: ", speakers=["Ann"])] == [
        (None, "Plan: sell it")
    ]


def test_a_fifth_of_a_session_keeps_most_of_what_is_asked_later() -> None:
    data = os.environ.get("SLOWWAVE_DATA")
    if not data:
        pytest.skip("SLOWWAVE_DATA names no folder with conversations")
    bench = Path(__file__).parents[2] / "bench" / "summaries.py"
    spec = importlib.util.spec_from_file_location("summaries", bench)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys  # noqa: PLC0415 - only here

    sys.modules["summaries"] = module
    spec.loader.exec_module(module)
    figures = module.measure(Path(data, "locomo", "locomo-dev.json"))
    assert figures["answer_words"] >= 60
    assert figures["evidence_touched"] >= 65
