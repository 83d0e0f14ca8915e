"""The ledger of a mind: what its calls cost, and the caps that stop it before it calls."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from slowwave.errors import InputError, ModelError
from slowwave.model.plan import Cost

CHARACTERS_PER_TOKEN: Final = 4
"""What is assumed where a provider counts nothing (English prose; other scripts cost more)."""
_DAY: Final = 86_400.0
_MILLION: Final = 1_000_000


class Ledger:
    """Counts calls, tokens, seconds and money; safe to share between threads.

    Args:
        price: money for a million tokens in and a million tokens out.
        most_calls: how many calls this mind may make in all, or None.
        most_calls_per_day: how many in any 24 hours, or None; counted since this mind was made.
        clock: seconds that never run backwards.
    """

    def __init__(
        self,
        *,
        price: tuple[float, float] = (0.0, 0.0),
        most_calls: int | None = None,
        most_calls_per_day: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, cap in (("most_calls", most_calls), ("most_calls_per_day", most_calls_per_day)):
            if cap is not None and cap < 0:
                raise InputError(f"{name}={cap!r}: use a whole number from 0, or None for no cap")
        self._price, self._clock = price, clock
        self._most, self._most_per_day = most_calls, most_calls_per_day
        self._lock = threading.Lock()
        self._calls = 0
        self._today: deque[float] = deque()
        self._spent = Cost()

    @property
    def spent(self) -> Cost:
        """What all calls have cost so far, those included that failed."""
        with self._lock:
            return self._spent

    def admit(self) -> float:
        """Count one call and return its start; or ModelError if a cap is reached, before anything is sent."""
        with self._lock:
            now = self._clock()
            while self._today and now - self._today[0] >= _DAY:
                self._today.popleft()
            if self._most is not None and self._calls >= self._most:
                raise ModelError(f"the cap of {self._most} model calls is reached; raise most_calls")
            if self._most_per_day is not None and len(self._today) >= self._most_per_day:
                raise ModelError(
                    f"the cap of {self._most_per_day} model calls a day is reached; wait or raise most_calls_per_day"
                )
            self._calls += 1
            if self._most_per_day is not None:
                self._today.append(now)
            return now

    def book(self, started: float, tokens_in: int, tokens_out: int) -> Cost:
        """Write down what one call cost, and return it."""
        money = (tokens_in * self._price[0] + tokens_out * self._price[1]) / _MILLION
        with self._lock:
            cost = Cost(
                calls=1,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                money=money,
                seconds=max(0.0, self._clock() - started),
            )
            self._spent += cost
        return cost


def estimated(text: str) -> int:
    """About how many tokens a text is."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def price_of(model: str, prices: Mapping[str, tuple[float, float]] | None) -> tuple[float, float]:
    """A model's price out of a table {model: (in, out)} for a million tokens each; nothing if it is not listed."""
    return (prices or MappingProxyType({})).get(model, (0.0, 0.0))
