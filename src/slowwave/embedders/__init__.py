"""Embedders turn texts into unit vectors. `make` builds one from a setting; `checked` calls one and checks its result."""

import errno
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from slowwave.errors import TOO_MANY_FILES, EmbedderError, SettingsError, SlowwaveError, shown
from slowwave.model.plain_text import without_quotes
from slowwave.telemetry import child

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from slowwave.ports import Embedder

__all__ = ["checked", "make"]

_UNIT_WITHIN: Final = 1e-5
"""A row whose squared length is this close to 1 is not normalised again: float32 rounding alone causes the difference."""

_HALVINGS: Final = 4
"""How often a text that is refused is asked about: whole, and then by its first half, quarter and eighth."""

_CHOICES: Final = '"static", "minilm", "openai:MODEL", "none", or an object with a `name` and a method `embed`'


def make(
    spec: "str | Embedder | None",
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    seconds: float | None = None,
) -> "Embedder | None":
    """The embedder that a setting names; None for "none" or None, and then search uses words only.

    Args:
        spec: "static" (offline, the default elsewhere), "minilm" (offline, the extra `minilm`) or "minilm:FOLDER"
            (with the model's files), "openai:MODEL" (any server that speaks OpenAI's embeddings), "none", or an object with a `name` and a method `embed`.
        api_key: For "openai:…" only; local servers usually need none. OPENAI_API_KEY is sent to OpenAI's own only.
        base_url: For "openai:…" only; default OpenAI's own.
        seconds: For "openai:…" only: the limit of one request, retries included; default 10.

    Raises:
        SettingsError: If the spec is unknown, or its extra is not installed.
    """
    if spec is None or (isinstance(spec, str) and spec == "none"):
        return None
    if not isinstance(spec, str):
        if isinstance(getattr(spec, "name", None), str) and spec.name and callable(getattr(spec, "embed", None)):
            return spec
        raise SettingsError(
            f"an embedder needs a `name` (text, not empty) and a method `embed`; {shown(spec)} lacks one of them"
        )
    kind, _, model = spec.partition(":")
    # Only the module of the chosen embedder is imported: each costs start-up time.
    if spec == "static":
        from slowwave.embedders.static import StaticEmbedder  # noqa: PLC0415 - see above

        try:
            return StaticEmbedder()
        except OSError as error:
            why = TOO_MANY_FILES if error.errno == errno.EMFILE else "install slowwave again"
            raise SettingsError(
                f"the vectors of the static embedder cannot be read ({error.strerror}): {why}"
            ) from error
    if kind == "minilm":
        from slowwave.embedders.minilm import MiniLMEmbedder  # noqa: PLC0415 - see above

        return MiniLMEmbedder(Path(model) if model else None)
    if kind == "openai" and model:
        from slowwave.embedders.openai import SECONDS, OpenAICompatibleEmbedder  # noqa: PLC0415 - see above

        return OpenAICompatibleEmbedder(
            model, api_key=api_key, base_url=base_url, seconds=SECONDS if seconds is None else seconds
        )
    raise SettingsError(f"unknown embedder {shown(spec)}; choose {_CHOICES}")


@child("slowwave.embed")
def _embedded(embedder: "Embedder", texts: "Sequence[str]") -> object:
    return embedder.embed(texts)


def checked(embedder: "Embedder", texts: "Sequence[str]") -> "NDArray[np.float32]":
    """Embed and check the result: (n, dim) float32, finite, unit rows; a row of zeros means "no vector".

    Blank texts never reach the embedder and get a row of zeros. If all are blank (or there are none) the embedder is
    not called and the result is (n, 0). Callers do not store rows of zeros.

    Raises:
        EmbedderError: If the embedder fails, or returns anything but one finite, non-zero row for each text.
    """
    filled = [index for index, text in enumerate(texts) if text.strip()]
    if not filled:
        return np.zeros((len(texts), 0), dtype=np.float32)
    asked = [texts[index] for index in filled]
    try:
        vectors = _asked(embedder, asked)
    except EmbedderError as error:
        if not error.refused:
            raise
        vectors = _asked_for_less(embedder, asked, error)
    if len(filled) == len(texts):
        return vectors
    rows = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
    rows[filled] = vectors
    return rows


def _asked(embedder: "Embedder", texts: "Sequence[str]") -> "NDArray[np.float32]":
    """The checked rows of one call."""
    name = embedder.name
    try:
        answer: object = _embedded(embedder, texts)
        array = np.asarray(answer)
    except SlowwaveError:
        raise
    except (
        Exception
    ) as error:  # foreign code may raise any exception: the texts get no vectors now, and the work stays due
        failure = EmbedderError(f"the embedder {name} failed: {without_quotes(error, texts)}")
        failure.refused = not isinstance(error, OSError)  # which a connection that breaks or is too slow raises
        raise failure from error
    if array.dtype.kind == "O" and inspect.iscoroutine(answer):
        answer.close()
        raise EmbedderError(f"the embedder {name} is asynchronous; `embed` must return the vectors themselves")
    return _unit(array, count=len(texts), name=name)


def _asked_for_less(embedder: "Embedder", texts: "Sequence[str]", error: EmbedderError) -> "NDArray[np.float32]":
    """The rows of a batch that was refused: of its halves, and so on, and of the beginning of a text that is refused alone.

    Where the beginning of the first text is refused too, the size is not what was refused, and no more is asked.
    """
    parts = [_of_beginning(embedder, texts[0], error)]
    waiting = [texts[1:]] if len(texts) > 1 else []
    while waiting:
        batch = waiting.pop()
        try:
            parts.append(_asked(embedder, batch))
        except EmbedderError as refusal:
            if not refusal.refused:
                raise
            if len(batch) == 1:
                parts.append(_of_beginning(embedder, batch[0], refusal))
            else:
                waiting += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
    if len(widths := {part.shape[1] for part in parts}) > 1:
        raise EmbedderError(
            f"the embedder {embedder.name} answered vectors of {len(widths)} widths for {len(texts)} texts"
        )
    return np.concatenate(parts)


def _of_beginning(embedder: "Embedder", text: str, error: EmbedderError) -> "NDArray[np.float32]":
    """The row of a text, or of the longest of its beginnings that the embedder takes; the error if it takes none."""
    for halvings in range(_HALVINGS):
        try:
            return _asked(embedder, [text[: max(1, len(text) >> halvings)]])
        except EmbedderError as refusal:
            if not refusal.refused:
                raise
            error = refusal
    raise error


def _unit(array: "NDArray[np.generic]", *, count: int, name: str) -> "NDArray[np.float32]":
    """The rows at unit length; EmbedderError if they cannot be used."""
    if array.dtype.kind not in "fiu" or array.ndim != 2 or array.shape[0] != count or array.shape[1] == 0:  # noqa: PLR2004 - rows and columns
        shape = "x".join(map(str, array.shape)) or "no"
        raise EmbedderError(
            f"the embedder {name} answered {shape} {array.dtype} for {count} texts, not one row of numbers each"
        )
    if array.dtype == np.float32:
        rows = cast("NDArray[np.float32]", array)
        if _are_unit(rows):
            return rows
    wide = array.astype(np.float64)
    if not np.isfinite(wide).all():
        raise EmbedderError(f"the embedder {name} answered a vector with NaN or infinity")
    largest = np.abs(wide).max(axis=1, keepdims=True)
    if not largest.all():
        raise EmbedderError(f"the embedder {name} answered a vector of zeros for a text that is not blank")
    wide /= largest  # first, so that squares of huge or tiny numbers neither overflow nor vanish
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    return wide.astype(np.float32)


def _are_unit(rows: "NDArray[np.float32]") -> bool:
    """Whether all rows have length 1. False for rows with NaN or infinity."""
    if len(rows) == 1:  # the add of a single message takes this path: one product instead of five calls
        return abs(float(np.vdot(rows, rows)) - 1) < _UNIT_WITHIN
    with np.errstate(all="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    return bool((np.abs(squares - 1) < _UNIT_WITHIN).all())
