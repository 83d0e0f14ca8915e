"""Puts what replaced a fact above the message of that fact, and marks the message: "I live in Ghent" after "I moved to Antwerp"."""

from dataclasses import replace
from typing import Final

from slowwave.model.memory import FACT_KINDS, MESSAGE, Memory
from slowwave.model.query import Hit
from slowwave.pipelines.recall.asked import Asked
from slowwave.policy.comparison.values import asks_for_present

LOOKED_AT: Final = 10
"""How many of the first hits, and how many former facts, are compared."""


def replaced(asked: Asked, hits: list[Hit]) -> list[Hit]:
    """Mark the messages whose fact was superseded, and move the hit of what superseded it directly above them.

    A former fact that the question finds is the reason why its message is found too. A search of the past or of everything keeps
    its order; so does a search that finds no fact.
    """
    first = hits[:LOOKED_AT]
    if asked.request.deep or asked.request.is_of_the_past or not asks_for_present(asked.query.text):
        return hits
    if not any(hit.memory.kind in FACT_KINDS for hit in first) or all(hit.memory.kind != MESSAGE for hit in first):
        return hits
    former = asked.rank(replace(asked.query, deep=True, kinds=frozenset(FACT_KINDS), top_k=LOOKED_AT))
    for one in (hit.memory for hit in former):
        if one.superseded_by is not None and len(one.sources) == 1:
            hits = _below(hits, one)
    return hits


def _below(hits: list[Hit], fact: Memory) -> list[Hit]:
    """The hits with the message of a superseded fact marked, and below the hit of what superseded it."""
    places = {hit.memory.id: place for place, hit in enumerate(hits)}
    older, newer = places.get(fact.sources[0].memory), places.get(fact.superseded_by or "")
    if older is None or newer is None or hits[older].stale:
        return hits
    by = hits[newer]
    spoken = next((place for ref in by.memory.sources[:1] if (place := places.get(ref.memory)) is not None), newer)
    because = f"a later statement replaced what this one says: {by.text!r}"
    marked = replace(hits[older], stale=True, because=because)
    above = [hits[place] for place in sorted({newer, spoken}) if place > older]
    rest = [hit for place, hit in enumerate(hits) if place != older and hit not in above]
    at = sum(1 for place, hit in enumerate(hits[:older]) if hit not in above)
    return [*rest[:at], *above, marked, *rest[at:]]
