"""The composition root: the one place that knows which store, mind and embedder stand behind the doors."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from slowwave import settings
from slowwave.embedders import checked, make as make_embedder
from slowwave.minds import make as make_mind
from slowwave.minds.llm.ledger import Caps
from slowwave.model.config import Config
from slowwave.model.scope import ancestors
from slowwave.ports import LLM, Clock, Embedder, Mind, Ports, Store
from slowwave.settings import Settings
from slowwave.stores import make as make_store


def build_ports(
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
    made = make_embedder(
        embedder, api_key=known.embedder_key, base_url=known.embedder_url, seconds=known.embedder_seconds
    )
    config = config or Config()
    mind = make_mind(llm, embedder=made, **mind_options(known, config))
    store: Store = make_store(path, in_ram=config.search_in_ram)
    return Ports(
        store=store,
        mind=mind,
        embedder=made,
        embed=lambda texts: checked(made, texts) if made is not None else np.zeros((len(texts), 0), dtype=np.float32),
        clock=clock or _utc_now,
        config=config,
        scope=scope,
        scopes=(scope, *(ancestors(scope) if inherit else ())),
    )


def with_mind(ports: Ports, llm: str | LLM | Mind) -> Ports:
    """The same with another mind, made as the settings say."""
    mind = make_mind(llm, embedder=ports.embedder, **mind_options(settings.read(), ports.config))
    return replace(ports, mind=mind)


def mind_options(known: Settings, config: Config) -> dict[str, Any]:
    """What a mind has to know of the settings."""
    caps = Caps(
        calls_per_run=known.llm_calls_per_run,
        calls_per_day=known.llm_calls_per_day,
        money_per_day=known.llm_money_per_day,
    )
    return {
        "api_key": known.llm_key,
        "base_url": known.llm_url,
        "seconds": known.llm_seconds,
        "prices": known.llm_prices,
        "caps": caps,
        "categories": (*config.category_ttl_days, *config.category_tokens_max),
    }


def _utc_now() -> datetime:
    return datetime.now(UTC)
