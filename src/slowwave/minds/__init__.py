"""Minds: whoever thinks. They distil, decide and summarise, and never write."""

from typing import TYPE_CHECKING

from slowwave.errors import SettingsError

if TYPE_CHECKING:
    from slowwave.ports import LLM, Embedder, Mind

_METHODS = ("distil", "decide", "summarise")


def make(
    spec: "str | LLM | Mind | None",
    *,
    embedder: "Embedder | None" = None,
    api_key: str | None = None,
    base_url: str | None = None,
) -> "Mind":
    """The mind a setting names: None for rules alone, a spec or an object with `.complete` for a language model.

    Raises:
        SettingsError: for a spec nobody knows, or an object that can do neither.
    """
    if spec is None:
        from slowwave.minds.offline import OfflineMind  # noqa: PLC0415 - only the mind that is asked for is loaded

        return OfflineMind(embedder=embedder)
    if all(callable(getattr(spec, method, None)) for method in _METHODS):
        return spec  # type: ignore[return-value]  # it has what a Mind has
    from slowwave.minds.language import LanguageMind  # noqa: PLC0415 - see above

    if isinstance(spec, str):
        from slowwave.minds.openai_compatible import client  # noqa: PLC0415 - see above

        return LanguageMind(client(spec, api_key=api_key, base_url=base_url), name=spec)
    if callable(getattr(spec, "complete", None)):
        return LanguageMind(spec)  # type: ignore[arg-type]  # it has what an LLM has
    raise SettingsError(f"{spec!r} cannot think: give a model's name, an object with .complete(messages=...), or None")
