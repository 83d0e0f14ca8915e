"""One hop: facts that are used together with what a search found move up a little."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slowwave.model.memory import FACT_KINDS, MESSAGE
from slowwave.model.query import Query, Ranked
from slowwave.ports import Ports

ASSOCIATED: Final = 0.1
"""What the strongest join to a fact among the first hits adds to a score; the words alone are worth up to 1."""
FIRST: Final = 3
"""How many of the first hits pull their associates, each those below it."""


def with_associates(ports: Ports, query: Query, ranked: Sequence[Ranked]) -> list[Ranked]:
    """The places again, where facts joined with the first of them have earned more: part "associated".

    Nothing changes where no use was recorded. Only facts that rank alone can rise or come in: those of a search for
    facts, and those that rest on no message. What is searched, and who may be found, is what `query` says.
    """
    now = query.now
    seeds = {identity: place for place, one in enumerate(ranked[:FIRST]) for identity in (one.id, *one.facts)}
    pulls: dict[str, float] = {}
    links = ports.store.links(ports.scope, list(seeds), ["association"])
    if not links:
        return list(ranked)
    # where nothing was used there are no curves to load
    from slowwave.policy.ranking.association import effective_weight  # noqa: PLC0415

    for link in links:
        above, below = sorted((link.source, link.target), key=lambda end: seeds.get(end, FIRST))
        weight = effective_weight(link.weight, link.at, now) if seeds[above] < seeds.get(below, FIRST) else 0.0
        if weight:
            pulls[below] = max(pulls.get(below, 0.0), weight)
    if not pulls:
        return list(ranked)
    near = frozenset(
        memory.id
        for memory in ports.store.get((ports.scope,), pulls)
        if memory.kind in FACT_KINDS
        and (memory.is_searchable or query.deep)
        and (not memory.sources or (query.kinds is not None and MESSAGE not in query.kinds))
        and (query.allowed is None or memory.id in query.allowed)
    )
    found = ports.store.search((ports.scope,), replace(query, allowed=near, top_k=max(1, len(near)))) if near else []
    raised = [
        replace(one, score=one.score + more, parts={**one.parts, "associated": more})
        for one in found
        if one.id in near and (more := ASSOCIATED * pulls[one.id])
    ]
    places = {one.id: one for one in (*ranked, *raised)}
    return sorted(places.values(), key=lambda one: -one.score)[: query.top_k]
