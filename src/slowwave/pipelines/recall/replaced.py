"""Marks the hits whose facts have all been replaced: a message is outdated as the facts that were taken from it are."""

from collections.abc import Mapping, Sequence
from typing import Final

from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.query import Hit
from slowwave.policy.comparison.values import PERHAPS, ValuePair
from slowwave.policy.text.tokens import content_terms, words
from slowwave.ports import Ports

STEPS: Final = 5
"""How many replacements of replacements are followed."""
MORE: Final = 2
"""A message with more than this many times the words of its facts says more than they do: it is outdated only perhaps."""


def replaced_hits(
    ports: Ports, question: str, hits: Sequence[Hit], facts: Mapping[str, Sequence[str]]
) -> list[ValuePair]:
    """Pairs of an outdated message and the hit that replaces it; `newer` is the message itself if that is not among the hits.

    A message that says more than its facts is left out if the question asks for something else in it.

    Args:
        ports: the store.
        question: the question.
        hits: the hits, best first.
        facts: for each message, the ids of the facts that rest on it, if all of them are outdated.
    """
    found = {one.id: one for one in ports.store.get(ports.scopes, {i for ids in facts.values() for i in ids})}
    asked = content_terms(question)
    pairs = []
    for place, hit in enumerate(hits):
        resting = [found[i] for i in facts.get(hit.memory.id, ()) if i in found]
        if hit.memory.kind != MESSAGE or not resting or not all(fact.superseded_by for fact in resting):
            continue
        successor = _successor(ports, resting[0])
        if successor is None or hit.memory.id in (sources := {source.memory for source in successor.sources}):
            continue
        said = sum(len(words(fact.text)) for fact in resting)
        certain = len(words(hit.text)) <= MORE * said
        if (
            not certain
            and asked & content_terms(hit.text)
            and not any(asked & content_terms(fact.text) for fact in resting)
        ):
            continue
        newer = (n for n, other in enumerate(hits) if other.memory.id in sources or other.memory.id == successor.id)
        pairs.append(
            ValuePair(
                newer=next(newer, place),
                older=place,
                new_value=successor.text,
                old_value=resting[0].text,
                stale=True,
                because=f"A later statement replaced what this one says: “{successor.text}”"
                if certain
                else f"{PERHAPS}: a later statement replaced a part of what this one says: “{successor.text}”",
                certain=certain,
            )
        )
    return pairs


def _successor(ports: Ports, fact: Memory) -> Memory | None:
    """What replaced a fact, and what replaced that; None if the last one was retracted or is gone."""
    last: Memory | None = fact
    for _ in range(STEPS):
        if last is None or last.superseded_by is None:
            break
        last = next(iter(ports.store.get(ports.scopes, [last.superseded_by])), None)
    return None if last is None or last.outdated or last.id == fact.id else last
