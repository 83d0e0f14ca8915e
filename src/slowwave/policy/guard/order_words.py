"""Scores how much a passage reads as an order to a model by its words alone, in any language.

Its features are its words, their beginnings, the words that begin a sentence, and pairs of words that follow each other; of
scripts without spaces, letters in place of words. Each has a weight under its hash (`policy/data/order_words.json`), which
`tools/fit_orders.py` fits by logistic regression: no word or text is stored. A passage has a bounded length.
"""

import json
import math
import sys
from array import array
from base64 import b64decode
from binascii import crc32
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise, repeat
from pkgutil import get_data
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex

LONGEST: Final = 1500
"""Characters of a passage that are read."""
USUAL: Final = 40
"""Features of a passage; with more, the sum of their weights is divided by the square root of their number."""
SCALE: Final = 8
"""Weights are stored as whole numbers, as so many times what they are."""
_TOKEN: Final = lazy_regex(r"[^\W_]+|[!?:.。！？：]")
_UNSPACED: Final = lazy_regex("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_MARKS: Final = frozenset("!?:.。！？：")
_STEM: Final = 4
"""Letters of the beginning of a word that is a feature of its own."""


def words_score(passage: str) -> float:
    """How much a passage on one line (`orders.flattened`) reads as an order to a model, as a logarithm of odds."""
    constant, weights = _weights()
    found = features(passage)
    total = sum(map(weights.get, found, repeat(0)))
    return constant + total / SCALE / math.sqrt(max(USUAL, len(found)))


def features(passage: str) -> set[int]:
    """The hashes of the features of a passage."""
    words, first = _words(passage)
    found = {*words, *(f"^{word}" for word in first), *(f"~{word[:_STEM]}" for word in words if len(word) > _STEM)}
    found.update(map(" ".join, pairwise(words)))
    if not passage.isascii() and _UNSPACED.search(passage):
        found.update(map("".join, zip(words, words[1:], words[2:], strict=False)))
    return {crc32(feature.encode("utf-8", "replace")) for feature in found}


def _words(passage: str) -> tuple[Sequence[str], Sequence[str]]:
    """The words of a passage, and those that begin a sentence. All numbers are one word."""
    words: list[str] = []
    first: list[str] = []
    begins = True
    for token in _TOKEN.findall(passage[:LONGEST]):
        if token in _MARKS:
            begins = True
            continue
        parts = list(token) if not token.isascii() and _UNSPACED.search(token) else ["0" if token.isdigit() else token]
        if begins:
            first.append(parts[0])
        words += parts
        begins = False
    return words, first


@cache
def _weights() -> tuple[float, Mapping[int, int]]:
    """The constant, and the weight of each feature by its hash."""
    data = get_data("slowwave.policy", "data/order_words.json")
    assert data is not None, "the package is complete"
    table = json.loads(data)
    hashes, weights = array("I", b64decode(table["hashes"])), array("b", b64decode(table["weights"]))
    if sys.byteorder == "big":
        hashes.byteswap()
    return table["constant"], dict(zip(hashes, weights, strict=True))
