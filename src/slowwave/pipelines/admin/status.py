"""Status: the numbers of a scope."""

from slowwave.model.memory import FACT_KINDS, HOT, UNRECONCILED
from slowwave.model.plan import FREE
from slowwave.model.query import Where
from slowwave.model.status import Status
from slowwave.model.zone import local
from slowwave.pipelines.ingest.chunks import unreadable_messages
from slowwave.pipelines.ingest.reembed import without_vector
from slowwave.pipelines.recall.core_memory import core_facts, core_line
from slowwave.policy.retention.policies import fingerprint
from slowwave.ports import Ports

IDENTITY = "identity"
"""The category of facts about who the user is."""


def status(ports: Ports) -> Status:
    """Counts, what waits and what is due, the mind, and the cost of its calls so far."""
    store, scope = ports.store, ports.scope
    conversations = [found for found in store.conversations(scope) if found.name]
    embedder = ports.embedder.name if ports.embedder else None
    slept, record = store.runs(scope, 1, "sleep"), store.pass_record(scope)
    last_sleep = max((at for at in (record.ended, slept[0].at if slept else None) if at), default=None)
    core = [core_line(fact).item for fact in core_facts(ports)]
    return Status(
        scope=scope,
        store=store.name,
        counts=store.count(scope),
        waiting=len(
            store.select((scope,), Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), flag=UNRECONCILED))
        ),
        due=store.due(scope, ports.now()),
        unread=sum(store.unread(scope).values()) + len(unreadable_messages(ports)),
        conversations=len(conversations),
        embedder=embedder,
        unembedded=len(without_vector(ports)),
        mind=ports.mind.name,
        last_sleep=last_sleep and local(last_sleep, ports.zone),
        cost=sum(store.costs(scope).values(), FREE),
        policy=fingerprint(ports.config),
        unproved=sum(proof.scope == scope for proof in store.pending_proofs()),
        identity_tokens=sum(item.tokens for item in core if item.memory and item.memory.category == IDENTITY),
        core_tokens=sum(item.tokens for item in core),
        passes=record,
    )
