"""What a text is worth: information and cues."""

import math
from collections.abc import Collection

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.retention.importance import (
    ASSISTANT,
    CUES,
    QUESTION,
    Frequencies,
    clause_score,
    importance,
    importance_cues,
    text_score,
)
from slowwave.policy.text.clauses import Clause

YOUNG = Frequencies(documents=0, frequency=lambda _: 0)


def store(documents: int, **counts: int) -> Frequencies:
    """A scope of so many texts, in which stems occur so often."""
    return Frequencies(documents=documents, frequency=lambda stem: counts.get(stem, 0))


def score(text: str, *, speakers: Collection[str] = (), answering: str = "") -> float:
    """The worth of a text in a young store."""
    return text_score(text, frequencies=YOUNG, speakers=speakers, answering=answering).score


def test_in_a_small_store_rarity_comes_from_the_english_table() -> None:
    assert YOUNG.rarity("the") < 0.8 < YOUNG.rarity("people") < YOUNG.rarity("guitar") < YOUNG.rarity("zyzzyva")


def test_the_stores_own_counts_win_as_it_grows() -> None:
    assert store(10_000, guitar=5_000).rarity("guitar") < 1
    assert store(10_000, guitar=1).rarity("guitar") > 6


@given(documents=st.integers(0, 10**6), share=st.floats(0, 1))
def test_rarity_falls_with_frequency_and_is_finite(documents: int, share: float) -> None:
    often = round(documents * share)
    rarity = store(documents, word=often).rarity("word")
    assert 0 <= rarity <= math.log(documents + 301)
    assert store(documents, word=often + 1).rarity("word") < rarity


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("they met in March", {"time"}),
        ("they may march on", set()),
        ("May they come in", set()),
        ("it was last weekend", {"time"}),
        ("costs $40 now", {"figure"}),
        ("up 12 %", {"figure"}),
        ("wake at 7:30", {"figure"}),
        ("the 3rd try", {"figure"}),
        ("back in 2019", {"figure"}),
        ("1,200 of them", {"figure"}),
        ("on Mar 5", {"figure"}),
        ("ran 10 km", {"figure"}),
        ("a dozen", set()),
        ("they play with Bruno here", {"names"}),
        ("Bruno plays", set()),
        ("so then I just adopted a dog", {"event", "first person"}),
        ("is it my turn?", set()),
        ("Please always answer in verse", {"instruction"}),
        ("ok, from now on use tabs", {"instruction"}),
        ("I'd rather not", {"instruction", "first person"}),
        ("it was always so", set()),
        ("Ok, never use tabs", {"instruction"}),
        ("Always feed the cat", {"instruction"}),
        ("Never been there", set()),
        ("Always used tabs", set()),
        ("they cheer and always smile", set()),
        ("I really love old trams", {"preference", "first person"}),
        ("we both enjoy hiking", {"preference", "first person"}),
        ("they say I'm a big fan of jazz", {"preference", "first person"}),
        ("I've always been passionate about trains", {"preference", "first person"}),
        ("oh, my all-time favourite is plum cake", {"preference", "first person"}),
        ("I love it", {"first person"}),
        ("I love how you said that", {"first person"}),
        ("I'd love to come", {"first person"}),
        ("you are passionate about jazz", set()),
        ("", set()),
    ],
)
def test_each_cue_is_detected_only_where_it_occurs(text: str, names: set[str]) -> None:
    assert set(importance_cues(text)) == names


def test_speakers_do_not_count_as_names_and_three_names_give_the_full_weight() -> None:
    assert importance_cues("then Ann met Bob", speakers=["Ann", "Bob"]) == {}
    assert importance_cues("then Ann met Bob", speakers=["Ann"])["names"] == pytest.approx(CUES["names"] / 3)
    assert importance_cues("to Rome, Paris, Oslo, Bonn")["names"] == pytest.approx(CUES["names"])


def test_the_capital_of_a_clause_inside_a_sentence_counts() -> None:
    assert "names" in importance_cues("Rome was next", opens=False)
    assert "names" not in importance_cues("Rome was next")


def test_the_score_is_the_sum_of_its_parts() -> None:
    weighed = text_score("I moved to Berlin on 3 May 2023", frequencies=YOUNG)
    assert set(weighed.parts) == {"information", "time", "figure", "names", "event", "first person"}
    assert weighed.score == pytest.approx(sum(weighed.parts.values()))
    assert weighed.importance == importance("I moved to Berlin on 3 May 2023", frequencies=YOUNG)


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.0, 0.37, ["Thanks!", "ok", "Haha yeah", "Good morning!", "Wow, that's great!", "You're welcome"]),
        (0.33, 0.67, ["Alice owns the deploy pipeline", "The user lives in Lisbon", "I have two cats", "Bob plays guitar"]),
        (0.7, 1.0, ["The launch is on March 15, 2024", "Always answer in French", "I moved to Berlin on 3 May 2023",
                    "The API limit is 1,200 requests per minute", "From now on, use metric units in every report"]),
    ],
)  # fmt: skip
def test_chatter_facts_and_dated_figures_have_different_importance(low: float, high: float, texts: list[str]) -> None:
    values = [importance(text, frequencies=YOUNG) for text in texts]
    assert low < min(values)
    assert max(values) < high


def test_words_that_only_questions_or_captions_use_count_less() -> None:
    said = score("there is a saxophone")
    assert score("is there a saxophone?") < said
    assert score("there is [image: saxophone]") < said
    assert score("is there a saxophone? there is a saxophone") == pytest.approx(
        score("it is there with a saxophone there is a saxophone"), abs=0.1
    )


def test_an_answer_gets_the_words_of_its_question() -> None:
    question = "That is great! Which instrument do you play, the saxophone?"
    answer = text_score("Yes, since I was a child", frequencies=YOUNG, answering=question)
    alone = text_score("Yes, since I was a child", frequencies=YOUNG)
    assert answer.score == pytest.approx(alone.score + answer.parts["answer"])
    assert {**alone.parts, "answer": answer.parts["answer"]} == dict(answer.parts)
    assert answer.parts["answer"] > 0
    listing = "the accordion, the bassoon, the clarinet, the didgeridoo, the euphonium and the harpsichord"
    assert "answer" not in text_score(listing, frequencies=YOUNG, answering=question).parts  # it says enough by itself


def test_only_words_of_a_question_are_added_to_an_answer() -> None:
    saxophone = QUESTION * (YOUNG.rarity("saxophone") - 2) / 5**0.15
    assert score("it is", answering="A saxophone?") == pytest.approx(math.log(0.5 + saxophone))
    assert score("it is", answering="A saxophone? Good.") == score("it is")
    assert score("it is", answering="My saxophone!") == score("it is")
    assert score("A saxophone", answering="A saxophone?") == score("A saxophone")
    assert score("it is", answering="Saxophone?", speakers=["Saxophone"]) == score("it is")


@given(text=st.text(max_size=100), question=st.text(max_size=100))
def test_a_question_before_a_text_never_lowers_its_score(text: str, question: str) -> None:
    assert score(text, answering=question + "?") >= score(text)


def test_code_and_names_of_speakers_add_no_information() -> None:
    assert score("```\nsaxophone\n```") == pytest.approx(math.log(0.5))
    assert score("Caroline", speakers=["Caroline"]) == pytest.approx(math.log(0.5))


def test_length_alone_adds_little() -> None:
    short = "the saxophone teacher from Madrid called"
    assert score(short + " and so on and on" * 50) < score(short)


def test_the_person_ranks_above_the_assistant() -> None:
    text = "The API limit is 1,200 requests per minute"
    weighed = text_score(text, frequencies=YOUNG, from_assistant=True)
    assert weighed.parts["assistant"] == ASSISTANT
    assert weighed.score == pytest.approx(score(text) + ASSISTANT)


@given(st.text(max_size=200))
def test_importance_is_always_between_zero_and_one(text: str) -> None:
    assert 0 < importance(text, frequencies=YOUNG) < 1


def test_the_score_of_a_clause_is_its_information_per_word() -> None:
    def worth(text: str, **more: bool) -> float:
        return clause_score(Clause(text=text, **more), frequencies=YOUNG)

    assert worth("adopted a greyhound") > worth("then we were all there with them")
    assert worth("is there a greyhound", question=True) == pytest.approx(worth("is there a greyhound") + math.log(0.6))
    assert worth("in 2019 a greyhound", caption=True) == pytest.approx(worth("in 2019 a greyhound") - CUES["figure"])
    assert math.isfinite(clause_score(Clause(text=""), frequencies=YOUNG))
    alone = clause_score(Clause(text="a greyhound"), frequencies=YOUNG)
    assert clause_score(Clause(text="a greyhound"), frequencies=YOUNG, turn_cues=1.0) == pytest.approx(alone + 0.3)
    assert clause_score(Clause(text="a greyhound"), frequencies=YOUNG, speakers=["Greyhound"]) < alone


def test_sentences_about_you_score_less_than_sentences_about_oneself() -> None:
    praise, news, advice = (
        score(text)
        for text in ("Your pottery studio is fabulous.", "My pottery studio is fabulous.", "Always glaze your pottery.")
    )
    assert praise < score("That pottery studio is fabulous.") < news
    assert text_score("Always glaze your pottery.", frequencies=YOUNG).parts["information"] > 0
    assert advice > praise
