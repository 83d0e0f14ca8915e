"""The formula's own pieces; what it promises as a whole is tested on the index."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from slowwave import AgentMemory, Message
from slowwave.policy.ranking.score import (
    length_gate,
    length_normalisation,
    profile_parts,
    question_share,
    top_rows_with_ties,
)

numbers = st.lists(st.floats(-1, 1) | st.just(-np.inf), max_size=400).map(np.array)


def test_short_texts_exchange_more_context_than_long_ones() -> None:
    assert length_gate(np.array([0, 1, 40, 80, 400])).tolist() == [1.0, 1.0, 1.0, 0.5, 0.1]


def test_the_question_share_is_one_only_for_short_questions() -> None:
    share, words = np.array([1.0, 0.5, 1.0, 0.0]), np.array([5, 5, 30, 0])
    assert question_share(share, words).tolist() == [1.0, 0.5, 0.5, 0.0]


def test_length_normalisation_is_one_at_the_average_and_at_most_one_for_facts() -> None:
    words = np.array([20.0, 40.0, 0.0, 0.0, 40.0])
    average, longer, none, fact, long_fact = length_normalisation(
        words, 20.0, np.array([True, True, True, False, False])
    )
    assert average == fact == 1.0
    assert longer == long_fact == pytest.approx(1 / 1.75)
    assert none == 4.0


@given(numbers, st.integers(1, 12))
def test_top_rows_equal_those_of_a_full_sort_with_ties(scores: np.ndarray, wanted: int) -> None:
    finite = np.sort(scores[scores > -np.inf])[::-1]
    last = finite[min(wanted, len(finite)) - 1] if len(finite) else np.inf
    assert sorted(top_rows_with_ties(scores, wanted).tolist()) == np.flatnonzero(scores >= last).tolist()


def test_profiles_have_the_formulas_of_the_sources() -> None:
    half = np.array([0.5])
    month = np.array([30 * 86_400.0])
    found = profile_parts("generative_agents", half, importance=half, age=month, strength=half)
    assert {name: float(part[0]) for name, part in found.items()} == {"importance": 0.25, "recency": 0.15}
    found = profile_parts("retention", half, importance=half, age=month, strength=half)
    assert 0.5 + found["strength"][0] == pytest.approx(0.5 * 0.5**0.3)


def test_an_opening_message_and_one_that_names_a_place_rise_between_people_only() -> None:
    lines = ("Ida", "the boat is new"), ("Ole", "we sailed it to Bergen"), ("Ida", "the boat is old")
    for roles, expected in (
        ((("user", "Ida"), ("user", "Ole")), [{"opening": 0.05}, {"placed": 0.05}, {}]),
        ((("user", None), ("assistant", None)), [{}, {}, {}]),
    ):
        with AgentMemory.open(":memory:", embedder=None) as memory:
            for (who, text), (role, _) in zip(lines, (*roles, roles[0]), strict=True):
                speaker = who if roles[0][1] else None
                memory.add_messages([Message(role=role, speaker=speaker, content=text)], conversation="c")
            hits = {hit.memory.text: hit.parts for hit in memory.search("boat")}
        found = [{name: hits[text][name] for name in ("opening", "placed") if name in hits[text]} for _, text in lines]
        assert found == expected


def test_a_reply_of_another_speaker_gets_more_of_the_words_before_it_than_the_same_speaker() -> None:
    shares = []
    for second in ("Ole", "Ida"):
        with AgentMemory.open(":memory:", embedder=None) as memory:
            lines = ("Ida", "the harbour closes early"), (second, "seven in winter"), ("Ole", "good night")
            memory.add_messages([Message(role="user", speaker=who, content=text) for who, text in lines], "c")
            hits = {hit.memory.text: hit.parts for hit in memory.search("harbour")}
        shares.append(hits["seven in winter"]["words"])
    assert shares[0] > shares[1] > 0
