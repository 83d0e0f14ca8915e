"""Compares the spelling of a question and of texts by character trigrams, for languages whose words change their endings.

Stems are English. In another language "siostra" and "siostry" are two words to the index; their trigrams agree. For English
questions this did not help where it was measured.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slowwave.model.query import Hit
from slowwave.policy.ranking.score import LENGTH, SATURATION
from slowwave.policy.text.features import is_small_talk
from slowwave.policy.text.languages import content_words, is_hiragana
from slowwave.policy.text.rarity import rarity
from slowwave.policy.text.tokens import is_unspaced, words

SPELLING: Final = 0.5
"""The weight of the share of a question's trigrams; that of the share of its words is 1."""
LONGEST: Final = 2_000
"""The characters that are read of one text."""
_SIZE: Final = 3


def with_spelling(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits by score and spelling, the best first; unchanged for an English question and for small talk."""
    shares = None if is_small_talk(question) else spelling_shares(question, [hit.text for hit in hits])
    if shares is None:
        return list(hits)
    asked = len(content_words(question)[0])
    spelled = [
        replace(
            hit,
            score=hit.score + share,
            parts={**hit.parts, "spelling": share},
            relevance=max(hit.relevance, _relevance(asked * share / SPELLING)),
        )
        if share
        else hit
        for hit, share in zip(hits, shares, strict=True)
    ]
    return sorted(spelled, key=lambda hit: -hit.score)  # sorting is stable


def _relevance(covered: float) -> float:
    """The relevance of a text that has the spelling of so many of a question's content words.

    1 / (1 + exp(6 - 10 * covered)): of eight languages the median is 0.6 words for a text that answers, which gives 0.5, and
    0.03 for others, which gives less than 0.01. The relevance by words asks for whole words, and knows those of English only.
    """
    return 1.0 / (1.0 + math.exp(6.0 - 10.0 * covered))


def spelling_shares(question: str, texts: Sequence[str]) -> list[float] | None:
    """SPELLING times the BM25 share of the question's trigrams in each text, 0 to SPELLING; None for an English question.

    Document frequencies and the average length are those of `texts`. A trigram does not cross the border of a word; a word
    has one that begins and one that ends with a space.
    """
    content, foreign = content_words(question)
    if not foreign or not content or not texts:
        return None
    asked = frozenset(part for word in content for part in parts(word))
    counts, lengths = [], []
    for text in texts:
        found = [part for word in words(text[:LONGEST]) for part in parts(word)]
        lengths.append(len(found))
        counts.append(Counter(part for part in found if part in asked))
    average = max(1.0, sum(lengths) / len(texts))
    often = Counter(part for count in counts for part in count)
    idf = {part: rarity(len(texts), often[part]) for part in asked}
    attainable = sum(idf[part] for part in sorted(asked))
    shares = []
    for count, length in zip(counts, lengths, strict=True):
        normal = SATURATION * (1.0 - LENGTH + LENGTH * length / average)
        score = sum(idf[part] * number / (normal + number) for part, number in sorted(count.items()))
        shares.append(SPELLING * score / attainable if attainable else 0.0)
    return shares


def parts(word: str) -> list[str]:
    """What is compared of a word: its trigrams; of a script without spaces its single characters but hiragana.

    >>> parts("妹の"), parts("kot")
    (['妹'], [' ko', 'kot', 'ot '])
    """
    if is_unspaced(word):
        return [character for character in word if not is_hiragana(character)]
    return trigrams(word)


def trigrams(word: str) -> list[str]:
    """The overlapping runs of three characters of a word between two spaces.

    >>> trigrams("kot")
    [' ko', 'kot', 'ot ']
    """
    spaced = f" {word} "
    return [spaced[start : start + _SIZE] for start in range(len(spaced) - _SIZE + 1)]
