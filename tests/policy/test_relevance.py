"""Relevance: the probability that a hit answers the question, from the features of its score."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slowwave import AgentMemory, Message
from slowwave.errors import InputError
from slowwave.policy.ranking.relevance import FAIR, SMALL, Features, information, relevances
from slowwave.policy.text.features import is_small_talk, parse_question

if TYPE_CHECKING:
    from collections.abc import Iterator

GARDEN = (
    "Bob planted red tulips in the front garden",
    "The cat is called Tim",
    "Tim sleeps on the sofa",
    "Tulips bloom in April",
    "Bob waters the tulips every morning",
    "The cat eats twice a day",
    "Tim is seven years old",
    "Bob is on call every second week",
    "The yellow tulips came from Holland",
    "Cats dislike the new vacuum cleaner",
)
UNRELATED = (
    "who owns deploys?",
    "How do I deploy to production?",
    "which database do we use?",
    "What is the capital of Mongolia?",
    "Explain how TCP congestion control works",
)
SMALL_TALK = (
    *("hi", "ok", "thanks", "hm", "good morning", "how are you?", "Thank you so much!", "sounds good", "Hey there"),
    *("guten Morgen", "danke schön", "alles klar", "wie geht's?", "bonjour", "merci beaucoup", "ça va ?", "d'accord"),
    *("hola", "muchas gracias", "¿qué tal?", "buongiorno", "grazie mille", "obrigado", "dank je wel", "tack så mycket"),
    *(
        "привет",
        "спасибо",
        "こんにちは",
        "ありがとうございます",
        "你好",
        "谢谢",
        "안녕하세요",
        "شكرا",
        "नमस्ते",
        "teşekkürler",
    ),
)
NOTHING = Features(words=0.0, covered=0.0, mass=0.0, cosine=0.0, asked=False, question=0.0)
LARGE = 1_000_000_000
GOOD = Features(words=0.6, covered=1.0, mass=12.0, cosine=2.0, asked=False, question=0.0)


@pytest.fixture(params=["static", "none"])
def garden(request: pytest.FixtureRequest) -> "Iterator[AgentMemory]":
    with AgentMemory.open(":memory:", scope="garden", llm=None, embedder=request.param) as memory:
        for text in GARDEN:
            memory.add(text)
        yield memory


# ---- the formula


def test_the_words_of_a_phrase_for_the_present_are_not_searched() -> None:
    asked = parse_question("Is Rui working at the moment?", {})
    assert asked.terms == parse_question("Is Rui working?", {}).terms
    assert asked.recent
    assert not parse_question("Is Rui working?", {}).recent


def test_relevance_has_the_values_of_the_formula() -> None:
    question = parse_question("tulips and Holland", {})
    large = [pytest.approx(0.9526 * 0.3775, abs=1e-4)]  # sigmoid(3) * sigmoid(-0.5)
    assert relevances([GOOD], question, LARGE) == large
    bare = replace(GOOD, cosine=None)
    assert relevances([bare], question, LARGE) == [
        pytest.approx(0.9002 * 0.2891, abs=1e-4)
    ]  # sigmoid(2.2), sigmoid(-0.9)
    assert relevances([], question, LARGE) == []


def test_in_a_small_memory_each_result_is_judged_alone_and_between_both_the_log_odds_are_mixed() -> None:
    question, own = parse_question("tulips and Holland", {}), parse_question("where are my tulips from?", {})
    weak = replace(NOTHING, words=0.2, mass=5.0, cosine=0.9)
    for count in (1, SMALL):
        assert relevances([weak], question, count) == [pytest.approx(0.00407, abs=1e-5)]  # -10 + 0.4 + 0.5 + 3.6
        assert relevances([weak], own, count) == [pytest.approx(0.02931, abs=1e-5)]  # 2 more
        assert relevances([replace(weak, cue=True)], own, count) == [pytest.approx(0.07586, abs=1e-5)]  # 1 more
        assert relevances([replace(weak, cosine=None)], own, count) == [
            pytest.approx(0.02931, abs=1e-5)
        ]  # 1 + 3 + 1.5 - 9
    values = [relevances([weak], own, count)[0] for count in (SMALL, 2 * SMALL, LARGE)]
    odds = [math.log(value / (1 - value)) for value in values]
    assert odds[1] == pytest.approx((odds[0] + odds[2]) / 2)


def test_in_a_small_memory_a_result_does_not_depend_on_the_first() -> None:
    question = parse_question("tulips and Holland", {})
    assert relevances([NOTHING, GOOD], question, 10)[1] == relevances([GOOD], question, 10)[0]
    assert relevances([GOOD, NOTHING], question, 10)[1] < 0.001


def test_each_feature_moves_relevance_in_its_direction() -> None:
    question = parse_question("tulips and Holland", {})

    def of(result: Features) -> float:
        return relevances([GOOD, result], question, LARGE)[1]

    middle = replace(GOOD, words=0.3, covered=0.3, cosine=1.0)
    assert of(NOTHING) < of(middle) < of(GOOD)
    assert of(replace(middle, question=1.0)) < of(middle) < of(replace(middle, asked=True))
    assert of(replace(NOTHING, fact=True)) < of(NOTHING)
    assert of(replace(middle, fact=True)) == of(middle)
    # the first two results show that nothing is known
    assert relevances([NOTHING, NOTHING, GOOD], question, LARGE)[2] < of(GOOD)


def test_a_common_word_is_worth_less_than_a_rare_one_even_in_a_scope_of_one_text() -> None:
    question = parse_question("people like tulips", {})
    people, like, tulips = question.terms
    values = information(question, 1, lambda term: int(term == tulips))
    assert values[people] < values[tulips]
    assert values[like] < values[tulips]
    unknown = information(question, 1, lambda _: 0)
    assert values[tulips] > 0.7 * unknown[tulips]


# ---- small stores


@pytest.mark.parametrize("question", UNRELATED)
def test_an_unrelated_question_has_no_relevant_hit_and_an_empty_context(garden: AgentMemory, question: str) -> None:
    hits = garden.search(question)
    assert len(hits) == len(GARDEN)
    assert max(hit.relevance for hit in hits) < 0.005
    assert garden.search(question, min_relevance=FAIR) == []
    assert str(garden.context(question)) == ""


def test_small_talk_of_many_languages_finds_nothing_relevant(garden: AgentMemory) -> None:
    for text in SMALL_TALK:
        assert is_small_talk(text), text
        assert {hit.relevance for hit in garden.search(text)} == {0.0}
        assert str(garden.context(text)) == ""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When do tulips bloom?", "Tulips bloom in April"),
        ("What is the cat called?", "The cat is called Tim"),
        ("How old is Tim?", "Tim is seven years old"),
        ("Where did the yellow tulips come from?", "The yellow tulips came from Holland"),
    ],
)
def test_an_answered_question_has_a_relevant_first_hit(garden: AgentMemory, question: str, answer: str) -> None:
    first, *others = garden.search(question)
    assert first.text == answer
    assert first.relevance > 0.15
    assert first.relevance >= max(hit.relevance for hit in others)
    assert answer in str(garden.context(question))


PERSON = (
    "My sister Paula lives in Braga with her two kids",
    "The code of the garage is 4471",
    "My mother-in-law can't have gluten and hates mushrooms",
    "Our dentist is Dr. Moreno in Elm Street",
    "I play badminton every Wednesday evening with Tobias",
    "I prefer aisle seats and vegetarian meals on flights",
    "My boss Irene wants the budget draft by the end of the month",
    "My niece Zoe loves dinosaurs and hates pink",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does my sister live?", "Braga"),
        ("How do I get into the garage?", "4471"),
        ("What should I cook for my mother-in-law?", "gluten"),
        ("Which seat should I book on the plane?", "aisle"),
        ("What is due for my boss?", "budget"),
        ("What present would my niece like?", "dinosaurs"),
    ],
)
def test_an_everyday_question_to_a_small_memory_clears_the_floor_with_its_answer(question: str, answer: str) -> None:
    with AgentMemory.open(":memory:", llm=None) as memory:
        memory.add_messages([Message(role="user", content=text) for text in PERSON], "c")
        hits = memory.search(question, min_relevance=FAIR)
        assert answer in hits[0].text
        assert answer in str(memory.context(question, related_only=True))
        for other in (
            "Which bank do I use?",
            "How tall am I?",
            "Where did I go to university?",
            "Who won the election?",
        ):
            assert memory.search(other, min_relevance=FAIR) == []


def test_a_context_about_tulips_lists_no_cat(garden: AgentMemory) -> None:
    shown = [memory.text for memory in garden.context("tulips").memories]
    assert sorted(shown) == sorted(text for text in GARDEN if "tulips" in text.lower())


def test_core_and_latest_messages_need_not_be_related() -> None:
    with AgentMemory.open(":memory:", llm=None, embedder="none") as memory:
        memory.add(GARDEN[0])
        memory.add("My name is Nora", category="identity")
        memory.add_message(Message(role="user", content="The bus was late"), conversation="today")
        assert {shown.text for shown in memory.context("hi").memories} == {"My name is Nora", "The bus was late"}


def test_the_least_relevance_is_a_number_from_0_to_1(garden: AgentMemory) -> None:
    every = garden.search("tulips")
    assert garden.search("tulips", min_relevance=0) == every
    assert garden.search("tulips", min_relevance=0.05) == [hit for hit in every if hit.relevance >= 0.05]
    for wrong in (-0.1, 1.1, "0.5", True, float("nan")):
        with pytest.raises(InputError):
            garden.search("tulips", min_relevance=wrong)  # type: ignore[arg-type]


def test_a_question_that_is_a_name_alone_finds_what_its_bearer_said() -> None:
    with AgentMemory.open(":memory:", llm=None) as memory:
        said = ("Ann", "We moved to Porto"), ("Bea", "Nice, the sea is near")
        memory.add_messages([Message(role="user", speaker=name, content=text) for name, text in said], "c")
        hits = memory.search("Who is Ann?", min_relevance=0.01)
        assert hits[0].memory.speaker == "Ann"
        assert {hit.relevance for hit in memory.search("Hey Ann!")} == {0.0}
