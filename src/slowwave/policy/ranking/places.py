"""Limits how many places of a ranking one source of low trust takes while memories of others compete for them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

OF_TRUSTED: Final = 0.3
"""The share of the places that a source of low trust may take while memories of the user or the assistant compete."""
OF_OTHERS: Final = 0.5
"""The share that it may take while other sources of low trust compete.

Measured on LoCoMo with every session as a tool's conversation: 83.9 % of the evidence among the first 10, 84.3 % without a
limit; with a share of 0.3 81.0 %.
"""
ALIKE: Final = 0.6
"""The share of their words that two texts of one source have in common if they count once (Jaccard index)."""
COMPARED: Final = 40
"""With how many texts of its source, the best ones, a text is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a hit claims a place with.

    Attributes:
        source: the source that is limited; None for hits that are not.
        words: the words of its text.
        competes: whether it is relevant enough to displace a hit of a limited source.
    """

    source: str | None
    words: frozenset[str]
    competes: bool


def allowed_places(places: int, *, share: float = OF_TRUSTED) -> int:
    """How many of the first places a limited source may take; at least one.

    >>> allowed_places(1), allowed_places(10), allowed_places(10, share=OF_OTHERS)
    (1, 3, 5)
    """
    return max(1, ceil(share * places) if share >= OF_OTHERS else int(share * places))


def fair_order(claims: Sequence[Claim]) -> list[int]:
    """The places of the claims in a new order. Otherwise than follows, the order does not change.

    Among the first n, a limited source has at most its share, as long as a hit that competes with it is left. Texts of one
    limited source that are nearly the same count once: all but the best go to the end.

    >>> web = Claim(source="web", words=frozenset({"a"}), competes=True)
    >>> other = Claim(source="web", words=frozenset({"b"}), competes=True)
    >>> fair_order([web, other, web, Claim(source=None, words=frozenset(), competes=True)])
    [0, 3, 1, 2]
    """
    repeated = repeated_places(claims)
    waiting = [place for place in range(len(claims)) if place not in repeated]
    competing = Counter(claims[place].source for place in waiting if claims[place].competes)
    taken: Counter[str | None] = Counter()
    order: list[int] = []
    while waiting:
        n = len(order) + 1
        full = {
            source for source, count in taken.items() if source is not None and _is_full(source, count, n, competing)
        }
        place = next((place for place in waiting if claims[place].source not in full), waiting[0])
        waiting.remove(place)
        order.append(place)
        taken[claims[place].source] += 1
        competing[claims[place].source] -= claims[place].competes
    return [*order, *sorted(repeated)]


def _is_full(source: str, taken: int, places: int, competing: Counter[str | None]) -> bool:
    """Whether a limited source has its share of so many places, and hits that compete with it are left."""
    if taken >= allowed_places(places) and competing[None]:
        return True
    return taken >= allowed_places(places, share=OF_OTHERS) and competing.total() > competing[source]


def repeated_places(claims: Sequence[Claim], alike: float = ALIKE) -> set[int]:
    """The places of claims that repeat a better one of the same limited source, by the share of words in common."""
    known: dict[str, list[frozenset[str]]] = {}
    repeated: set[int] = set()
    for place, claim in enumerate(claims):
        if claim.source is None:
            continue
        shown = known.setdefault(claim.source, [])
        if any(_alike(claim.words, words, alike) for words in shown):
            repeated.add(place)
        elif len(shown) < COMPARED:
            shown.append(claim.words)
    return repeated


def _alike(words: frozenset[str], others: frozenset[str], share: float) -> bool:
    union = len(words | others)
    return bool(union) and len(words & others) >= share * union
