"""The default embedder: static token vectors, weighted by how rare a token is. Offline; it runs no model.

The vectors (Llama 2 tokens, 256 numbers each) and the vocabulary are files of this package; NOTICE names their origin.
The vectors are memory-mapped, so only the rows that a text needs are read. The vector of a text is the sum of the
vectors of its tokens, each times a / (a + p(token)) (smooth inverse frequency: Arora, Liang and Ma, ICLR 2017), at unit
length. The probabilities come from the bundled table of word frequencies, never from a store, so that a text always has
the same vector.
"""

import zlib
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from slowwave.embedders.bpe import SPACE, Tokenizer
from slowwave.embedders.safetensors import mapped
from slowwave.policy.text import word_frequency

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

RARITY: Final = 0.003  # SIF's a: a token of this frequency has weight 0.5
COMMON: Final = 2_000  # most frequent words, which have a weight below 1; that of the next word would be 0.98
PUNCTUATION: Final = ".,?!'\"’:;()-…"
PUNCTUATION_SHARE: Final = 0.03  # of all tokens, for each sign: about the share of the comma
CONTRACTIONS: Final = ("s", "t", "m", "re", "ve", "ll", "d")
CONTRACTION_SHARE: Final = 0.01  # of all tokens, for each ending
BATCH: Final = 4_096  # tokens summed at once: 4 MB
CACHED_WORDS: Final = 8_192  # word vectors for the merge rule: 8 MB

RECIPE: Final = 1  # raise it when a change here or in `bpe` changes the vectors; stored vectors are then replaced

_DATA: Final = Path(__file__).with_name("data")


class StaticEmbedder:
    """Static vectors with SIF weights: (n, 256) float32, unit rows; about 20,000 short texts a second on one core.

    A blank text has no tokens and gets a row of zeros, which means "no vector": do not store or compare it. The
    constructor reads a sample of the vectors (1 ms); the first text loads the vocabulary (about 20 ms).

    Attributes:
        name: The fingerprint: it changes with the weights, the word frequencies, a and RECIPE.
        english_only: True: a question in another language is searched without vectors.
        is_local: True: texts do not leave this process, so they keep their secrets.
        similarity: The cosines that correspond to 0.92, 0.70 and 0.40 of MiniLM (see `bench/calibrate.py`).
    """

    english_only = True
    is_local = True
    similarity: "Mapping[str, float]" = MappingProxyType({"duplicate": 0.90, "group": 0.62, "related": 0.32})

    def __init__(self) -> None:
        self._rows = _vectors()
        sample = np.ascontiguousarray(self._rows[:: max(1, len(self._rows) // 64)])
        weights = zlib.crc32(sample.tobytes(), self._rows.size)
        self.name = f"static:{self._rows.shape[1]}:{weights:08x}:{RECIPE}.{word_frequency.VERSION}:{RARITY}"
        self._weight = np.full(len(self._rows), np.nan, dtype=np.float32)  # of each token; NaN until it is needed
        self._word = lru_cache(maxsize=CACHED_WORDS)(self._word_vector)

    def embed(self, texts: "Sequence[str]", /) -> "NDArray[np.float32]":
        """One row for each text, (n, 256): unit length, or zeros for a blank text. The same text always has the same row."""
        vectors = np.zeros((len(texts), self._rows.shape[1]), dtype=np.float32)
        owners: list[int] = []  # the index of the text of each segment; a long text has several segments
        segments: list[list[int]] = []
        size = 0
        for index, text in enumerate(texts):
            tokens = self._tokenizer.ids(text)
            for start in range(0, len(tokens), BATCH):
                owners.append(index)
                segments.append(tokens[start : start + BATCH])
                size += len(segments[-1])
                if size >= BATCH:
                    np.add.at(vectors, owners, self._sums(segments))
                    owners, segments, size = [], [], 0
        np.add.at(vectors, owners, self._sums(segments))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors

    def _sums(self, segments: list[list[int]]) -> "NDArray[np.float32]":
        """The weighted sum of the token vectors of each segment, (segments, 256)."""
        if not segments:
            return np.zeros((0, self._rows.shape[1]), dtype=np.float32)
        tokens, places = np.unique(np.fromiter(chain.from_iterable(segments), dtype=np.intp), return_inverse=True)
        weighted = self._rows[tokens] * self._weights(tokens)
        sums, start = np.empty((len(segments), self._rows.shape[1]), dtype=np.float32), 0
        for row, segment in zip(sums, segments, strict=True):  # `np.add.reduceat` takes 20 times as long
            weighted[places[start : start + len(segment)]].sum(axis=0, out=row)
            start += len(segment)
        return sums

    def word_vectors(self, words: "Sequence[str]", /) -> "NDArray[np.float32]":
        """Unit rows for single words, (n, 256), from a cache: the merge rule compares word by word."""
        if not words:
            return np.zeros((0, self._rows.shape[1]), dtype=np.float32)
        return np.stack([self._word(word) for word in words])

    def _word_vector(self, word: str) -> "NDArray[np.float32]":
        vector: NDArray[np.float32] = self.embed([word])[0]
        vector.setflags(write=False)
        return vector

    @property
    def _tokenizer(self) -> Tokenizer:
        return _tokenizer()

    def _weights(self, tokens: "NDArray[np.intp]") -> "NDArray[np.float32]":
        """The weight a / (a + p) of each token, (n, 1); p is the frequency of its word, 0 if that is unknown."""
        weights = self._weight[tokens]
        if np.isnan(weights).any():
            for token in set(tokens[np.isnan(weights)].tolist()):
                self._weight[token] = RARITY / (RARITY + np.float32(share(self._tokenizer.spelling(token))))
            weights = self._weight[tokens]
        return weights[:, np.newaxis]


@cache
def _vectors() -> "NDArray[np.floating]":
    """The vectors of all tokens, (32,000, 256) float16, mapped once for all embedders of a process: each map holds a file."""
    return mapped(_DATA / "token_vectors.safetensors")["embedding.weight"]


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer(_DATA / "vocabulary.txt")


def share(spelling: str) -> float:
    """The share of a token among all tokens, estimated from the word, sign or ending that it spells; 0 if unknown."""
    if spelling in CONTRACTIONS:
        return CONTRACTION_SHARE
    letters = spelling.removeprefix(SPACE)
    if letters and letters in PUNCTUATION and len(letters) == 1:
        return PUNCTUATION_SHARE
    word = letters.lower()
    whole_word = spelling != letters and letters in {word, word.capitalize(), word.upper()}
    return _common().get(word, 0.0) if whole_word else 0.0


@cache
def _common() -> "Mapping[str, float]":
    return word_frequency.commonest(COMMON)
