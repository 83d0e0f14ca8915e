"""Puts the newer of two values of one quantity above the older one, and marks the older one."""

from dataclasses import replace
from typing import Final

from slowwave.model.memory import Memory
from slowwave.model.query import Hit
from slowwave.pipelines.rarity import rarity_in_scope
from slowwave.pipelines.recall.asked import Asked
from slowwave.policy.comparison.values import (
    asks_for_present,
    asks_for_value,
    newest_above_outdated,
    older_value_hits,
)

LOOKED_AT: Final = 20
"""How many hits are compared."""


def newest(asked: Asked, hits: list[Hit]) -> list[Hit]:
    """If two hits give different values of what the question asks for, mark the older and put the newer directly above it.

    A question for the past ("when did", "before", "how did it change") keeps the order of the ranking.
    """
    question = asked.query.text
    if not asks_for_value(question):
        return hits
    places = [place for place, hit in enumerate(hits[:LOOKED_AT]) if _gives_values(hit.memory)]
    statements = [(hits[n].text, hits[n].memory.at) for n in places]
    found = older_value_hits(question, statements, rarity_in_scope(asked.ports))
    pairs = [replace(pair, newer=places[pair.newer], older=places[pair.older]) for pair in found]
    for pair in pairs:
        if pair.stale and not hits[pair.older].stale:
            marked = replace(hits[pair.older], stale=True, because=pair.because, perhaps=not pair.certain)
            hits = [*hits[: pair.older], marked, *hits[pair.older + 1 :]]
    return [hits[place] for place in newest_above_outdated(len(hits), pairs)] if asks_for_present(question) else hits


def _gives_values(memory: Memory) -> bool:
    """Whether its text may be an older or a newer value: not that of an assistant, nor the summary of a long stretch."""
    return memory.span is None and not (memory.role == "assistant" and memory.speaker is None)
