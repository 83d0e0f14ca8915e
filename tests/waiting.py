"""Waits for what other threads and processes do, as long as a busy machine may need for it."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONGEST = 120.0
"""Seconds after which a wait has failed the test. Only what never happens takes so long."""
_PAUSE = 0.02


def until(condition: Callable[[], T]) -> T:
    """Wait until a condition holds. Returns its value."""
    ends = time.monotonic() + LONGEST
    while not (value := condition()):
        assert time.monotonic() < ends, f"waited for {LONGEST:g} seconds"
        time.sleep(_PAUSE)
    return value
