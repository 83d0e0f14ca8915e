"""Vectors from any server with OpenAI's embeddings API: OpenAI, Ollama, vLLM, llama.cpp, LM Studio and others."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from slowwave.errors import EmbedderError
from slowwave.transport import RejectedError, RetryPolicy, Server, TransportError
from slowwave.transport.address import address_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BATCH: Final = 64
"""Texts in a request: a small model on a CPU embeds them within SECONDS."""
SECONDS: Final = 10.0
"""For one request with its retries. When the server does not answer, storing a message takes this long."""
_TRIES: Final = 3
_BODY_LEAST: Final = 1_000_000  # bytes, for errors and for the JSON around the vectors
_BODY_PER_TEXT: Final = 200_000  # bytes: 8,192 numbers of 24 characters


class OpenAICompatibleEmbedder:
    """An embedding model on a server: (n, dim) float32, unit rows; the model sets the width.

    Args:
        model: The model's name on that server.
        api_key: The key of this address. Without one, OpenAI's own address gets OPENAI_API_KEY, any other a placeholder.
        base_url: Default OpenAI's own.
        seconds: The limit of one request of up to 64 texts, retries and pauses included.

    Attributes:
        name: "openai:MODEL", with the server's address if `base_url` is set: the same name on another server may be other weights.
            User name and password are left out, because the name is stored and shown.
        is_local: False: messages are stored before they are embedded, and secrets are withheld.

    Raises:
        SettingsError: If the URL or the key cannot be used.
        EmbedderError: From `embed`: if the server fails, or the number or width of the vectors is wrong.
    """

    is_local = False

    def __init__(
        self, model: str, *, api_key: str | None = None, base_url: str | None = None, seconds: float = SECONDS
    ) -> None:
        self.name = f"openai:{model}" + (f"@{address_of(base_url).rstrip('/')}" if base_url else "")
        self._model = model
        self._server = Server(
            base_url=base_url,
            api_key=api_key,
            seconds=seconds,
            patience=RetryPolicy(budget=seconds, tries=_TRIES),
            setting="SLOWWAVE_EMBEDDER",
        )

    def embed(self, texts: "Sequence[str]", /) -> "NDArray[np.float32]":
        """One unit row for each text, (n, dim), requested in batches of 64."""
        rows = [row for start in range(0, len(texts), BATCH) for row in self._ask(texts[start : start + BATCH])]
        try:
            vectors = np.asarray(rows, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            vectors = np.empty(0)  # fails the next check
        if vectors.ndim != 2:  # noqa: PLR2004 - rows and columns
            raise EmbedderError(f"{self.name} answered vectors that are not rows of numbers")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not lengths.all():
            raise EmbedderError(f"{self.name} answered a vector of zeros or with NaN or infinity")
        vectors /= lengths
        return vectors.astype(np.float32)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._server.close()

    def _ask(self, texts: "Sequence[str]") -> list[list[float]]:
        """The rows of one batch, in the order of the texts."""
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            answer = self._server.post("/embeddings", body, _BODY_LEAST + _BODY_PER_TEXT * len(texts))
        except TransportError as error:
            failed = EmbedderError(f"{self.name} failed: {error}")
            failed.refused = isinstance(error, RejectedError)
            raise failed from error
        rows = self._rows(answer)
        widths = {len(row) for row in rows}
        if len(rows) != len(texts) or len(widths) != 1:
            raise EmbedderError(
                f"{self.name} answered {len(rows)} vectors of width {sorted(widths)} for {len(texts)} texts"
            )
        return rows

    def _rows(self, answer: Mapping[str, Any]) -> list[list[float]]:
        try:
            rows = [item["embedding"] for item in sorted(answer["data"], key=lambda item: item["index"])]
        except (LookupError, TypeError):
            rows = [None]
        if not all(isinstance(row, list) for row in rows):
            raise EmbedderError(f"{self.name} answered without vectors; is it an embeddings API?")
        return rows
