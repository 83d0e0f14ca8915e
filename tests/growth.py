"""How the time of the processor grows with the length of a text."""

from collections.abc import Callable
from math import inf
from time import process_time

LEAST = 0.005
"""Seconds. A function that takes less for the short text is measured as if it took this."""
_TRIES = 8


def growth(read: Callable[[str], object], text: Callable[[int], str], lengths: tuple[int, int], most: float) -> float:
    """By how much the time grows from a short text to a long one: the ratio of the least times of at least two tries.

    Other programs only add to a time, so that the least one is the nearest to that of the function. Results may be cached: each
    try has texts of its own, one character longer than those before.

    Args:
        read: the function.
        text: gives a text of a length.
        lengths: of the short text and of the long one.
        most: what the test admits; further tries follow only while the ratio is greater.
    """

    def seconds(length: int) -> float:
        made = text(length)
        begun = process_time()
        read(made)
        return process_time() - begun

    seconds(lengths[0] // 8)  # compiles patterns and loads tables
    short = long = inf
    for once in range(_TRIES):
        short = min(short, seconds(lengths[0] + once))
        long = min(long, seconds(lengths[1] + once))
        if once and long <= most * max(LEAST, short):
            break
    return long / max(LEAST, short)
