"""The composition root: the one place that knows which store, mind and embedder stand behind the doors."""

from datetime import UTC, datetime

import numpy as np

from slowwave.embedders import checked, make as make_embedder
from slowwave.minds import make as make_mind
from slowwave.model.config import Config
from slowwave.model.scope import ancestors
from slowwave.ports import LLM, Clock, Embedder, Mind, Ports, Store
from slowwave.settings import Settings
from slowwave.stores import make as make_store


def wired(
    path: str,
    scope: str,
    *,
    inherit: bool = False,
    llm: str | LLM | Mind | None = None,
    embedder: str | Embedder | None = "static",
    config: Config | None = None,
    clock: Clock | None = None,
    known: Settings | None = None,
) -> Ports:
    """Everything a pipeline works with, made from what the caller and the settings say."""
    known = known or Settings()
    made = make_embedder(embedder, api_key=known.embedder_key, base_url=known.embedder_url)
    mind = make_mind(llm, api_key=known.llm_key, base_url=known.llm_url, embedder=made)
    store: Store = make_store(path)
    return Ports(
        store=store,
        mind=mind,
        embedder=made,
        embed=lambda texts: checked(made, texts) if made is not None else np.zeros((len(texts), 0), dtype=np.float32),
        clock=clock or _utc_now,
        config=config or Config(),
        scope=scope,
        scopes=(scope, *(ancestors(scope) if inherit else ())),
    )


def _utc_now() -> datetime:
    return datetime.now(UTC)
