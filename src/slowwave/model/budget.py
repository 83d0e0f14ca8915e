"""The limits of model calls that all processes of a store share, and what was used of them."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple

from slowwave.errors import InputError


class ModelUse(NamedTuple):
    """Calls, tokens (in and out) and money that all processes of a store used in one period."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0


class Refusal(NamedTuple):
    """Why a model may not be called now, as a sentence, and until when."""

    until: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBudget:
    """Limits on the model calls of all processes and scopes of a store; None means no limit.

    Hours and days are those of UTC. Calls are counted before they are sent, so that no process exceeds a limit of calls.
    Tokens and money are known after a call: the call that exceeds the limit is the last, in each process that has one
    under way.

    Args:
        calls_per_hour: calls.
        calls_per_day: calls.
        tokens_per_hour: tokens in and out together.
        tokens_per_day: tokens in and out together.
        money_per_day: money, by the price table.

    Raises:
        InputError: for a limit below 0.
    """

    calls_per_hour: int | None = None
    calls_per_day: int | None = None
    tokens_per_hour: int | None = None
    tokens_per_day: int | None = None
    money_per_day: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit is not None and not limit >= 0:
                raise InputError(f"{field.name}={limit!r}: use a number from 0, or None for no limit")

    @property
    def limits(self) -> bool:
        """Whether it has any limit."""
        return any(getattr(self, field.name) is not None for field in fields(self))

    def exceeded(self, hour: ModelUse, day: ModelUse) -> tuple[str, str] | None:
        """The period, "day" or "hour", and the sentence of a limit that does not admit the last counted call, or None."""
        for period, use in (("day", day), ("hour", hour)):
            for unit, used in (("calls", use.calls), ("tokens", use.tokens), ("money", use.money)):
                name = f"{unit}_per_{period}"
                limit = getattr(self, name, None)
                if limit is not None and (used > limit if unit == "calls" else used >= limit):
                    return period, f"the store's budget of {limit:,} {unit} a {period} is used up (llm_store_{name})"
        return None
