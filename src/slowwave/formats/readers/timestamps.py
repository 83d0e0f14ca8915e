"""Reads times: ISO texts, seconds or milliseconds since 1970, and the dates of benchmark files."""

import re
from datetime import UTC, datetime

from slowwave.model.message import FIRST_TIME, LAST_TIME

_SECONDS_MOST = 100_000_000_000  # the year 5138; a larger number is in milliseconds, microseconds or nanoseconds
_NANOSECONDS_MOST = _SECONDS_MOST * 1_000_000_000
_LOCOMO = "%I:%M %p on %d %B, %Y"
_ANCHOR = "%B-%d-%Y"
_FRACTION = re.compile(r"(\.\d{6})\d+")


def instant(value: object) -> datetime | None:
    """The time of a value in UTC, or None, also for one outside the years 2 to 9899. Without a time zone it is in UTC."""
    at = any_instant(value)
    return at if at is not None and FIRST_TIME <= at <= LAST_TIME else None


def any_instant(value: object) -> datetime | None:
    """The time of a value in UTC in any year, or None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _since_1970(value)
    if not isinstance(value, str):
        return None
    text = _FRACTION.sub(r"\1", value.strip())
    try:
        return _utc(datetime.fromisoformat(text))
    except ValueError:
        pass
    try:
        return _since_1970(float(text))
    except (ValueError, OverflowError):
        return None


def _since_1970(number: float) -> datetime | None:
    """The time of a number. A whole number may be too large for a float, and a float may be infinite or no number."""
    try:
        while _SECONDS_MOST < abs(number) <= _NANOSECONDS_MOST:
            number /= 1000
        return datetime.fromtimestamp(number, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _utc(at: datetime) -> datetime | None:
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError:
        return None


def session_time(text: object) -> datetime | None:
    """LoCoMo's "1:56 pm on 8 May, 2023"."""
    return _parsed(text, _LOCOMO)


def anchor_time(text: object) -> datetime | None:
    """BEAM's "March-15-2024"."""
    return _parsed(text, _ANCHOR)


def _parsed(text: object, pattern: str) -> datetime | None:
    try:
        return datetime.strptime(str(text), pattern).replace(tzinfo=UTC)
    except ValueError:
        return None
