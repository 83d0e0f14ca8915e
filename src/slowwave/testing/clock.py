"""A clock whose time changes only when a test sets it."""

from datetime import UTC, datetime, timedelta


class FrozenClock:
    """Returns the same time until it is advanced.

    >>> clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    >>> clock.advance(days=1.5)
    >>> clock().isoformat()
    '2026-01-02T12:00:00+00:00'

    Args:
        now: the first time, aware; by default the beginning of 2026.
    """

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The current time of the clock."""
        return self.now

    def advance(self, *, days: float = 0.0, hours: float = 0.0, seconds: float = 0.0) -> None:
        """Add a time span; a negative one moves the clock back."""
        self.now += timedelta(days=days, hours=hours, seconds=seconds)
