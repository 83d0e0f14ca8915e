"""A message: one utterance, verbatim, as the caller passes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from slowwave.errors import InputError
from slowwave.model.memory import Role

ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "system", "tool")
LONGEST = 20_000_000  # characters; longer ones belong into a document store
_ID_LONGEST = 512
_CONTROL = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance.

    Args:
        role: "user", "assistant", "system" or "tool".
        content: the words, kept verbatim (NUL and lone surrogates are replaced by U+FFFD, which no store can hold).
        speaker: the name of who said it. It adds to the role and never replaces it: what an assistant or a tool says is
            trusted as such under any name. In a chat between people who are trusted alike, all have the role "user".
            It is refused with NUL or a lone surrogate, as `id` is: a changed name would name someone else.
        at: when it was said, aware; None means now, by the memory's clock.
        id: the caller's own id, unique in its scope and conversation; the same id with the same content is one message.
        metadata: the caller's own values by name, stored with it.
    """

    role: str
    content: str
    speaker: str | None = None
    at: datetime | None = None
    id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)


def clean(text: str) -> str:
    r"""The text with U+FFFD for NUL and lone surrogates, which no store can hold.

    >>> clean("K\x00f" + chr(0xD83D))
    'K\ufffdf\ufffd'
    """
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def tidy(text: str) -> str:
    r"""The cleaned text on one line, without control characters.

    >>> tidy("one\ttwo\n")
    'one two'
    """
    return " ".join(clean(text).translate(_CONTROL).split())


def storable(text: str) -> bool:
    r"""Whether every store returns this text as it was written: no NUL, no lone surrogate.

    >>> storable("Zoë"), storable("a\x00"), storable(chr(0xD800))
    (True, False, False)
    """
    return clean(text) == text


def checked_time(at: datetime, what: str) -> datetime:
    """The instant in UTC, or InputError with the fix for a naive one."""
    if not isinstance(at, datetime) or at.tzinfo is None or at.utcoffset() is None:
        raise InputError(f"{what} {at!r} has no time zone: set one, e.g. at.replace(tzinfo=timezone.utc)")
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise InputError(f"{what} {at!r} lies outside the years 1 to 9999 in UTC") from error


def checked_message(message: Message, place: str = "the message") -> Message:
    """The message with clean text and a UTC time, or InputError naming its place in the batch."""
    if not isinstance(message, Message):
        raise InputError(f"{place} is a {type(message).__name__}: pass slowwave.Message(role=..., content=...)")
    if message.role not in ROLES:
        raise InputError(f"{place} has the role {message.role!r}: use one of {', '.join(ROLES)}")
    if not isinstance(message.content, str) or not message.content.strip():
        raise InputError(f"{place} has no text: leave empty messages out")
    if len(message.content) > LONGEST:
        raise InputError(f"{place} has {len(message.content):,} characters, more than {LONGEST:,}: cut it into parts")
    for name, value in (("speaker", message.speaker), ("id", message.id)):
        if value is None:
            continue
        if not isinstance(value, str) or not value.strip() or len(value) > _ID_LONGEST:
            raise InputError(f"{place} has the {name} {value!r}: use 1 to {_ID_LONGEST} characters, or None")
        if not storable(value):
            raise InputError(
                f"{place} has the {name} {value!r}, which holds NUL or a lone surrogate: pass text that encodes to UTF-8"
            )
    return Message(
        role=message.role,
        content=clean(message.content),
        speaker=message.speaker or None,
        at=checked_time(message.at, f"{place}'s time") if message.at is not None else None,
        id=message.id or None,
        metadata=message.metadata,
    )
