"""Embedders: text to unit vectors. `make` turns a setting into one, `checked` is the only way to call one."""

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from slowwave.errors import EmbedderError, SettingsError, SlowwaveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from slowwave.ports import Embedder

__all__ = ["checked", "make"]

_UNIT_WITHIN: Final = 1e-5
"""How far the square of a length may be from 1 to be left as it is: what float32 itself rounds off."""

_CHOICES: Final = '"static", "minilm", "openai:MODEL", "none", or an object with a `name` and a method `embed`'


def make(
    spec: "str | Embedder | None",
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    seconds: float | None = None,
) -> "Embedder | None":
    """The embedder a setting names; None for "none" or None: search then works by words alone.

    Args:
        spec: "static" (offline, the default elsewhere), "minilm" (offline, the extra `minilm`) or "minilm:FOLDER"
            (with the model's files), "openai:MODEL" (any server that speaks OpenAI's embeddings), "none", or an object with a `name` and a method `embed`.
        api_key: For "openai:…" only; local servers usually need none. OPENAI_API_KEY is sent to OpenAI's own only.
        base_url: For "openai:…" only; default OpenAI's own.
        seconds: For "openai:…" only: how long one request may take, all tries included; default 10.

    Raises:
        SettingsError: If the spec names nothing known, or its extra is not installed.
    """
    if spec is None or spec == "none":
        return None
    if not isinstance(spec, str):
        if isinstance(getattr(spec, "name", None), str) and spec.name and callable(getattr(spec, "embed", None)):
            return spec
        raise SettingsError(
            f"an embedder needs a `name` (text, not empty) and a method `embed`; this has not: {spec!r}"
        )
    kind, _, model = spec.partition(":")
    # Each kind is imported where it is made: what nobody asked for is not loaded.
    if spec == "static":
        from slowwave.embedders.static import StaticEmbedder  # noqa: PLC0415 - see above

        return StaticEmbedder()
    if kind == "minilm":
        from slowwave.embedders.minilm import MiniLMEmbedder  # noqa: PLC0415 - see above

        return MiniLMEmbedder(Path(model) if model else None)
    if kind == "openai" and model:
        from slowwave.embedders.openai import SECONDS, OpenAICompatibleEmbedder  # noqa: PLC0415 - see above

        return OpenAICompatibleEmbedder(
            model, api_key=api_key, base_url=base_url, seconds=SECONDS if seconds is None else seconds
        )
    raise SettingsError(f"no embedder is called {spec!r}; choose {_CHOICES}")


def checked(embedder: "Embedder", texts: "Sequence[str]") -> "NDArray[np.float32]":
    """Embed, and trust nothing: (n, dim) float32, finite, unit rows; a row of zeros means "no vector".

    Blank texts never reach the embedder and get a row of zeros; if all are blank (or there are none) it is not called
    at all and the result is (n, 0). Rows of zeros are not to be stored.

    Raises:
        EmbedderError: If the embedder fails, or answers anything but one finite, non-zero row a text.
    """
    spoken = [index for index, text in enumerate(texts) if text.strip()]
    if not spoken:
        return np.zeros((len(texts), 0), dtype=np.float32)
    name = embedder.name
    try:
        answer: object = embedder.embed([texts[index] for index in spoken])
        found = np.asarray(answer)
    except SlowwaveError:
        raise
    except Exception as error:  # foreign code: whatever it raises means "no vectors now", and the work waits
        raise EmbedderError(f"the embedder {name} failed: {type(error).__name__}: {error}") from error
    if found.dtype.kind == "O" and inspect.iscoroutine(answer):
        answer.close()
        raise EmbedderError(f"the embedder {name} is asynchronous; `embed` must return the vectors themselves")
    vectors = _unit(found, count=len(spoken), name=name)
    if len(spoken) == len(texts):
        return vectors
    rows = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
    rows[spoken] = vectors
    return rows


def _unit(found: "NDArray[np.generic]", *, count: int, name: str) -> "NDArray[np.float32]":
    """The rows at unit length, or the reason why they cannot be used."""
    if found.dtype.kind not in "fiu" or found.ndim != 2 or found.shape[0] != count or found.shape[1] == 0:  # noqa: PLR2004 - rows and columns
        shape = "x".join(map(str, found.shape)) or "no"
        raise EmbedderError(
            f"the embedder {name} answered {shape} {found.dtype} for {count} texts, not one row of numbers each"
        )
    if found.dtype == np.float32:
        rows = cast("NDArray[np.float32]", found)
        if _are_unit(rows):
            return rows
    wide = found.astype(np.float64)
    if not np.isfinite(wide).all():
        raise EmbedderError(f"the embedder {name} answered a vector with NaN or infinity")
    largest = np.abs(wide).max(axis=1, keepdims=True)
    if not largest.all():
        raise EmbedderError(f"the embedder {name} answered a vector of zeros for a text that is not blank")
    wide /= largest  # first, so that squares of huge or tiny numbers neither overflow nor vanish
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    return wide.astype(np.float32)


def _are_unit(rows: "NDArray[np.float32]") -> bool:
    """Whether all rows have length 1 already, which those with NaN and infinity have not."""
    if len(rows) == 1:  # a durable add of one message passes here: one product instead of five calls
        return abs(float(np.vdot(rows, rows)) - 1) < _UNIT_WITHIN
    with np.errstate(all="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    return bool((np.abs(squares - 1) < _UNIT_WITHIN).all())
