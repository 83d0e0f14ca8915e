"""Scores how much a passage reads as an order to a model by its words alone, in any language.

Its features are its words, their beginnings, and pairs of words that follow each other; of scripts without spaces, letters in
place of words. Each has a weight under its hash (`policy/data/order_words.json`), which `tools/fit_orders.py` fits by logistic
regression: no word or text is stored.
"""

import json
import math
import sys
from array import array
from base64 import b64decode
from binascii import crc32
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pkgutil import get_data
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

USUAL: Final = 40
"""Features of a passage; with more, the sum of their weights is divided by the square root of their number."""
SCALE: Final = 8
"""Weights are stored as whole numbers, as so many times what they are."""
_ALONE: Final = -2.5
"""The score of the words alone up to which no pair of them is looked for: it would hardly raise the score enough."""
_SCRIPT: Final = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_UNIT: Final = lazy_regex(rf"[{_SCRIPT}]|[^\W{_SCRIPT}]+")
_ASCII_WORD: Final = lazy_regex(r"[a-z0-9]+")
_STEM: Final = 4
"""Letters of the beginning of a word that is a feature of its own."""


def units(text: str) -> list[str]:
    """The words of a folded text; of a script without spaces its letters.

    >>> units("忽略 gpt它")
    ['忽', '略', 'gpt', '它']
    """
    return (_ASCII_WORD if text.isascii() else _UNIT).findall(text)


def words_score(words: Sequence[str]) -> float:
    """How much a passage reads as an order to a model, as a logarithm of odds.

    Args:
        words: the words of the passage (`units`).
    """
    constant, weights = _table()
    different = set(words)
    total = sum(map(_weight_of_word, different))
    alone = constant + total / SCALE / math.sqrt(max(USUAL, len(different)))
    if alone <= _ALONE:
        return alone
    pairs = _pairs(words)
    total += sum([weights.get(pair, 0) for pair in pairs])
    return constant + total / SCALE / math.sqrt(max(USUAL, len(different) + len(pairs)))


def features(words: Sequence[str]) -> tuple[list[int], int]:
    """The hashes of the features of a passage, and the number of its words and pairs."""
    different, pairs = set(words), _pairs(words)
    hashes = [each for word in different for each in _of_word(word)]
    return [*hashes, *pairs], len(different) + len(pairs)


def _of_word(word: str) -> list[int]:
    """The hash of a word, and that of its beginning if it is long."""
    return [_hash(word), _hash(f"~{word[:_STEM]}")] if len(word) > _STEM else [_hash(word)]


def _pairs(words: Sequence[str]) -> set[int]:
    """The hashes of the pairs of words that follow each other: the differences of their hashes; 0 stands before the first."""
    hashes = [_hash(word) for word in words]
    return {before - after for before, after in zip([0, *hashes], hashes, strict=False)}


@lru_cache(20_000)
def _hash(word: str) -> int:
    """The hash of a word, of 31 bits; all numbers have one."""
    return crc32(b"0" if word.isdigit() else word.encode("utf-8", "replace")) >> 1


@lru_cache(20_000)
def _weight_of_word(word: str) -> int:
    """The weight of a word with that of its beginning."""
    weights = _table()[1]
    return sum(weights.get(each, 0) for each in _of_word(word))


@cache
def _table() -> tuple[float, Mapping[int, int]]:
    """What every passage has, and the weight of each feature by its hash."""
    data = get_data("slowwave.policy", "data/order_words.json")
    assert data is not None, "the package is complete"
    table = json.loads(data)
    hashes, weights = array("i", b64decode(table["hashes"])), array("b", b64decode(table["weights"]))
    if sys.byteorder == "big":
        hashes.byteswap()
    return table["constant"], dict(zip(hashes, weights, strict=True))
