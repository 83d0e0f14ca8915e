"""Vectors from any server that speaks OpenAI's embeddings: OpenAI, Ollama, vLLM, llama.cpp, LM Studio and others."""

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from slowwave.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from openai import OpenAI

BATCH: Final = 256  # texts a request; OpenAI takes 2,048, small local servers far fewer
TIMEOUT: Final = 60.0  # seconds a request
RETRIES: Final = 2  # the SDK's own, with its back-off


class OpenAICompatibleEmbedder:
    """A served embedding model: (n, dim) float32, unit rows, the width being the model's own.

    Args:
        model: The model's name on that server.
        api_key: Default a placeholder, which local servers accept.
        base_url: Default OpenAI's own.

    Attributes:
        name: "openai:MODEL", with the server when it is not OpenAI's own: the same name elsewhere may be other weights.

    Raises:
        EmbedderError: From `embed`: if the server fails, or answers another number or width of vectors than before.
    """

    def __init__(self, model: str, *, api_key: str | None = None, base_url: str | None = None) -> None:
        self.name = f"openai:{model}" + (f"@{base_url.rstrip('/')}" if base_url else "")
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._width: int | None = None

    def embed(self, texts: "Sequence[str]", /) -> "NDArray[np.float32]":
        """One unit row a text, (n, dim), asked for in batches of 256."""
        rows = [row for start in range(0, len(texts), BATCH) for row in self._ask(texts[start : start + BATCH])]
        vectors = np.asarray(rows, dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not lengths.all():
            raise EmbedderError(f"{self.name} answered a vector of zeros or with NaN or infinity")
        vectors /= lengths
        return vectors.astype(np.float32)

    def _ask(self, texts: "Sequence[str]") -> list[list[float]]:
        """The rows of one batch, in the order of the texts."""
        from openai import OpenAIError  # noqa: PLC0415 - loaded only by those who use it

        try:
            answer = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
        except OpenAIError as error:
            raise EmbedderError(f"{self.name} failed: {error}") from error
        rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        widths = {len(row) for row in rows}
        if len(rows) != len(texts) or len(widths) != 1 or self._width not in (None, *widths):
            raise EmbedderError(
                f"{self.name} answered {len(rows)} vectors of width {sorted(widths)} for {len(texts)} texts"
                + (f"; before, the width was {self._width}" if self._width else "")
            )
        self._width = widths.pop()
        return rows

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import OpenAI  # noqa: PLC0415 - loaded only by those who use it

        return OpenAI(
            api_key=self._api_key or "none",
            base_url=self._base_url or "https://api.openai.com/v1",
            timeout=TIMEOUT,
            max_retries=RETRIES,
        )
