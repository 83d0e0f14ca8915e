"""Raises facts in a ranking that were used together with the first hits."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slowwave.model.memory import FACT_KINDS, MESSAGE
from slowwave.model.query import Query, Ranked
from slowwave.ports import Ports

ASSOCIATED: Final = 0.1
"""What the strongest link to one of the first hits adds to a score; the text adds up to 1."""
FIRST: Final = 3
"""How many of the first hits raise linked facts; each raises those below it."""


def with_associates(ports: Ports, query: Query, ranked: Sequence[Ranked]) -> list[Ranked]:
    """The ranking with a higher score, part "associated", for facts that are linked with the first hits.

    Without recorded uses nothing changes. Only facts that are ranked by themselves can rise or be added: those of a
    search for facts, and those without a source message. The filters of `query` hold for them too.
    """
    now = query.now
    seeds = {identity: place for place, row in enumerate(ranked[:FIRST]) for identity in (row.id, *row.facts)}
    pulls: dict[str, float] = {}
    links = ports.store.links(ports.scope, list(seeds), ["association"])
    if not links:
        return list(ranked)
    # not loaded if there are no links
    from slowwave.policy.ranking.association import effective_weight  # noqa: PLC0415

    for link in links:
        places = [seeds.get(end, FIRST) for end in (link.source, link.target)]
        below = link.target if places[0] < places[1] else link.source
        weight = effective_weight(link.weight, link.at, now) if places[0] != places[1] else 0.0
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
        replace(row, score=row.score + more, parts={**row.parts, "associated": more})
        for row in found
        if row.id in near and (more := ASSOCIATED * pulls[row.id])
    ]
    rows = {row.id: row for row in (*ranked, *raised)}
    return sorted(rows.values(), key=lambda row: -row.score)[: query.top_k]
