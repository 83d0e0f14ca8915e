"""The composition root: builds the store, the mind and the embedder behind the ports."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from slowwave import settings
from slowwave.embedders import checked, make as make_embedder
from slowwave.errors import InputError
from slowwave.minds import make as make_mind
from slowwave.minds.llm.ledger import Caps
from slowwave.model.budget import StoreBudget
from slowwave.model.config import Config
from slowwave.model.scope import ancestors
from slowwave.ports import LLM, Clock, Embedder, Mind, Ports, Progress, Store, VectorWidth
from slowwave.settings import Settings
from slowwave.stores import make as make_store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slowwave.model.schema import SchemaState
    from slowwave.stores.copy import CopyReport


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
    create: bool = True,
) -> Ports:
    """Build the ports of a scope. The arguments are those of `AgentMemory.open`.

    Args:
        path: a file, ":memory:" or "postgresql://…".
        scope: a checked scope.
        inherit: also read the parent scopes.
        llm: the model; None: the offline rules.
        embedder: the embedder; None: search by words only.
        config: the numbers; None: the defaults.
        clock: the present time; None: the system's clock.
        known: keys, addresses, time-outs and limits of cost; None: the defaults.
        create: whether a store that does not exist is created; False: it is an error.
    """
    known = known or Settings()
    if clock is not None and not callable(clock):
        raise InputError(
            f"clock is of the type {type(clock).__name__}: pass a function that returns the present time, such as "
            "lambda: datetime.now(timezone.utc)"
        )
    embedder_port = make_embedder(
        embedder, api_key=known.embedder_key, base_url=known.embedder_url, seconds=known.embedder_seconds
    )
    config = config or Config()
    mind = make_mind(llm, embedder=embedder_port, **mind_options(known, config))
    store: Store = make_store(path, create=create, **_store_options(config))
    width = VectorWidth()

    def embed(texts: Sequence[str]) -> "NDArray[np.float32]":
        if embedder_port is None:
            return np.zeros((len(texts), 0), dtype=np.float32)
        vectors = _embedded(embedder_port, texts, config)
        width.seen = vectors.shape[1] or width.seen
        return vectors

    return Ports(
        store=store,
        mind=mind,
        embedder=embedder_port,
        embed=embed,
        width=width,
        clock=clock or _utc_now,
        config=config,
        scope=scope,
        scopes=(scope, *(ancestors(scope) if inherit else ())),
    )


def _store_options(config: Config) -> dict[str, Any]:
    """The arguments of a store that Config defines."""
    return {
        "in_ram": config.search_in_ram,
        "index_cache_mb": config.index_cache_mb,
        "busy_seconds": config.lock_seconds,
        "connections": config.connections,
        "connect_seconds": config.connect_seconds,
        "statement_seconds": config.statement_seconds,
        "idle_transaction_seconds": config.idle_transaction_seconds,
        "application_name": config.application_name,
        "prepared_statements": config.prepared_statements,
    }


def _embedded(embedder: Embedder, texts: Sequence[str], config: Config) -> "NDArray[np.float32]":
    from slowwave.pipelines.ingest.index_text import texts_to_embed  # noqa: PLC0415 - not needed to open a store

    return checked(embedder, texts_to_embed(embedder, texts, config))


def with_mind(ports: Ports, llm: str | LLM | Mind) -> Ports:
    """The same ports with another mind, built with the present settings."""
    mind = make_mind(llm, embedder=ports.embedder, **mind_options(settings.read(), ports.config))
    return replace(ports, mind=mind)


def mind_options(known: Settings, config: Config) -> dict[str, Any]:
    """The arguments of a mind that the settings define."""
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
        "budget": StoreBudget(
            calls_per_hour=known.llm_store_calls_per_hour,
            calls_per_day=known.llm_store_calls_per_day,
            tokens_per_hour=known.llm_store_tokens_per_hour,
            tokens_per_day=known.llm_store_tokens_per_day,
            money_per_day=known.llm_store_money_per_day,
        ),
        "categories": (*config.category_ttl_days, *config.category_tokens_max),
        "redact": config.redact_to_model,
    }


def copy_store(
    source: str, target: str, *, scope: str | None = None, on_progress: Progress | None = None
) -> "CopyReport":
    """Copy a whole store, or one scope with those below it, into another, and compare hashes. After an interruption, call it again to continue.

    Args:
        source: a file or "postgresql://…"; it must exist.
        target: another one; created if it does not exist.
        scope: only this scope and those below it; None: all.
        on_progress: called after each scope with the number of scopes that are complete, and of all.

    Raises:
        NotFoundError: there is no store at `source`, or it has no such scope.
        InputError: a scope of the target has other content; scopes copied before stay.
        CorruptError: the copy of a scope has another hash. It is discarded.
    """
    from slowwave.stores.copy import copy, scope_paths  # noqa: PLC0415 - only a copy loads it

    with closing(make_store(source, create=False)) as old, closing(make_store(target)) as new:
        total, done = len(scope_paths(old, scope)), count(1)
        return copy(
            old, new, scope=scope, on_progress=(lambda _: on_progress(next(done), total)) if on_progress else None
        )


def discard_partial_copy(target: str) -> int:
    """Delete the rows that an interrupted copy wrote into a store. Returns the number of their scopes.

    Raises:
        NotFoundError: there is no store.
    """
    from slowwave.stores.copy import discard_partial_copy as discard  # noqa: PLC0415 - as above

    with closing(make_store(target, create=False)) as store:
        return discard(store)


def schema_state(where: str) -> "SchemaState":
    """The schema of a store and the migrations that it lacks. See `stores.upgrade.schema_state`."""
    from slowwave.stores.upgrade import schema_state as state  # noqa: PLC0415 - only `slowwave migrate` loads it

    return state(where)


def migrate_store(where: str, *, patience: float, say: Callable[[str], None]) -> "SchemaState":
    """Run the missing migrations of a store. See `stores.upgrade.migrate_store`."""
    from slowwave.stores.upgrade import migrate_store as migrate  # noqa: PLC0415 - as above

    return migrate(where, patience=patience, say=say)


def init_store(where: str, *, partitions: int | None = None) -> "SchemaState":
    """Create an empty store. See `stores.upgrade.init_store`."""
    from slowwave.stores.upgrade import init_store as init  # noqa: PLC0415 - only `slowwave init` loads it

    return init(where, partitions=partitions)


def _utc_now() -> datetime:
    return datetime.now(UTC)
