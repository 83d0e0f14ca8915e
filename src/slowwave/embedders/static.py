"""The default embedder: static word-piece vectors, weighted by how rare a piece is. Offline, no model to run.

The vectors are those in the installed wordllama wheel (Llama 2 pieces, 256 numbers each); its code is not used. They
are memory-mapped, so only the rows a text needs are ever read. A text's vector is the sum of its pieces' vectors,
each times a / (a + p(piece)) (smooth inverse frequency: Arora, Liang and Ma, ICLR 2017), at unit length. The
probabilities come from the bundled background table, never from a store: one text has one vector.
"""

import zlib
from functools import cache, lru_cache
from itertools import accumulate, chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from slowwave.embedders.bpe import FIRST, SPACE, Pieces, Vocabulary
from slowwave.embedders.safetensors import folders, mapped
from slowwave.errors import SettingsError
from slowwave.forks import CachedProperty
from slowwave.policy.text import word_frequency

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

RARITY: Final = 0.003  # SIF's a: a piece this frequent counts half
COMMON: Final = 2_000  # words of the background table that are weighted; the next one's weight is already 0.98
PUNCTUATION: Final = ".,?!'\"’:;()-…"
PUNCTUATION_SHARE: Final = 0.03  # of all pieces, for each sign: about a comma's
CONTRACTIONS: Final = ("s", "t", "m", "re", "ve", "ll", "d")
CONTRACTION_SHARE: Final = 0.01  # of all pieces, for each ending
BATCH: Final = 4_096  # pieces summed at once: 4 MB
REMEMBERED: Final = 8_192  # word vectors kept for the merge rule: 8 MB

RECIPE: Final = 1  # to be raised whenever this file or `pieces` makes other vectors of the same weights


class StaticEmbedder:
    """Static vectors with SIF weights: (n, 256) float32, unit rows; about 20,000 short texts a second on one core.

    A blank text has no pieces and gets a row of zeros, which means "no vector": it is not to be stored or compared.
    Making one reads a sample of the vectors (1 ms); the first text then takes about 4 ms, the first hundred texts 20.

    Attributes:
        name: The fingerprint: it changes with the weights, the background table, a and RECIPE.
        similarity: The cosines that mean what 0.92, 0.70 and 0.40 mean for MiniLM (see `bench/calibrate.py`).

    Raises:
        SettingsError: If the weights are not installed.
    """

    similarity: "Mapping[str, float]" = MappingProxyType({"duplicate": 0.90, "group": 0.62, "related": 0.32})

    def __init__(self) -> None:
        self._file, vectors = _files()
        self._rows = mapped(vectors)["embedding.weight"]
        sample = np.ascontiguousarray(self._rows[:: max(1, len(self._rows) // 64)])
        weights = zlib.crc32(sample.tobytes(), self._rows.size)
        self.name = f"static:{self._rows.shape[1]}:{weights:08x}:{RECIPE}.{word_frequency.VERSION}:{RARITY}"
        self._weight = np.full(len(self._rows), np.nan, dtype=np.float32)  # of each piece, once it was asked for
        self._word = lru_cache(maxsize=REMEMBERED)(self._word_vector)

    def embed(self, texts: "Sequence[str]", /) -> "NDArray[np.float32]":
        """One row a text, (n, 256): unit length, or zeros for a blank text. The same text always has the same row."""
        vectors = np.zeros((len(texts), self._rows.shape[1]), dtype=np.float32)
        owners: list[int] = []  # of each segment: a text, or a part of a very long one
        segments: list[list[int]] = []
        size = 0
        for index, text in enumerate(texts):
            numbers = self._pieces.numbers(text)
            for start in range(0, len(numbers), BATCH):
                owners.append(index)
                segments.append(numbers[start : start + BATCH])
                size += len(segments[-1])
                if size >= BATCH:
                    np.add.at(vectors, owners, self._sums(segments))
                    owners, segments, size = [], [], 0
        np.add.at(vectors, owners, self._sums(segments))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors

    def _sums(self, segments: list[list[int]]) -> "NDArray[np.float32]":
        """The weighted sum of the vectors of each segment's pieces, (segments, 256)."""
        if not segments:
            return np.zeros((0, self._rows.shape[1]), dtype=np.float32)
        numbers = np.fromiter(chain.from_iterable(segments), dtype=np.intp)
        starts = [0, *accumulate(map(len, segments[:-1]))]
        sums: NDArray[np.float32] = np.add.reduceat(self._rows[numbers] * self._weights(numbers), starts, axis=0)
        return sums

    def word_vectors(self, words: "Sequence[str]", /) -> "NDArray[np.float32]":
        """Unit rows for single words, (n, 256), remembered: for the merge rule, which compares word by word."""
        if not words:
            return np.zeros((0, self._rows.shape[1]), dtype=np.float32)
        return np.stack([self._word(word) for word in words])

    def _word_vector(self, word: str) -> "NDArray[np.float32]":
        vector: NDArray[np.float32] = self.embed([word])[0]
        vector.setflags(write=False)
        return vector

    @CachedProperty
    def _pieces(self) -> Pieces:
        return Pieces(Vocabulary(self._file, FIRST))

    def _weights(self, numbers: "NDArray[np.intp]") -> "NDArray[np.float32]":
        """The weight a / (a + p) of each piece, (n, 1); p is the share of the word it spells, 0 if that is not known."""
        found = self._weight[numbers]
        if np.isnan(found).any():
            for number in set(numbers[np.isnan(found)].tolist()):
                self._weight[number] = RARITY / (RARITY + np.float32(share(self._pieces.spelled(number))))
            found = self._weight[numbers]
        return found[:, np.newaxis]


def _files() -> "tuple[Path, Path]":
    """The vocabulary's and the vectors' files, without importing the package that carries them."""
    for folder in folders("wordllama"):
        vectors = folder / "weights" / "l2_supercat_256.safetensors"
        vocabularies = sorted(folder.glob("tokenizer*/l2_supercat_tokenizer_config.json"))
        if vectors.is_file() and vocabularies:
            return vocabularies[0], vectors
    raise SettingsError(
        "the static embedder needs the weights in the package wordllama: "
        "pip install 'wordllama>=0.3.9,<0.5', or choose another embedder"
    )


def share(piece: str) -> float:
    """How large a part of all pieces a piece is, as far as that is known of the word, sign or ending it spells."""
    if piece in CONTRACTIONS:
        return CONTRACTION_SHARE
    spelled = piece.removeprefix(SPACE)
    if spelled and spelled in PUNCTUATION and len(spelled) == 1:
        return PUNCTUATION_SHARE
    word = spelled.lower()
    as_written = piece != spelled and spelled in {word, word.capitalize(), word.upper()}
    return _common().get(word, 0.0) if as_written else 0.0


@cache
def _common() -> "Mapping[str, float]":
    return word_frequency.commonest(COMMON)
