"""The function words of thirty-two languages: they tell the language of a question, and carry none of its content.

The table `policy/data/function_words.json` is our own: about 60 to 130 words a language (articles, pronouns, prepositions,
forms of "be" and "have", question words). A language is added by a line. English has its own list, `tokens.STOP_WORDS`.
"""

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from functools import cache
from pkgutil import get_data
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import STOP_WORDS, fold, is_unspaced, words
from slowwave.policy.text.word_frequency import probabilities

RARE: Final = 5e-6
"""The share of running English text up to which a word, such as "donde", is not one of English."""
_KANA: Final = lazy_regex(r"[\u3041-\u309f\u30fc]+")
"""Hiragana: Japanese writes its particles and endings in them, and most content in other characters."""
UNSPACED: Final = "a script without spaces"
"""The language of questions in Chinese, Japanese, Korean, Thai, Lao, Khmer or Burmese: their script tells it, no table."""


def languages(question: Iterable[str]) -> frozenset[str]:
    """The languages that have the most of these words among their function words; none for English.

    Args:
        question: The words of a question, as `tokens.words` returns them.

    >>> languages(words("Wo wohnt meine Schwester?")), languages(words("Where does my sister live?"))
    (frozenset({'German'}), frozenset())
    """
    distinct = set(question)
    known = _by_word()
    votes = Counter(name for word in distinct if word in known for name in known[word])
    votes[UNSPACED] = sum(is_unspaced(word) for word in distinct)
    most = max(votes.values())
    if most <= len(distinct & STOP_WORDS) or (most == 1 and not votes[UNSPACED] and _may_be_english(distinct, known)):
        return frozenset()
    return frozenset(name for name, count in votes.items() if count == most)


def _may_be_english(distinct: Iterable[str], known: Container[str]) -> bool:
    """Whether the one function word is also a word of English, such as cat and die, and so is another word, or there is none."""
    common = {word for word in distinct if probabilities().get(word, 0.0) > RARE}
    voting = {word for word in distinct if word in known}
    others = set(distinct) - voting
    return bool(voting & common) and (not others or bool(others & common))


def is_foreign(question: str) -> bool:
    """Whether a question is in another language than English, as its function words tell.

    >>> is_foreign("Wo wohnt meine Schwester?"), is_foreign("Where does my sister live?")
    (True, False)
    """
    return bool(languages(words(question)))


def is_hiragana(characters: str) -> bool:
    """Whether all characters are hiragana."""
    return _KANA.fullmatch(characters) is not None


def function_words(names: Iterable[str]) -> frozenset[str]:
    """The function words of these languages, as `tokens.words` returns them."""
    wanted = frozenset(names)
    return frozenset(word for word, having in _by_word().items() if having & wanted) if wanted else frozenset()


def content_words(question: str) -> tuple[list[str], bool]:
    """The words of a question that carry content, in order, and whether it is in another language than English.

    A question of function words only keeps none. Of Japanese the pairs of hiragana are left out.
    """
    split = words(question)
    found = languages(split)
    stops = STOP_WORDS | function_words(found) if found else STOP_WORDS
    kept = [word for word in split if word not in stops]
    if not question.isascii() and (without := [word for word in kept if not is_hiragana(word)]):
        kept = without
    return kept, bool(found)


@cache
def _by_word() -> Mapping[str, frozenset[str]]:
    """Each function word -> the languages that have it."""
    data = get_data("slowwave.policy", "data/function_words.json")
    assert data is not None
    table: Mapping[str, str] = json.loads(data)
    by_word: dict[str, set[str]] = {}
    for language, line in table.items():
        for word in fold(line).split():  # as `words` returns them, of which each is one
            by_word.setdefault(word, set()).add(language)
    return {word: frozenset(names) for word, names in by_word.items()}
