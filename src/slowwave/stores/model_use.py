"""What all processes of a store share about its models: use in the hour and in the day, and pauses. Nothing is journaled."""

from datetime import datetime, timedelta
from typing import Any, Final

from slowwave.model.budget import ModelUse, Refusal, StoreBudget
from slowwave.model.codec import from_micros, to_micros
from slowwave.stores.access_rows import AccessRows

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)


class ModelUseRows(AccessRows):
    """Reads and writes the use and the pauses of models. `copy` leaves them out."""

    def admit_model_call(self, model: str, budget: StoreBudget, now: datetime) -> Refusal | None:
        """Count one call of a model, unless the model pauses or the budget is used up. See `ModelLimits`."""
        with self._guard:
            paused = self._one("model_pause", (model,))
            until = now if paused is None else from_micros(paused[0])
        if until > now:
            return Refusal(until, f"the provider of {model} asked for a pause until {_shown(until)}")
        if not budget.limits:
            return None
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        hour = now.replace(minute=0, second=0, microsecond=0)
        with self._guard, self._key_transaction():
            of_day = ModelUse(*self._one("count_model_call", ("day", to_micros(day))))
            of_hour = ModelUse(*self._one("count_model_call", ("hour", to_micros(hour))))
            exceeded = budget.exceeded(of_hour, of_day)
            if exceeded is not None:
                self._db.run("add_model_use", (-1, 0, 0.0))
        if exceeded is None:
            return None
        period, problem = exceeded
        until = day + _DAY if period == "day" else hour + _HOUR
        return Refusal(until, f"{problem}; calls go on at {_shown(until)}")

    def add_model_use(self, use: ModelUse) -> None:
        """Add to what was used in the present hour and day."""
        with self._guard, self._key_transaction():
            self._db.run("add_model_use", tuple(use))

    def pause_model(self, model: str, until: datetime) -> None:
        """Let no process call this model before a time. An earlier time does not shorten a pause."""
        with self._guard, self._key_transaction():
            self._db.run("pause_model", (model, to_micros(until)))

    def model_use(self, now: datetime) -> tuple[ModelUse, ModelUse]:
        """What was used in the present hour and day, as far as budgets had it counted."""
        with self._guard:
            rows: list[Any] = self._all("model_use", ())
            found = {
                period: ModelUse(*use)
                for period, begins, *use in rows
                if now < from_micros(begins) + (_DAY if period == "day" else _HOUR)
            }
        return found.get("hour", ModelUse()), found.get("day", ModelUse())

    def model_pauses(self, now: datetime) -> dict[str, datetime]:
        """The models that pause, and until when."""
        with self._guard:
            return {model: from_micros(until) for model, until in self._all("model_pauses", (to_micros(now),))}


def _shown(until: datetime) -> str:
    return until.isoformat(sep=" ", timespec="seconds").replace("+00:00", " UTC")
