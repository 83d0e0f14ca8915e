"""How far a message was read, as the integers and flags that stores hold."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Self

from slowwave.model.pass_record import pause_after

DISTIL_CURSOR: Final = "distil"
"""The cursor of the last message that was distilled to its end."""
FAILED_CURSOR: Final = "distil/failed"
"""The cursor of a conversation that a mind failed at, as `FailedReading` packs it; 0 if it was read since."""
RELEASED: Final = "released"
"""The flag of a message that is to be read although the cursor has passed it: it was under review then."""
UNREADABLE: Final = "unreadable"
"""The flag of a message that no mind could read so far, alone: the cursor has passed it, and it is still due."""
_UNREADABLE_BY: Final = f"{UNREADABLE}/"
"""Begins the flag that names the mind which could not read such a message."""
_RELEASED_AT: Final = re.compile(rf"{RELEASED}/(\d{{1,8}})")
"""The flag of how many characters of such a message were read."""
_OFFSET_BITS: Final = 32
_FAILURES_MAX: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceCursor:
    """A place inside a message that is too long to be read at once.

    Attributes:
        message: the number of the message in its conversation.
        offset: how many of its characters were read.
    """

    message: int
    offset: int

    def pack(self) -> int:
        """The place as one integer, which grows with the message and with the offset, as every cursor does."""
        return self.message << _OFFSET_BITS | self.offset

    @classmethod
    def unpack(cls, number: int) -> Self:
        """The place that `pack` wrote.

        >>> PieceCursor.unpack(PieceCursor(message=7, offset=20_000).pack())
        PieceCursor(message=7, offset=20000)
        """
        message, offset = divmod(number, 1 << _OFFSET_BITS)
        return cls(message=message, offset=offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedReading:
    """A reading of a conversation at which the mind failed, although it answers about other words.

    Attributes:
        at: when, in whole seconds.
        failures: how many readings of the conversation failed in a row.
    """

    at: datetime
    failures: int

    @property
    def until(self) -> datetime:
        """Until when sleep passes leave the conversation out."""
        return self.at + pause_after(self.failures)

    def pauses(self, now: datetime) -> bool:
        """Whether it is left out now. A time after `now` was written while the clock was wrong, and is no reason."""
        return self.at <= now < self.until

    def pack(self) -> int:
        """The failure as one integer; a later failure has a greater one."""
        return int(self.at.timestamp()) * (_FAILURES_MAX + 1) + min(self.failures, _FAILURES_MAX)

    @classmethod
    def unpack(cls, number: int) -> Self | None:
        """The failure that `pack` wrote; None for 0."""
        seconds, failures = divmod(number, _FAILURES_MAX + 1)
        return cls(at=datetime.fromtimestamp(seconds, UTC), failures=failures) if failures else None


def released_flags(offset: int = 0) -> frozenset[str]:
    """The flags of a released message of which so many characters were read."""
    return frozenset({RELEASED, f"{RELEASED}/{offset}"}) if offset else frozenset({RELEASED})


def without_released(flags: Iterable[str]) -> frozenset[str]:
    """The flags without those of a released message."""
    return frozenset(flag for flag in flags if flag != RELEASED and not is_offset_flag(flag))


def is_offset_flag(flag: str) -> bool:
    """Whether a flag says how far a released message was read."""
    return _RELEASED_AT.fullmatch(flag) is not None


def released_offset(flags: Iterable[str]) -> int:
    """How many characters of a released message were read."""
    return max((int(found[1]) for flag in flags if (found := _RELEASED_AT.fullmatch(flag))), default=0)


def unreadable_flags(flags: Iterable[str], mind: str) -> frozenset[str]:
    """The flags of a message that this mind could not read, in place of those of a released one."""
    return without_released(without_unreadable(flags)) | {UNREADABLE, f"{_UNREADABLE_BY}{mind}"}


def without_unreadable(flags: Iterable[str]) -> frozenset[str]:
    """The flags without those of a message that a mind could not read."""
    return frozenset(flag for flag in flags if flag != UNREADABLE and not flag.startswith(_UNREADABLE_BY))


def is_unreadable_by(flags: Iterable[str], mind: str) -> bool:
    """Whether it was this mind that could not read a message."""
    return f"{_UNREADABLE_BY}{mind}" in flags
