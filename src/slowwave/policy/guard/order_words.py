"""Scores how much a passage reads as an order to a model by its words alone, in any language.

Its features are its words, their beginnings, and pairs of words that follow each other; of scripts without spaces, letters in
place of words. Each has a weight under its hash (`policy/data/order_words.json`), which `tools/fit_orders.py` fits by logistic
regression: no word or text is stored. The hashes and weights of words are cached, so that the score of a short text is a few sums.
"""

import json
import math
import sys
from array import array
from base64 import b64decode
from binascii import crc32
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import repeat
from operator import sub
from pkgutil import get_data
from typing import Final, NamedTuple

from slowwave.policy.guard.word_cache import WordCache
from slowwave.policy.text.lazy_regex import lazy_regex

USUAL: Final = 40
"""Words and pairs of a passage; with more, the sum of their weights is divided by the square root of their number."""
SCALE: Final = 8
"""Weights are stored as whole numbers, as so many times what they are."""
_ALONE: Final = -2.5
"""The score of the words alone up to which no pair of them is looked for: it would hardly raise the score enough."""
_SCRIPT: Final = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_UNSPACED: Final = lazy_regex(f"[{_SCRIPT}]")
_LETTERS: Final = lazy_regex(rf"[{_SCRIPT}]|[^\W{_SCRIPT}]+")
_STEM: Final = 4
"""Letters of the beginning of a word that is a feature of its own."""
_START: Final = 0
"""In place of the hash of a word before the first one of a passage."""


class _Table(NamedTuple):
    """The weights.

    Attributes:
        constant: what every passage has.
        weights: the weight of each feature by its hash.
        words: the weight of each word with that of its beginning.
    """

    constant: float
    weights: Mapping[int, int]
    words: WordCache


def words_score(words: Sequence[str]) -> float:
    """How much a passage reads as an order to a model, as a logarithm of odds.

    Args:
        words: the words of the passage (`units`).
    """
    table = _table()
    different = set(words)
    total = sum(map(table.words.__getitem__, different))
    alone = table.constant + total / SCALE / math.sqrt(max(USUAL, 2 * len(different)))
    if alone <= _ALONE:
        return alone
    pairs = _pairs(words)
    total += sum(map(table.weights.get, pairs, repeat(0)))
    return table.constant + total / SCALE / math.sqrt(max(USUAL, len(different) + len(pairs)))


def units(text: str, words: Sequence[str]) -> Sequence[str]:
    """The words of a text as features: in a text with a script without spaces, each letter of it alone.

    Args:
        text: the text.
        words: its words.
    """
    return words if text.isascii() or not _UNSPACED.search(text) else _LETTERS.findall(text)


def features(words: Sequence[str]) -> tuple[list[int], int]:
    """The hashes of the features of a passage, and the number of its words and pairs."""
    different, pairs = set(words), _pairs(words)
    hashes = [each for word in different for each in _of_word(word)]
    return [*hashes, *pairs], len(different) + len(pairs)


def _of_word(word: str) -> list[int]:
    """The hash of a word, and that of its beginning if it is long."""
    return [_hash(word), _hash(f"~{word[:_STEM]}")] if len(word) > _STEM else [_hash(word)]


def _pairs(words: Sequence[str]) -> set[int]:
    """The hashes of the pairs of words that follow each other: the differences of their hashes."""
    hashes = list(map(_HASHES.__getitem__, words))
    return set(map(sub, [_START, *hashes], hashes))


def _hash(word: str) -> int:
    """The hash of a word, of 31 bits; all numbers have one."""
    return crc32(b"0" if word.isdigit() else word.encode("utf-8", "replace")) >> 1


_HASHES: Final = WordCache(_hash)


@cache
def _table() -> _Table:
    data = get_data("slowwave.policy", "data/order_words.json")
    assert data is not None, "the package is complete"
    table = json.loads(data)
    hashes, weights = array("i", b64decode(table["hashes"])), array("b", b64decode(table["weights"]))
    if sys.byteorder == "big":
        hashes.byteswap()
    found = dict(zip(hashes, weights, strict=True))
    return _Table(table["constant"], found, WordCache(lambda word: sum(found.get(each, 0) for each in _of_word(word))))
