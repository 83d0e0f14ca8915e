"""The state of a whole store, for an operator."""

import slowwave
from slowwave.model.fleet import Fleet
from slowwave.model.pass_record import TRIES
from slowwave.ports import Ports

DEAD_MAX = 10_000
"""Dead letters that are read."""


def fleet(ports: Ports) -> Fleet:
    """Workers, backlog, dead letters, pending proofs, and the connections and indexes of this process."""
    store, now = ports.store, ports.now()
    backlog = store.backlog(now)
    oldest = 0.0 if backlog.oldest is None else max(0.0, (now - backlog.oldest).total_seconds())
    hour, day = store.model_use(now)
    return Fleet(
        store=store.name,
        version=slowwave.__version__,
        schema=store.schema_state(),
        scopes=store.scope_count(),
        due=backlog.due,
        oldest_due_seconds=oldest,
        workers=tuple(store.running_workers()),
        dead={scope: record for scope, record in store.failing_passes(TRIES, DEAD_MAX) if record.dead},
        pending_proofs=tuple(store.pending_proofs()),
        model_hour=hour,
        model_day=day,
        paused_models=store.model_pauses(now),
        gauges=store.gauges(),
    )


def ready(ports: Ports) -> list[str]:
    """Why this process cannot serve requests, as sentences; empty if it can. It reads one row of the store.

    Raises:
        StoreError: the store cannot be reached.
    """
    state = ports.store.schema_state()
    if state.version < state.wanted:
        return [f"{state.store} has schema {state.version} of {state.wanted}: run `migrate` as its owner"]
    return []
