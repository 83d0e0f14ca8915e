"""The limits of model calls that all processes of a store share: a budget, and the pauses that providers ask for."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from slowwave.errors import ModelError
from slowwave.model.budget import ModelUse, StoreBudget
from slowwave.model.pass_record import LONGEST_WAIT
from slowwave.model.plan import FREE
from slowwave.upkeep import ModelLimits

WAITED: Final = 20.0
"""Seconds that a call waits for the end of a pause; after a longer one the work stays due."""

Failure = TypeVar("Failure", bound=ModelError)


class SharedLimits:
    """Admits the calls of one run, and tells the store what they used and when a provider asked for a pause.

    Args:
        store: where processes share use and pauses.
        model: the name under which they share the pauses.
        budget: the limits of the store.
        now: the present time.
        sleep: waits for a number of seconds.

    Attributes:
        resumes: when calls are admitted again, if the last call was refused.
        admitted: when the last call was admitted, which counts for that hour and day.
    """

    def __init__(
        self,
        store: ModelLimits,
        *,
        model: str,
        budget: StoreBudget,
        now: Callable[[], datetime],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store, self._model, self._budget = store, model, budget
        self._now, self._sleep = now, sleep
        self.resumes: datetime | None = None
        self.admitted = now()

    def admit(self) -> None:
        """Count one call. A pause that soon ends is waited for.

        Raises:
            ModelError: the budget is used up, or the provider asked for a longer pause. It costs nothing.
        """
        waited = 0.0
        while (refusal := self._store.admit_model_call(self._model, self._budget, now := self._now())) is not None:
            seconds = (refusal.until - now).total_seconds()
            if waited + seconds > WAITED:
                self.resumes = refusal.until
                raise free(ModelError(refusal.reason))
            self._sleep(seconds)
            waited += seconds
        self.resumes, self.admitted = None, now

    def used(self, use: ModelUse) -> None:
        """Add to the use of the store what a call cost, if there is a budget."""
        if self._budget.limits:
            self._store.add_model_use(use, self.admitted)

    def pause(self, seconds: float) -> None:
        """Let no process of the store call the model for so long, and at most for `LONGEST_WAIT`."""
        self._store.pause_model(self._model, self._after(seconds))

    def refused(self, seconds: float) -> None:
        """The same after a call that failed: the work is due when the pause ends."""
        self.pause(seconds)
        self.resumes = self._after(seconds)

    def _after(self, seconds: float) -> datetime:
        return self._now() + timedelta(seconds=min(seconds, LONGEST_WAIT.total_seconds()))


def free(error: Failure) -> Failure:
    """Mark a failure as free: no request left this machine."""
    error.cost = FREE
    return error
