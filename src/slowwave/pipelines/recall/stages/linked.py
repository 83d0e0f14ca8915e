"""Raises facts that were used together with the first hits, and shows what may contradict or replace them beside them."""

from dataclasses import replace
from typing import Final

from slowwave.model.memory import FACT_KINDS, MESSAGE, Memory
from slowwave.model.query import Hit
from slowwave.model.status import LinkRow
from slowwave.pipelines.recall.asked import Asked
from slowwave.policy.comparison.values import asks_for_present

FIRST: Final = 3
"""Of how many of the first hits the links are followed. Those of later hits took the places of better ones."""
ASSOCIATED: Final = 0.1
"""What the strongest link to one of the first hits adds to a score; the text adds up to 1."""
CONFLICT, CHANGED = "conflict?", "value changed?"


def linked(asked: Asked, hits: list[Hit]) -> list[Hit]:
    """Follow the links of the first facts: raise what was used with them, and put what contradicts them beside them."""
    firsts = {hit.memory.id: place for place, hit in enumerate(hits[:FIRST]) if hit.memory.kind in FACT_KINDS}
    if not firsts or asked.known is not None:
        return hits
    links = asked.ports.store.links(asked.ports.scope, list(firsts), ["association", CONFLICT, CHANGED])
    if any(link.kind == "association" for link in links):
        hits = _raised(asked, hits, links)
    for link in links:
        if link.kind != "association":
            hits = _beside(asked, hits, link)
    return hits


def _raised(asked: Asked, hits: list[Hit], links: list[LinkRow]) -> list[Hit]:
    """The hits with a higher score, part "associated", for the facts that were used together with a better hit."""
    from slowwave.policy.ranking.association import effective_weight  # noqa: PLC0415 - most questions do without

    places = {hit.memory.id: place for place, hit in enumerate(hits) if hit.memory.kind != MESSAGE}
    pulls: dict[str, float] = {}
    for link in links:
        if link.kind == "association" and link.source in places and link.target in places:
            below = max(link.source, link.target, key=places.__getitem__)
            pulls[below] = max(pulls.get(below, 0.0), effective_weight(link.weight, link.at, asked.query.now))
    raised = [
        replace(hit, score=hit.score + more, parts={**hit.parts, "associated": more})
        if (more := ASSOCIATED * pulls.get(hit.memory.id, 0.0))
        else hit
        for hit in hits
    ]
    return sorted(raised, key=lambda hit: -hit.score)  # sorting is stable


def _beside(asked: Asked, hits: list[Hit], link: LinkRow) -> list[Hit]:
    """The hits with both ends of a link beside each other, if one of them is among the first.

    A contradiction is shown below, also if it was not ranked. Of two values, for a question for the present, the newer comes
    first, also if it was not ranked, and the older is marked: perhaps they are of the same thing.
    """
    places = {hit.memory.id: place for place, hit in enumerate(hits)}
    near = min((end for end in (link.source, link.target) if end in places), key=places.__getitem__, default=None)
    if near is None or places[near] >= FIRST:
        return hits
    other, place, one = link.other(near), places[near], hits[places[near]]
    if link.kind == CONFLICT:
        memory = hits[places[other]].memory if other in places else _shown(asked, other)
        if memory is None:
            return hits
        beside = replace(one, memory=memory, parts={}, sources=memory.sources, stale=memory.outdated)
        beside = replace(beside, because=f"may contradict {one.text!r}", deep=not memory.is_searchable)
        rest = [hit for hit in hits[place + 1 :] if hit.memory.id != other]
        return [*hits[: place + 1], beside, *rest]
    if not asks_for_present(asked.query.text):
        return hits
    if other in places:
        newer, older = one, hits[places[other]]
    else:  # a newer value whose words are far from the question
        memory = _shown(asked, other)
        if memory is None or memory.at <= one.memory.at:
            return hits
        newer, older = one, replace(one, memory=memory, parts={}, sources=memory.sources, stale=False)
    if older.memory.at > newer.memory.at:
        newer, older = older, newer
    because = f"perhaps outdated: a later fact says {newer.text!r}"
    older = older if older.stale else replace(older, stale=True, perhaps=True, because=because)
    rest = [hit for hit in hits if hit.memory.id not in (near, other)]
    return [*rest[:place], newer, older, *rest[place:]]


def _shown(asked: Asked, identity: str) -> Memory | None:
    """A memory that was not ranked, if the request may show it."""
    request, scopes = asked.request, asked.ports.scopes
    memory = next(iter(asked.ports.store.get(scopes, [identity])), None)
    if (
        memory is None
        or not (memory.is_searchable or (request.deep and not memory.is_withheld))
        or (request.kinds is not None and memory.kind not in request.kinds)
        or (request.categories is not None and memory.category not in request.categories)
        or request.conversation is not None
        or (asked.query.allowed is not None and memory.id not in asked.query.allowed)
        or (request.since is not None and memory.at < request.since)
        or (request.until is not None and memory.at > request.until)
    ):
        return None
    return memory
