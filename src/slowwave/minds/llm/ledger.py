"""The ledger of a mind: what its calls cost, and the caps that stop it before it calls."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from slowwave import forks
from slowwave.errors import InputError, ModelError
from slowwave.minds.llm.shared_limits import SharedLimits, free
from slowwave.model.budget import ModelUse
from slowwave.model.plan import FREE, Cost

CHARACTERS_PER_TOKEN: Final = 4
"""The estimate where a provider returns no count (English prose; other scripts have fewer)."""
_MILLION: Final = 1_000_000

Prices = Mapping[str, tuple[float, float]]
"""{model: (in, out)}: the price of a million tokens each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Limits on the calls of a mind; None means no limit. A reached cap stops the next call, and the work stays due.

    Args:
        calls_per_run: calls of one run (a `consolidate`, a `sleep` or an `add`), retries included.
        calls_per_day: calls of all runs of a scope since midnight UTC.
        money_per_day: money of all runs of a scope since midnight UTC, by the price table; the call that exceeds it
            is the last.

    Raises:
        InputError: for a cap below 0.
    """

    calls_per_run: int | None = None
    calls_per_day: int | None = None
    money_per_day: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            cap = getattr(self, field.name)
            if cap is not None and not cap >= 0:
                raise InputError(f"{field.name}={cap!r}: use a number from 0, or None for no cap")


class Ledger:
    """Counts the calls, tokens, seconds and money of one run. Threads may share it.

    Args:
        price: the price of a million tokens in and of a million tokens out.
        caps: the limits.
        today: the cost of all runs since midnight, from the journal; called only if there is a cap per day.
        shared: the limits that all processes of the store share; None: none.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        *,
        price: tuple[float, float] = (0.0, 0.0),
        caps: Caps = Caps(),  # noqa: B008 - frozen
        today: Callable[[], Cost] = lambda: FREE,
        shared: SharedLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._price, self._caps, self._clock = price, caps, clock
        self._lock = threading.Lock()
        self._calls = 0
        self._spent = FREE
        self._today = today
        self.shared = shared
        self._daily = caps.calls_per_day is not None or caps.money_per_day is not None
        self._before = today() if self._daily else FREE
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: replace the lock, which a thread of the parent may hold."""
        self._lock = threading.Lock()

    @property
    def spent(self) -> Cost:
        """The cost of all calls so far, failed ones included."""
        with self._lock:
            return self._spent

    def admit(self) -> float:
        """Count one call and return its start.

        Raises:
            ModelError: before anything is sent, because a cap is reached, or all processes of the store have to pause.
        """
        today = self._today() if self._daily else FREE
        with self._lock:
            if problem := self._problem(today):
                raise free(ModelError(problem))
            self._calls += 1
        if self.shared is not None:
            try:
                self.shared.admit()
            except BaseException:
                with self._lock:
                    self._calls -= 1
                raise
        return self._clock()

    def book(self, started: float, tokens_in: int, tokens_out: int) -> Cost:
        """Record the cost of one call and return it."""
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
        if self.shared is not None:
            self.shared.used(ModelUse(tokens=tokens_in + tokens_out, money=money))
        return cost

    def waive(self) -> None:
        """Do not count an admitted call, because no request left this machine."""
        with self._lock:
            self._calls -= 1
        if self.shared is not None:
            self.shared.used(ModelUse(calls=-1))

    def _problem(self, today: Cost) -> str | None:
        """The message about a cap that is reached, or None.

        A run is journaled in parts, so `today` may or may not include its calls; the larger sum counts.
        """
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


def estimated(text: str) -> int:
    """An estimate of the tokens of a text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def price_of(prices: Prices | None, *names: str) -> tuple[float, float]:
    """The price of the first of these names in the table; 0 if it has none."""
    return next((prices[name] for name in names if prices and name in prices), (0.0, 0.0))
