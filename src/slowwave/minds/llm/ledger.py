"""The ledger of a mind: what its calls cost, and the caps that stop it before it calls."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Final, TypeVar

from slowwave import forks
from slowwave.errors import InputError, ModelError
from slowwave.model.plan import FREE, Cost

CHARACTERS_PER_TOKEN: Final = 4
"""What is assumed where a provider counts nothing (English prose; other scripts cost more)."""
_MILLION: Final = 1_000_000

Failure = TypeVar("Failure", bound=ModelError)
Prices = Mapping[str, tuple[float, float]]
"""{model: (in, out)}: money for a million tokens each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much a mind may be asked; None caps nothing. A cap that is reached stops the next call; the work waits.

    Args:
        calls_per_run: calls of one run (one `consolidate`, one `sleep`, one `add`), retries included.
        calls_per_day: calls of all runs of a scope since midnight UTC.
        money_per_day: money of all runs of a scope since midnight UTC, by the price table; the call that passes it
            is the last.

    Raises:
        InputError: for a cap below 0.
    """

    calls_per_run: int | None = None
    calls_per_day: int | None = None
    money_per_day: float | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            cap = getattr(self, one.name)
            if cap is not None and not cap >= 0:
                raise InputError(f"{one.name}={cap!r}: use a number from 0, or None for no cap")


class Ledger:
    """Counts the calls, tokens, seconds and money of one run; safe to share between threads.

    Args:
        price: money for a million tokens in and a million tokens out.
        caps: what stops it.
        today: what all runs since midnight have cost, as their journal says; asked only if a day has a cap.
        clock: seconds that never run backwards.
    """

    def __init__(
        self,
        *,
        price: tuple[float, float] = (0.0, 0.0),
        caps: Caps = Caps(),  # noqa: B008 - frozen
        today: Callable[[], Cost] = lambda: FREE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._price, self._caps, self._clock = price, caps, clock
        self._lock = threading.Lock()
        self._calls = 0
        self._spent = FREE
        self._today = today
        self._daily = caps.calls_per_day is not None or caps.money_per_day is not None
        self._before = today() if self._daily else FREE
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: a lock that no thread of the parent holds."""
        self._lock = threading.Lock()

    @property
    def spent(self) -> Cost:
        """What all calls have cost so far, those included that failed."""
        with self._lock:
            return self._spent

    def admit(self) -> float:
        """Count one call and return its start; or ModelError if a cap is reached, before anything is sent."""
        today = self._today() if self._daily else FREE
        with self._lock:
            if problem := self._problem(today):
                raise free(ModelError(problem))
            self._calls += 1
            return self._clock()

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

    def waive(self) -> None:
        """A call that was admitted never left this machine: it is not counted."""
        with self._lock:
            self._calls -= 1

    def _problem(self, today: Cost) -> str | None:
        """Which cap is reached. A run is journaled piece by piece: what it cost may stand in `today` already, or not yet."""
        caps = self._caps
        calls = max(today.calls, self._before.calls + self._calls)
        money = max(today.money, self._before.money + self._spent.money)
        if caps.calls_per_run is not None and self._calls >= caps.calls_per_run:
            return (
                f"the cap of {caps.calls_per_run} model calls a run is reached; raise llm_calls_per_run, or run again"
            )
        if caps.calls_per_day is not None and calls >= caps.calls_per_day:
            return f"the cap of {caps.calls_per_day} model calls a day is reached; raise llm_calls_per_day, or wait"
        if caps.money_per_day is not None and money >= caps.money_per_day:
            return f"the cap of {caps.money_per_day:g} a day is reached; raise llm_money_per_day, or wait"
        return None


def free(error: Failure) -> Failure:
    """The failure, of which nothing left this machine: it is no call, and costs nothing."""
    error.cost = FREE
    return error


def estimated(text: str) -> int:
    """About how many tokens a text is."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def price_of(prices: Prices | None, *names: str) -> tuple[float, float]:
    """The price of the first of these names that the table lists; nothing if it lists none."""
    found = (prices[name] for name in names if prices and name in prices)
    return next(found, (0.0, 0.0))
