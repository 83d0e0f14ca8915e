"""Tests of time zones: names and offsets, times that a change of the clock leaves out or repeats, and stored offsets."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from slowwave import Config, InputError
from slowwave.model.message import checked_time
from slowwave.model.zone import FLOATING, local, of_file, offset_of, offset_text, with_offset, zone_of

BERLIN, KOLKATA = ZoneInfo("Europe/Berlin"), timezone(timedelta(hours=5, minutes=30))


def test_a_zone_is_a_name_of_the_iana_database_or_an_offset_and_utc_by_default() -> None:
    july = datetime(2026, 7, 1)  # noqa: DTZ001 - of any zone
    assert zone_of(None).utcoffset(july) == timedelta(0)
    assert zone_of("Europe/Berlin").utcoffset(july) == timedelta(hours=2)
    assert zone_of("-03:30").utcoffset(july) == -timedelta(hours=3, minutes=30)


@pytest.mark.parametrize(
    "name", ["Europe/Berlun", "", "Europe", "../etc/passwd", "+9", "+25:00", "09:00", "\x00", 7, []]
)
def test_an_unknown_zone_is_one_error_with_the_two_forms(name: str) -> None:
    with pytest.raises(InputError, match=r"zone=.* is not a known time zone: .*'Europe/Berlin'.*'\+09:00'"):
        zone_of(name)
    with pytest.raises(InputError, match=r"^invalid settings: zone=.* is not a known time zone"):
        Config(zone=name)


@pytest.mark.parametrize(
    ("written", "zone", "read"),
    [
        (datetime(2026, 7, 1, 9), BERLIN, "2026-07-01T09:00:00+02:00"),  # noqa: DTZ001
        (datetime(2026, 12, 1, 9), BERLIN, "2026-12-01T09:00:00+01:00"),  # noqa: DTZ001
        (datetime(2026, 3, 29, 2, 30), BERLIN, "2026-03-29T03:30:00+02:00"),  # noqa: DTZ001 - left out by the clock
        (datetime(2026, 10, 25, 2, 30), BERLIN, "2026-10-25T02:30:00+02:00"),  # noqa: DTZ001 - there twice: the first
        (datetime(2026, 10, 25, 2, 30, fold=1), BERLIN, "2026-10-25T02:30:00+01:00"),  # noqa: DTZ001 - the second
        (datetime(2026, 7, 1, 9), UTC, "2026-07-01T09:00:00+00:00"),  # noqa: DTZ001
        (datetime(2026, 7, 1, 9, tzinfo=KOLKATA), BERLIN, "2026-07-01T09:00:00+05:30"),
        (datetime(2026, 7, 1, 9, tzinfo=BERLIN), UTC, "2026-07-01T09:00:00+02:00"),
    ],
)
def test_a_time_keeps_its_offset_and_one_without_takes_that_of_the_zone(
    written: datetime, zone: ZoneInfo, read: str
) -> None:
    assert checked_time(written, "at", zone).isoformat() == read


def test_times_of_one_zone_are_compared_as_instants_around_a_change_of_the_clock() -> None:
    first, second = (datetime(2026, 10, 25, 2, minute, tzinfo=BERLIN, fold=fold) for minute, fold in ((30, 0), (10, 1)))
    assert second < first, "by the reading of the clock, as Python compares two times of one zone"
    first, second = checked_time(first, "at"), checked_time(second, "at")
    assert second - first == timedelta(minutes=40)


@pytest.mark.parametrize(
    "offset", [timedelta(hours=9), -timedelta(hours=9, minutes=30), timedelta(minutes=1), -timedelta(minutes=1)]
)
def test_the_stored_text_of_an_offset_gives_it_again(offset: timedelta) -> None:
    at = datetime(2026, 7, 1, 9, tzinfo=timezone(offset))
    assert with_offset(at).utcoffset() == offset
    assert offset_of(str(offset_text(at))).utcoffset(None) == offset


def test_the_offset_of_utc_is_not_stored_and_one_with_seconds_is_rounded() -> None:
    assert offset_text(datetime(2026, 7, 1, tzinfo=UTC)) is None
    assert offset_text(datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/London"))) is None
    solar = datetime(1890, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))  # 53 minutes and 28 seconds
    assert with_offset(solar) == solar
    assert offset_text(solar) == "+00:53"


@pytest.mark.parametrize("damaged", ["9", "+9:00", "+24:00", "Europe/Berlin", ""])
def test_a_damaged_offset_is_no_offset(damaged: str) -> None:
    with pytest.raises(ValueError, match="is not an offset"):
        offset_of(damaged)


def test_a_time_of_a_file_is_of_the_memorys_zone_unless_it_has_another_offset() -> None:
    noon = datetime(2026, 7, 1, 12)  # noqa: DTZ001
    assert of_file(noon.replace(tzinfo=FLOATING), BERLIN).isoformat() == "2026-07-01T12:00:00+02:00"
    assert of_file(noon.replace(tzinfo=UTC), BERLIN).isoformat() == "2026-07-01T14:00:00+02:00"
    assert of_file(noon.replace(tzinfo=KOLKATA), BERLIN).isoformat() == "2026-07-01T12:00:00+05:30"
    assert local(noon, BERLIN).isoformat() == "2026-07-01T12:00:00+02:00"
