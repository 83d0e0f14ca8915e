"""Retries of calls with transient failures, within a time limit."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from slowwave.log import Log
from slowwave.transport.failures import TransientError, TransportError

FIRST_PAUSE: Final = 0.5  # seconds; doubled each time
LONGEST_PAUSE: Final = 20.0

_log: Final = Log("transport")

T = TypeVar("T")

_on_limit: ContextVar[Callable[[float], None] | None] = ContextVar("slowwave_on_limit", default=None)


@contextmanager
def telling_limits(tell: Callable[[float], None]) -> Iterator[None]:
    """Within the block, call `tell` with the length of each pause, in seconds, that follows because a server limits calls."""
    token = _on_limit.set(tell)
    try:
        yield
    finally:
        _on_limit.reset(token)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """A retry policy with exponential pauses.

    Args:
        budget: seconds for all tries and pauses together.
        tries: how many tries at most.
        sleep: pauses for a number of seconds.
        clock: monotonic time in seconds.
        chance: returns a random number from 0 to 1, so that many clients do not retry at the same time.
    """

    budget: float = 180.0
    tries: int = 4
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    def run(self, call: Callable[[float], T]) -> T:
        """Call until it succeeds. The argument of the call is the number of seconds that remain of the budget.

        Raises:
            TransportError: no retry would help, or the tries or the budget are used up. `sent` is False if no try sent
                a request.
        """
        end = self.clock() + self.budget
        pause, sent = FIRST_PAUSE, False
        for tries in range(1, self.tries + 1):
            try:
                return call(end - self.clock())
            except TransientError as error:
                sent = sent or error.sent
                wait = pause * (0.5 + 0.5 * self.chance()) if error.after is None else error.after
                if error.limited is not None and (tell := _on_limit.get()) is not None:
                    tell(wait)
                if tries == self.tries:
                    _log.warning("%s: given up after %d tries", error.cause, tries)
                    raise TransportError(f"{error} (tried {tries} times)", sent=sent, limited=error.limited) from None
                if self.clock() + wait >= end:
                    why = f"{wait:.0f} s more are past the limit of {self.budget:g} s"
                    _log.warning("%s: given up after %d tries and %g s", error.cause, tries, self.budget)
                    raise TransportError(
                        f"{error} (no further retry: {why})", sent=sent, limited=error.limited
                    ) from None
                _log.info("%s: try %d of %d failed, the next one in %.1f s", error.cause, tries, self.tries, wait)
                self.sleep(wait)
                pause = min(2 * pause, LONGEST_PAUSE)
        raise AssertionError("the last try returns or raises")


def retry_delay(header: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, which is a number or an HTTP date; None if it is neither.

    >>> retry_delay("7", datetime(2026, 3, 1, tzinfo=UTC))
    7.0
    >>> retry_delay("Sun, 01 Mar 2026 00:01:00 GMT", datetime(2026, 3, 1, tzinfo=UTC))
    60.0
    """
    if not header:
        return None
    try:
        return max(0.0, float(header)) if header.strip().replace(".", "", 1).isdigit() else _until(header, now)
    except ValueError:
        return None


def _until(date: str, now: datetime) -> float:
    at = parsedate_to_datetime(date)
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds())
