"""Minds: whoever thinks. They distil, decide and summarise, and never write."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from slowwave.errors import SettingsError
from slowwave.minds.llm.ledger import Caps
from slowwave.policy.retention.categories import REGISTRY

if TYPE_CHECKING:
    from slowwave.minds.llm.ledger import Prices
    from slowwave.ports import LLM, Embedder, Mind

_METHODS = ("distil", "decide", "summarise")


def make(
    spec: "str | LLM | Mind | None",
    *,
    embedder: "Embedder | None" = None,
    api_key: str | None = None,
    base_url: str | None = None,
    seconds: float | None = None,
    prices: "Prices | None" = None,
    caps: Caps = Caps(),  # noqa: B008 - frozen
    categories: Collection[str] = (),
) -> "Mind":
    """The mind a setting names: None or "none" for rules alone, a spec or an object with `.complete` for a language model.

    Args:
        spec: who thinks; a Mind is taken as it is.
        embedder: what rules alone compare texts with.
        api_key: for a spec: the key of its address. OPENAI_API_KEY is sent to OpenAI's own address only.
        base_url: for a spec.
        seconds: how long one answer may take; None means 60 for a spec, and leaves it to an object of your own.
        prices: {model: (in, out)}, money for a million tokens each.
        caps: how much the model may be asked.
        categories: what a fact may be filed under beside the registry's own.

    Raises:
        SettingsError: for a spec nobody knows, or an object that can do neither.
    """
    if spec is None or (isinstance(spec, str) and spec == "none"):
        from slowwave.minds.offline.mind import OfflineMind  # noqa: PLC0415 - only the mind that is asked for is loaded

        return OfflineMind(embedder=embedder)
    if all(callable(getattr(spec, method, None)) for method in _METHODS):
        return spec  # type: ignore[return-value]  # it has what a Mind has
    from slowwave.minds.llm.mind import LanguageMind  # noqa: PLC0415 - see above

    known = tuple(dict.fromkeys((*REGISTRY, *categories)))
    if isinstance(spec, str):
        from slowwave.minds.llm.openai import client, public_spec  # noqa: PLC0415 - see above

        model = client(spec, api_key=api_key, base_url=base_url, seconds=seconds)
        return LanguageMind(model, name=public_spec(spec), prices=prices, caps=caps, categories=known)
    if callable(getattr(spec, "complete", None)):
        # It has what an LLM has.
        return LanguageMind(spec, seconds=seconds, prices=prices, caps=caps, categories=known)  # type: ignore[arg-type]
    raise SettingsError(f"{spec!r} cannot think: give a model's name, an object with .complete(messages=...), or None")
