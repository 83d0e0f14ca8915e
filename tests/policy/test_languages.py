"""Questions in other languages than English: which words carry their content, and how their spelling is compared."""

import pytest

from slowwave import AgentMemory, Message
from slowwave.policy.ranking.spelling import SPELLING, spelling_shares
from slowwave.policy.text.features import parse_question
from slowwave.policy.text.languages import content_words, function_words, is_foreign, languages
from slowwave.policy.text.tokens import words


@pytest.mark.parametrize(
    ("question", "language", "content"),
    [
        ("Wo wohnt meine Schwester?", "German", ["wohnt", "schwester"]),
        ("¿Dónde vive mi hermano?", "Spanish", ["vive", "hermano"]),
        ("Où habite ma sœur ?", "French", ["habite", "soeur"]),
        ("Где работает моя сестра?", "Russian", ["работает", "сестра"]),
        ("Gdzie mieszka moja siostra?", "Polish", ["mieszka", "siostra"]),
    ],
)
def test_function_words_tell_the_language_and_are_left_out(question: str, language: str, content: list[str]) -> None:
    assert language in languages(words(question))
    assert content_words(question) == (content, True)


@pytest.mark.parametrize(
    "question", ["Where does my sister live?", "What did Die Hard cost?", "pizza Napoli", "cat", "die cast", ""]
)
def test_an_english_question_and_one_without_function_words_are_not_foreign(question: str) -> None:
    assert not is_foreign(question)
    assert not parse_question(question, {}).foreign


def test_of_japanese_the_pairs_of_hiragana_are_left_out() -> None:
    content, foreign = content_words("東京のどこに住んでいますか")
    assert "东京" in content
    assert "どこ" not in content
    assert foreign


def test_a_foreign_word_in_an_english_question_does_not_make_it_foreign() -> None:
    assert not is_foreign("What does 東京 mean?")


@pytest.mark.parametrize(
    "question", ["Che lavoro faccio?", "Mesleğim ne?", "제 직업은 무엇입니까?", "我的工作是什么？"]
)
def test_a_short_question_whose_other_words_are_not_english_is_foreign(question: str) -> None:
    assert is_foreign(question)


def test_a_single_character_of_a_script_without_spaces_is_compared() -> None:
    shares = spelling_shares("妹は今どこに住んでいますか？", ["妹のマリが来た", "犬が走った"])
    assert shares is not None
    assert shares[0] > shares[1] == 0.0


def test_a_foreign_question_finds_another_ending_above_the_relevance_floor_and_without_english_vectors() -> None:
    said = ("Byłem u siostry w Gdyni", "Kupiłem nowe buty", "Jutro będzie padać")
    with AgentMemory.open(":memory:", embedder="static", llm=None) as memory:
        memory.add_messages([Message(role="user", content=text) for text in said], "c")
        hits = memory.search("Gdzie mieszka moja siostra?", min_relevance=0.01)
        assert [hit.text for hit in hits] == [said[0]]
        assert {"spelling"} <= hits[0].parts.keys()
        assert "meaning" not in hits[0].parts
        assert "meaning" in memory.search("Where does my sister live?")[0].parts


def test_no_language_has_function_words_of_none() -> None:
    assert function_words([]) == frozenset()
    assert "meine" in function_words(["German"])


def test_another_ending_of_a_word_has_a_share_and_an_unrelated_text_has_none() -> None:
    shares = spelling_shares("Gdzie mieszka moja siostra?", ["Byłem u siostry w Gdyni", "Kupiłem nowe buty"])
    assert shares is not None
    assert SPELLING > shares[0] > shares[1] == 0.0


def test_an_english_question_has_no_shares_of_spelling() -> None:
    assert spelling_shares("Where does my sister live?", ["My sister lives in Oslo"]) is None


def test_a_question_finds_another_ending_of_a_word() -> None:
    with AgentMemory.open(":memory:", llm=None, embedder="none") as memory:
        for text in ("Kupiłem nowe buty", "Byłem u siostry w Gdyni", "Pada deszcz"):
            memory.add_message(Message(role="user", content=text), "c")
        first = memory.search("Gdzie mieszka moja siostra?")[0]
    assert first.text == "Byłem u siostry w Gdyni"
    assert first.parts["spelling"] > 0
