"""Injects a failure at a named point: pass it to a store as `reached`."""

import os
import signal
from collections import Counter


class Injected(Exception):  # noqa: N818  # represents any failure
    """The failure that a failpoint raises."""


class Failpoint:
    """Raises, or kills the process, when a point is reached for the nth time. Counts how often each point is reached.

    >>> failpoint = Failpoint("apply.journal", at=2)
    >>> failpoint("apply.journal")
    >>> failpoint("apply.journal")
    Traceback (most recent call last):
    slowwave.testing.failpoint.Injected: apply.journal

    Args:
        name: the point; None only counts.
        at: the number of the failing pass, from 1.
        kill: kill the process, as a power cut would, instead of raising.
    """

    def __init__(self, name: str | None = None, *, at: int = 1, kill: bool = False) -> None:
        self.name = name
        self.at = at
        self.kill = kill
        self.passed: Counter[str] = Counter()

    def __call__(self, name: str) -> None:
        """Record that a point is reached, and fail if it is the configured one."""
        self.passed[name] += 1
        if name == self.name and self.passed[name] == self.at:
            if self.kill:
                os.kill(os.getpid(), signal.SIGKILL)
            raise Injected(name)
