"""Reads times: ISO texts, seconds or milliseconds since 1970, and the dates of benchmark files."""

import re
from datetime import UTC, datetime

from slowwave.model.message import FIRST_TIME, LAST_TIME
from slowwave.model.zone import FLOATING, with_offset

_SECONDS_MOST = 100_000_000_000  # the year 5138; a larger number is in milliseconds, microseconds or nanoseconds
_NANOSECONDS_MOST = _SECONDS_MOST * 1_000_000_000
_LOCOMO = "%I:%M %p on %d %B, %Y"
_ANCHOR = "%B-%d-%Y"
_FRACTION = re.compile(r"(\.\d{6})\d+")


def instant(value: object) -> datetime | None:
    """The time of a value, or None, also for one outside the years 2 to 9899. Without a time zone it is `FLOATING`."""
    at = any_instant(value)
    return at if at is not None and FIRST_TIME <= at <= LAST_TIME else None


def any_instant(value: object) -> datetime | None:
    """The time of a value in any year, or None."""
    if isinstance(value, str):
        text = _FRACTION.sub(r"\1", value.strip())
        return _iso(text) or _since_1970(text)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else _since_1970(value)


def _iso(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=FLOATING) if at.tzinfo is None else with_offset(at)
    except (ValueError, OverflowError):
        return None


def _since_1970(digits: float | str) -> datetime | None:
    """The time of a number. A whole number may be too large for a float, and a float may be infinite or no number."""
    try:
        number = float(digits)
        while _SECONDS_MOST < abs(number) <= _NANOSECONDS_MOST:
            number /= 1000
        return datetime.fromtimestamp(number, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def session_time(text: object) -> datetime | None:
    """LoCoMo's "1:56 pm on 8 May, 2023"."""
    return _parsed(text, _LOCOMO)


def anchor_time(text: object) -> datetime | None:
    """BEAM's "March-15-2024"."""
    return _parsed(text, _ANCHOR)


def _parsed(text: object, pattern: str) -> datetime | None:
    try:
        return datetime.strptime(str(text), pattern).replace(tzinfo=FLOATING)
    except ValueError:
        return None
