"""What all processes of a store share about its models: use in the hour and in the day, and pauses. Nothing is journaled."""

from datetime import datetime, timedelta
from typing import Any, Final

from slowwave.model.budget import ModelUse, Refusal, StoreBudget
from slowwave.model.codec import from_micros, to_micros
from slowwave.model.pass_record import LONGEST_WAIT
from slowwave.stores.access_rows import AccessRows

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
_LONGEST: Final = LONGEST_WAIT // timedelta(microseconds=1)
_KEPT: Final = 1000
"""The newest hours and days whose use is kept; a clock that was ahead for a while drops none of the present."""


class ModelUseRows(AccessRows):
    """Reads and writes the use and the pauses of models. `copy` leaves them out."""

    def admit_model_call(self, model: str, budget: StoreBudget, now: datetime) -> Refusal | None:
        """Count one call of a model, unless the model pauses or the budget is used up. See `ModelLimits`."""
        with self._guard:
            paused = self._one("model_pause", (model,))
            until = now if paused is None else from_micros(paused[0])
        if until > now and until - now <= LONGEST_WAIT:
            return Refusal(until, f"the provider of {model} asked for a pause until {_shown(until)}")
        if not budget.limits:
            return None
        hour, day = _begins(now)
        with self._guard, self._key_transaction():
            of_day = ModelUse(*self._one("count_model_call", ("day", to_micros(day))))
            of_hour = ModelUse(*self._one("count_model_call", ("hour", to_micros(hour))))
            if of_hour.calls == 1:
                self._db.run("drop_model_use", (_KEPT,))
            exceeded = budget.exceeded(of_hour, of_day)
            if exceeded is not None:
                self._add(ModelUse(calls=-1), now)
        if exceeded is None:
            return None
        period, problem = exceeded
        until = day + _DAY if period == "day" else hour + _HOUR
        return Refusal(until, f"{problem}; calls go on at {_shown(until)}")

    def add_model_use(self, use: ModelUse, at: datetime) -> None:
        """Add to what was used in the hour and the day in which a call was admitted."""
        with self._guard, self._key_transaction():
            self._add(use, at)

    def _add(self, use: ModelUse, at: datetime) -> None:
        hour, day = _begins(at)
        self._db.run("add_model_use", {**use._asdict(), "hour": to_micros(hour), "day": to_micros(day)})

    def pause_model(self, model: str, until: datetime) -> None:
        """Let no process call this model before a time. An earlier time shortens no pause that can be meant."""
        values = {"model": model, "until": to_micros(until), "latest": to_micros(until) + _LONGEST}
        with self._guard, self._key_transaction():
            self._db.run("pause_model", values)

    def model_use(self, now: datetime) -> tuple[ModelUse, ModelUse]:
        """What was used in the present hour and day, as far as budgets had it counted."""
        hour, day = _begins(now)
        with self._guard:
            rows: list[Any] = self._all("model_use", {"hour": to_micros(hour), "day": to_micros(day)})
        found = {period: ModelUse(*use) for period, *use in rows}
        return found.get("hour", ModelUse()), found.get("day", ModelUse())

    def model_pauses(self, now: datetime) -> dict[str, datetime]:
        """The models that pause, and until when."""
        with self._guard:
            rows = self._all("model_pauses", (to_micros(now), to_micros(now) + _LONGEST))
            return {model: from_micros(until) for model, until in rows}


def _begins(at: datetime) -> tuple[datetime, datetime]:
    """The beginnings of the hour and the day of a time."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    return hour, hour.replace(hour=0)


def _shown(until: datetime) -> str:
    return until.isoformat(sep=" ", timespec="seconds").replace("+00:00", " UTC")
