"""A clock that stands still until it is moved."""

from datetime import UTC, datetime, timedelta


class FrozenClock:
    """The time as a test wants it.

    >>> clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    >>> clock.advance(days=1.5)
    >>> clock().isoformat()
    '2026-01-02T12:00:00+00:00'

    Args:
        now: the first instant, aware; by default the beginning of 2026.
    """

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The instant it was set to."""
        return self.now

    def advance(self, *, days: float = 0.0, hours: float = 0.0, seconds: float = 0.0) -> None:
        """Move on; a negative span moves back."""
        self.now += timedelta(days=days, hours=hours, seconds=seconds)
