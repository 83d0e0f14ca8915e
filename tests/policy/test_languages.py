"""Questions in other languages than English: which words carry their content, and how their spelling is compared."""

import pytest

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
    assert "東京" in content
    assert "どこ" not in content
    assert not foreign


def test_no_language_has_function_words_of_none() -> None:
    assert function_words([]) == frozenset()
    assert "meine" in function_words(["German"])


def test_another_ending_of_a_word_has_a_share_and_an_unrelated_text_has_none() -> None:
    shares = spelling_shares("Gdzie mieszka moja siostra?", ["Byłem u siostry w Gdyni", "Kupiłem nowe buty"])
    assert shares is not None
    assert SPELLING > shares[0] > shares[1] == 0.0


def test_an_english_question_has_no_shares_of_spelling() -> None:
    assert spelling_shares("Where does my sister live?", ["My sister lives in Oslo"]) is None
