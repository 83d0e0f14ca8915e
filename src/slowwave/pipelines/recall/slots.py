"""Raises the hits that state what an elementary question asks for, the newest first, and marks the older ones."""

from dataclasses import replace
from typing import Final

from slowwave.model.memory import FACT_KINDS, MESSAGE
from slowwave.model.query import Hit
from slowwave.policy.ranking.slots import Slot, SlotStatement, outdated_because, statement
from slowwave.policy.text.foreign.own_text import own_text

RAISED: Final = 5
"""The most hits that are raised."""
RELEVANCE: Final = 0.8
"""The least relevance of the newest statement of the slot, and of all that hold: they answer by their form, whatever their words."""


def stated_first(slot: Slot, hits: list[Hit], more: list[Hit]) -> list[Hit]:
    """The hits, with the statements of a slot above all others, the newest first. What is known to be outdated is not raised.

    Args:
        slot: What the question asks for.
        hits: The hits of the question, best first.
        more: Hits of the words of such statements; of these only statements are added.
    """
    known = {hit.memory.id for hit in hits}
    stating = [
        (hit, found)
        for hit in (*hits, *(hit for hit in more if hit.memory.id not in known))
        if (not hit.stale or hit.perhaps) and (found := _stated(slot, hit)) is not None
    ]
    if not stating:
        return hits
    stating.sort(key=lambda pair: pair[0].memory.at, reverse=True)
    raised: list[Hit] = []
    newer: list[SlotStatement] = []
    for hit, found in stating[:RAISED]:
        because = "" if hit.stale or slot.is_list else outdated_because(newer, found)
        if because:
            raised.append(replace(hit, stale=True, because=because, perhaps=True))
        elif slot.is_list or not raised:
            raised.append(replace(hit, relevance=max(hit.relevance, RELEVANCE)))
        else:
            raised.append(hit)
        newer.append(found)
    first = {hit.memory.id for hit in raised}
    return [*raised, *(hit for hit in hits if hit.memory.id not in first)]


def _stated(slot: Slot, hit: Hit) -> SlotStatement | None:
    """What the memory of a hit states of the slot, or a fact that is shown with it. A role play or a story states nothing."""
    memory = hit.memory
    if memory.is_cascade or (memory.kind == MESSAGE and memory.role == "assistant" and memory.speaker is None):
        return None
    speaker = (memory.speaker or "").casefold().split()
    if slot.holder.startswith("my "):
        by_holder = False
    elif slot.holder:
        by_holder = slot.holder in speaker
    else:
        by_holder = memory.role == "user" or memory.kind in FACT_KINDS
    found = statement(slot, hit.text, by_holder=by_holder)
    if found is not None and memory.kind == MESSAGE:
        found = statement(slot, own_text(hit.text), by_holder=by_holder)
    if found is None and memory.kind == MESSAGE:
        facts = (statement(slot, fact.text, by_holder=False) for fact in hit.facts)
        found = next((one for one in facts if one is not None), None)
    return found
