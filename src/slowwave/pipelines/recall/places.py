"""Gives the places of a search to several sources: one of low trust cannot fill them with copies of itself."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from slowwave.model.memory import MESSAGE, NOTE, Memory
from slowwave.model.query import Hit
from slowwave.policy.guard.trust import trusted
from slowwave.policy.ranking.places import Claim, allowed_places, fair_order, repeated_places
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import words
from slowwave.ports import Ports

MOST: Final = 2
"""For how many sources that take too many places the memories of the others are searched."""

_QUESTION: Final = lazy_regex(r"[^.!?\n]+\?+\s*")
"""A message of one question."""

Others = Callable[[str], list[Hit]]
"""Searches again without the messages of a conversation."""


def with_fair_places(ports: Ports, hits: list[Hit], places: int, others: Others) -> list[Hit]:
    """The hits, with at most a share of the places for each source that is trusted less than the assistant.

    A source is a conversation, of messages or of the sources of facts. The rest of its hits follow those of others. If it took
    more than its share, the others are searched for, because they may not be among the hits at all.
    """
    sources = _sources(ports, hits)
    taken = Counter(source for source in sources.values() if source is not None)
    if not taken or max(taken.values()) < 2:  # noqa: PLR2004 - one hit of a source is no flood
        return hits
    most = allowed_places(places)
    for source, count in taken.most_common(MOST):
        if count > most and source:
            found = [hit for hit in others(source) if hit.memory.id not in sources]
            hits = sorted([*hits, *found], key=lambda hit: -hit.score)
            sources |= _sources(ports, found)
    floor = ports.config.relevance_floor
    claims = [
        Claim(source=sources[hit.memory.id], words=frozenset(words(hit.text)), competes=hit.relevance >= floor)
        for hit in hits
    ]
    return [hits[place] for place in fair_order(claims)]


def without_repeats(hits: Sequence[Hit], shown: Sequence[Memory] = ()) -> list[Hit]:
    """The hits without messages that have the same words as a better one: of low trust in a conversation, questions in any.

    Args:
        hits: The hits, best first.
        shown: Memories that are shown anyway; their questions count as better ones.
    """
    claims = [
        *(
            Claim(source=_asked_by(memory), words=frozenset(words(memory.visible_text)), competes=False)
            for memory in shown
        ),
        *(Claim(source=_repeated_in(hit.memory), words=frozenset(words(hit.text)), competes=False) for hit in hits),
    ]
    repeated = repeated_places(claims, alike=1.0)
    return [hit for place, hit in enumerate(hits, len(shown)) if place not in repeated]


def _repeated_in(memory: Memory) -> str | None:
    """Within what a message with the same words repeats this one; None if both are shown."""
    if memory.kind != MESSAGE:
        return None
    return _asked_by(memory) or (memory.conversation if _is_limited(memory) else None)


def _asked_by(memory: Memory) -> str | None:
    """Who asked a message that is one question and nothing else; None for any other memory."""
    if memory.kind != MESSAGE or not _QUESTION.fullmatch(memory.visible_text):
        return None
    return f"asked by {memory.role} {memory.speaker or ''}"


def _sources(ports: Ports, hits: Sequence[Hit]) -> dict[str, str | None]:
    """By memory, the conversation that it is from if its trust is limited, "" if it is from none; else None."""
    limited = [hit.memory for hit in hits if _is_limited(hit.memory)]
    ids = {ref.memory for memory in limited if memory.conversation is None for ref in memory.sources[:1]}
    places = {one.id: one.conversation for one in ports.store.get(ports.scopes, sorted(ids))} if ids else {}
    return {hit.memory.id: _conversation(hit.memory, places) if _is_limited(hit.memory) else None for hit in hits}


def _is_limited(memory: Memory) -> bool:
    return memory.kind != NOTE and not trusted(memory.trust, "assistant")


def _conversation(memory: Memory, places: dict[str, str | None]) -> str:
    if memory.conversation is not None:
        return memory.conversation
    return next((places.get(ref.memory) or "" for ref in memory.sources[:1]), "")
