"""Reads time zones, and gives a time the fixed offset with which it is stored.

A stored time has an offset of its own and no name of a zone: two times of one named zone would be compared and subtracted by
their clock readings, which is wrong around a change to or from summer time.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final

from slowwave.errors import InputError, shown

_OFFSET: Final = re.compile(r"([+-])([01]\d|2[0-3]):([0-5]\d)")
_MINUTE: Final = timedelta(minutes=1)
FLOATING: Final = timezone(timedelta(0), "floating")  # equal to UTC
"""The zone of a time that a file writes without one. It is compared as UTC, until the import gives it the zone of the memory."""


def zone_of(name: str | None) -> tzinfo:
    """The zone of a name of the IANA database or of an offset; UTC for None.

    >>> zone_of("+09:00").utcoffset(None)
    datetime.timedelta(seconds=32400)

    Raises:
        InputError: it is neither.
    """
    if name is None:
        return UTC
    if isinstance(name, str) and _OFFSET.fullmatch(name):
        return offset_of(name)
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - most stores have no named zone

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, AttributeError, OSError):  # OSError: the name of a folder
        raise InputError(
            f"zone={shown(name)} is not a known time zone: use a name of the IANA database, such as 'Europe/Berlin', or an "
            "offset, such as '+09:00'"
        ) from None


@lru_cache(maxsize=256)
def offset_of(text: str) -> tzinfo:
    """The zone of an offset such as "+09:00"; ValueError for another text, as damage can make it."""
    if (match := _OFFSET.fullmatch(text)) is None:
        raise ValueError(f"{text!r} is not an offset")
    minutes = int(match[2]) * 60 + int(match[3])
    return _fixed(-minutes if match[1] == "-" else minutes)


def offset_text(at: datetime) -> str | None:
    """The offset of an aware time, as it is stored; None for that of UTC.

    >>> offset_text(datetime(2026, 5, 1, tzinfo=timezone(timedelta(hours=-5, minutes=-30))))
    '-05:30'
    """
    if at.tzinfo is UTC or not (minutes := _minutes(at)):
        return None
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def with_offset(at: datetime) -> datetime:
    """The same instant with its offset, in whole minutes, in place of a named zone.

    >>> from zoneinfo import ZoneInfo
    >>> with_offset(datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Berlin"))).isoformat()
    '2026-07-01T00:00:00+02:00'
    """
    return at.astimezone(_fixed(_minutes(at)))


def local(at: datetime, zone: tzinfo) -> datetime:
    """A time as the clock of a zone shows it, with its offset there. One without a zone is a time of that clock.

    A time that the clock would show outside the years 1 to 9999 stays as it is.
    """
    if at.tzinfo is None or at.tzinfo is FLOATING:
        at = at.replace(tzinfo=zone).astimezone(UTC)  # what a change of the clock leaves out becomes a time that exists
    try:
        return with_offset(at.astimezone(zone))
    except OverflowError:
        return at


def of_file(at: datetime, zone: tzinfo) -> datetime:
    """A time of a file of another program, in the zone of the memory that imports it.

    A time in UTC, in which programs write what happened anywhere, is shown in that zone; one with another offset keeps it.
    """
    return local(at, zone) if at.tzinfo == UTC else at


def zone_label(at: datetime) -> str:
    """How a text names the zone of an aware time: "UTC" or "UTC+09:00"."""
    return f"UTC{offset_text(at) or ''}"


def _minutes(at: datetime) -> int:
    offset = at.utcoffset()
    return 0 if offset is None else round(offset / _MINUTE)


@lru_cache(maxsize=256)
def _fixed(minutes: int) -> tzinfo:
    return timezone(timedelta(minutes=minutes)) if minutes else UTC
