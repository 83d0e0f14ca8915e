"""Compares the spelling of a question and of texts by character trigrams, for languages whose words change their endings.

Stems are English. In another language "siostra" and "siostry" are two words to the index; their trigrams agree. For English
questions this did not help where it was measured.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from slowwave.policy.ranking.score import LENGTH, SATURATION
from slowwave.policy.text.languages import content_words
from slowwave.policy.text.tokens import words

SPELLING: Final = 0.5
"""The weight of the share of a question's trigrams; that of the share of its words is 1."""
CANDIDATES: Final = 100
"""How many of the best results by words and meaning are compared by their spelling."""
LONGEST: Final = 2_000
"""The characters that are read of one text."""
_SIZE: Final = 3


def spelling_shares(question: str, texts: Sequence[str]) -> list[float] | None:
    """SPELLING times the BM25 share of the question's trigrams in each text, 0 to SPELLING; None for an English question.

    Document frequencies and the average length are those of `texts`. A trigram does not cross the border of a word; a word
    has one that begins and one that ends with a space.
    """
    content, foreign = content_words(question)
    if not foreign or not content or not texts:
        return None
    asked = frozenset(trigram for word in content for trigram in trigrams(word))
    counts, lengths = [], []
    for text in texts:
        found = [trigram for word in words(text[:LONGEST]) for trigram in trigrams(word)]
        lengths.append(len(found))
        counts.append(Counter(trigram for trigram in found if trigram in asked))
    average = max(1.0, sum(lengths) / len(texts))
    often = Counter(trigram for count in counts for trigram in count)
    idf = {trigram: math.log1p((len(texts) - often[trigram] + 0.5) / (often[trigram] + 0.5)) for trigram in asked}
    attainable = sum(idf[trigram] for trigram in sorted(asked))
    shares = []
    for count, length in zip(counts, lengths, strict=True):
        normal = SATURATION * (1.0 - LENGTH + LENGTH * length / average)
        score = sum(idf[trigram] * number / (normal + number) for trigram, number in sorted(count.items()))
        shares.append(SPELLING * score / attainable)
    return shares


def trigrams(word: str) -> list[str]:
    """The overlapping runs of three characters of a word between two spaces.

    >>> trigrams("kot")
    [' ko', 'kot', 'ot ']
    """
    spaced = f" {word} "
    return [spaced[start : start + _SIZE] for start in range(len(spaced) - _SIZE + 1)]
