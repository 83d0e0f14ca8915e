"""Gives the places of a search to several sources: one that is trusted less than the assistant takes at most a third."""

from collections import Counter
from dataclasses import replace
from typing import Final

from slowwave.model.codec import content_key
from slowwave.model.memory import NOTE, Memory
from slowwave.model.query import Hit
from slowwave.pipelines.recall.asked import Asked
from slowwave.pipelines.recall.stages.related import is_related

SHARE: Final = 1 / 3
"""The share of the places that one source of low trust may take while related memories of others are left."""
TRUSTED: Final = frozenset({"user", "assistant"})


def fair(asked: Asked, hits: list[Hit]) -> list[Hit]:
    """Move the hits of one source of low trust down as long as it has its share, and leave out its repetitions.

    A source is a conversation. If it fills the ranking, the memories of others are ranked as well.
    """
    if asked.request.conversation is not None or all(hit.memory.trust in TRUSTED for hit in hits):
        return hits
    sources = _sources(asked, hits)
    taken = Counter(source for source in sources.values() if source)
    source, count = max(taken.items(), key=lambda pair: pair[1], default=("", 0))
    if count > asked.request.top_k * SHARE and asked.query.except_conversation is None:
        others = asked.rank(replace(asked.query, except_conversation=source))
        others = [hit for hit in others if hit.memory.id not in sources]
        sources |= _sources(asked, others)
        hits = sorted([*hits, *others], key=lambda hit: -hit.score)
    return _ordered(asked, hits, sources)


def _ordered(asked: Asked, hits: list[Hit], sources: dict[str, str | None]) -> list[Hit]:
    """The hits in their order, but that a limited source waits while it has its share and a related hit of another is left."""
    seen: set[tuple[str, str]] = set()
    waiting: list[Hit] = []
    for hit in hits:
        if (source := sources[hit.memory.id]) is not None:
            if (said := (source, content_key(hit.text))) in seen:
                continue
            seen.add(said)
        waiting.append(hit)
    competing = Counter(sources[hit.memory.id] for hit in waiting if is_related(asked, hit))
    taken: Counter[str | None] = Counter()
    order: list[Hit] = []
    while waiting:
        most = max(1, int(SHARE * (len(order) + 1)))
        full = {
            source
            for source, count in taken.items()
            if source is not None and count >= most and competing.total() > competing[source]
        }
        hit = next((hit for hit in waiting if sources[hit.memory.id] not in full), waiting[0])
        waiting.remove(hit)
        order.append(hit)
        source = sources[hit.memory.id]
        taken[source] += 1
        competing[source] -= is_related(asked, hit)
    return order


def _sources(asked: Asked, hits: list[Hit]) -> dict[str, str | None]:
    """By memory, the conversation that it is from if its trust is limited, "" if it is from none; else None."""
    limited = [hit.memory for hit in hits if _is_limited(hit.memory)]
    ids = {ref.memory for memory in limited if memory.conversation is None for ref in memory.sources[:1]}
    places = {one.id: one.conversation for one in asked.ports.store.get(asked.ports.scopes, sorted(ids))} if ids else {}
    found: dict[str, str | None] = {hit.memory.id: None for hit in hits}
    for memory in limited:
        first = next((places.get(ref.memory) for ref in memory.sources[:1]), None)
        found[memory.id] = memory.conversation or first or ""
    return found


def _is_limited(memory: Memory) -> bool:
    return memory.trust not in TRUSTED and memory.kind != NOTE
