"""Limits how many places of a ranking one source of low trust takes while memories of others compete for them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SHARE: Final = 0.3
"""The share of the places that one source of low trust may take while others compete: 3 of the first 10.

Measured on LoCoMo, imported as files (trust "import", one source per session): evidence among the first 10 as without a limit.
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


def allowed_places(places: int) -> int:
    """How many of the first places one limited source may take while others compete.

    >>> allowed_places(1), allowed_places(10)
    (1, 3)
    """
    return max(1, int(SHARE * places))


def fair_order(claims: Sequence[Claim]) -> tuple[list[int], int]:
    """The places of the claims in a new order, and how many of them, from the first, keep within the limit.

    Among the first n, a limited source has at most `allowed_places(n)`, as long as a hit of another source that competes is
    left. Texts of one limited source that are nearly the same count once: all but the best go to the end. Otherwise the order
    does not change.

    >>> web = Claim(source="web", words=frozenset({"a"}), competes=True)
    >>> fair_order([web, web, Claim(source=None, words=frozenset(), competes=True)])
    ([0, 2, 1], 2)
    """
    repeated = _repeated(claims)
    waiting = [place for place in range(len(claims)) if place not in repeated]
    taken: Counter[str] = Counter()
    order: list[int] = []
    within = True
    fair = 0
    while waiting:
        allowed = allowed_places(len(order) + 1)
        free = (n for n, place in enumerate(waiting) if (source := claims[place].source) is None or taken[source] < allowed)
        first = next(free, None)
        if first and not any(claims[waiting[n]].competes for n in (first, *free)):
            first = None
        within = within and first is not None
        place = waiting.pop(first or 0)
        order.append(place)
        fair += within
        if (source := claims[place].source) is not None:
            taken[source] += 1
    return [*order, *sorted(repeated)], fair


def _repeated(claims: Sequence[Claim]) -> set[int]:
    """The places of claims that nearly repeat a better one of the same limited source."""
    known: dict[str, list[frozenset[str]]] = {}
    repeated: set[int] = set()
    for place, claim in enumerate(claims):
        if claim.source is None:
            continue
        shown = known.setdefault(claim.source, [])
        if any(_alike(claim.words, words) for words in shown):
            repeated.add(place)
        elif len(shown) < COMPARED:
            shown.append(claim.words)
    return repeated


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    union = len(words | others)
    return bool(union) and len(words & others) >= ALIKE * union
