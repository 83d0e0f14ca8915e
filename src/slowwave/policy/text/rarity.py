"""How rare a stem is among the texts of a scope: its inverse document frequency, one formula for every part of the search."""

import math


def rarity(documents: float, known: float) -> float:
    """The information of a stem in nats, as BM25 computes it: ln(1 + (documents - known + 0.5) / (known + 0.5)).

    Args:
        documents: How many texts there are.
        known: How many of them have the stem.

    >>> round(rarity(100, 1), 2), round(rarity(100, 100), 3)
    (4.21, 0.005)
    """
    return math.log1p((documents - known + 0.5) / (known + 0.5))
