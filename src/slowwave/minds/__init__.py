"""Minds distil facts, decide what they do to known facts, and summarise. They return proposals and never write."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from slowwave.errors import SettingsError, shown
from slowwave.minds.llm.ledger import Caps
from slowwave.model.budget import StoreBudget
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
    budget: StoreBudget = StoreBudget(),  # noqa: B008 - frozen
    categories: Collection[str] = (),
    redact: bool = True,
) -> "Mind":
    """The mind that a setting names: None or "none" for rules without a model, else a spec or an object with `.complete`.

    Args:
        spec: the setting; a Mind is returned unchanged.
        embedder: with it the rules compare words by meaning.
        api_key: for a spec: the key of its address. OPENAI_API_KEY is sent to OpenAI's own address only.
        base_url: for a spec: another address.
        seconds: the limit of one answer; None means 60 for a spec, and no limit for an object.
        prices: {model: (in, out)}, the price of a million tokens each.
        caps: limits on the calls of the model.
        budget: limits on its calls by all processes and scopes of the store.
        categories: categories of facts beside those of the registry.
        redact: whether recognised secrets are kept from a model. A Mind of the caller gets texts as they are.

    Raises:
        SettingsError: the spec is unknown, or the object is neither a Mind nor a model.
    """
    if spec is None or (isinstance(spec, str) and spec == "none"):
        from slowwave.minds.offline.mind import OfflineMind  # noqa: PLC0415 - load only the chosen mind

        return OfflineMind(embedder=embedder)
    if all(callable(getattr(spec, method, None)) for method in _METHODS):
        return spec  # type: ignore[return-value]  # it has the methods of a Mind
    from slowwave.minds.llm.mind import LanguageMind  # noqa: PLC0415 - see above

    known = tuple(dict.fromkeys((*REGISTRY, *categories)))
    options: dict[str, Any] = {"prices": prices, "caps": caps, "budget": budget, "categories": known, "redact": redact}
    if isinstance(spec, str):
        from slowwave.minds.llm.openai import client, public_spec  # noqa: PLC0415 - see above

        model = client(spec, api_key=api_key, base_url=base_url, seconds=seconds)
        return LanguageMind(model, name=public_spec(spec), **options)
    if callable(getattr(spec, "complete", None)):
        return LanguageMind(spec, seconds=seconds, **options)  # type: ignore[arg-type]  # it has the method of an LLM
    raise SettingsError(
        f"{shown(spec)} is not a mind: pass the name of a model, an object with .complete(messages=...), or None"
    )
