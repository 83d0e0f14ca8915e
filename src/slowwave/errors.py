"""Every error that Slowwave raises. The class says where the fault is; the message says what to do.

SlowwaveError
├── InputError            an argument is invalid (also a ValueError)
│   ├── NotFoundError     no memory, run or conversation of that name in this scope (also a LookupError)
│   ├── ConflictError     the same id with other content, or a change that later runs depend on
│   │   └── VersionError  a note has another version than the caller expects
│   ├── ReusedNameError   the name of a repeatable request was used for another request
│   └── TrustError        a handle of lower trust may not do this (`AgentMemory.trusting`)
├── SettingsError         a setting, an extra or a key is missing or invalid
├── ClosedError           the memory was closed
├── StoreError            the file or the server failed
│   ├── BusyError         a lock, a statement or a connection took longer than its time-out (`reason`)
│   ├── SuppressedError   a plan relies on a key that is suppressed; pipelines plan again
│   ├── DiskFullError     no space is left on the disk
│   ├── ReadOnlyError     the store cannot be written
│   ├── ForeignFileError  the file is not a Slowwave store
│   ├── NewerSchemaError  the store was written by a newer version
│   ├── OlderSchemaError  the store needs `slowwave migrate`, by the owner of its schema
│   └── CorruptError      the store fails its own checks
└── PortError             a model or embedder failed; the work stays due
    ├── ModelError
    └── EmbedderError
"""

import reprlib
from typing import Final, Literal

SHOWN_MOST: Final = 80
"""Characters of a value that an error repeats."""

TOO_MANY_FILES = (
    "this process may not open more files: close memories that are not used, open a store once and take its scopes from "
    "it, or raise the limit with `ulimit -n`"
)
"""Every open store holds three file descriptors."""


class _Shown(reprlib.Repr):
    """Short representations, also of values that are inside themselves or whose own representation fails."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 2 * SHOWN_MOST

    def repr_int(self, value: int, level: int) -> str:
        """The digits; Python refuses to write numbers of more than a few thousand."""
        if value.bit_length() > 4 * SHOWN_MOST:
            return f"a number of more than {SHOWN_MOST} digits"
        return super().repr_int(value, level)


_shown: Final = _Shown()


def shown(value: object) -> str:
    """The representation of a value for an error, on one line and cut after 80 characters.

    >>> shown("tea"), shown(10**5000)
    ("'tea'", 'a number of more than 80 digits')
    """
    text = " ".join(_shown.repr(value).splitlines())
    return text if len(text) <= SHOWN_MOST else f"{text[:SHOWN_MOST]}…"


class SlowwaveError(Exception):
    """The base class of all errors of Slowwave. `exit_code` is that of the command line."""

    exit_code = 1


class InputError(SlowwaveError, ValueError):
    """An argument is invalid; nothing was changed."""

    exit_code = 2


class NotFoundError(InputError, LookupError):
    """No memory, run or conversation of that name in this scope."""


class ConflictError(InputError):
    """The same id with other content, or a change that later runs depend on; nothing was changed."""


class VersionError(ConflictError):
    """A note has another version than the caller expects; nothing was changed."""


class ReusedNameError(InputError):
    """The name of a repeatable request was used for another request (`AgentMemory.once`); nothing was changed."""


class TrustError(InputError):
    """A handle of lower trust may not do this, or may not change this memory; nothing was changed."""


class SettingsError(SlowwaveError):
    """A setting, an extra or a key is missing or invalid."""

    exit_code = 2


class ClosedError(SlowwaveError):
    """The memory was closed; open it again."""

    exit_code = 2


class StoreError(SlowwaveError):
    """The file or the server failed; no acknowledged write is lost."""

    exit_code = 4


class BusyError(StoreError):
    """The store was busy longer than a time-out. Nothing was changed: try again.

    Attributes:
        reason: what was waited for: "lock", a writer of the same scope or file; "statement", the server, which cancelled a
            statement; "connections", a connection of the pool of this process.
    """

    def __init__(self, message: str, *, reason: Literal["lock", "statement", "connections"] = "lock") -> None:
        super().__init__(message)
        self.reason = reason


class DisconnectedError(StoreError):
    """The server of the store cannot be reached, or the connection to it was lost. What was acknowledged is kept: try again."""


class SuppressedError(StoreError):
    """A plan holds only while some keys are not suppressed (`Plan.unless_held`), and one is. Nothing was applied: plan again."""


class DiskFullError(StoreError):
    """No space is left on the disk; no acknowledged write is lost."""


class ReadOnlyError(StoreError):
    """The store cannot be written: a file without permission, or a database login without a privilege."""


class ForeignFileError(StoreError):
    """The file is not a Slowwave store; it was not changed."""


class NewerSchemaError(StoreError):
    """The store was written by a newer version of Slowwave; it was not changed."""


class OlderSchemaError(StoreError):
    """The store was written by an older version and was not migrated; it was not changed."""


class CorruptError(StoreError):
    """The store fails its own checks; it was not changed."""


class PortError(SlowwaveError):
    """A model or embedder failed; the work stays due, and a later run tries again.

    `refused` is set if this request will fail again, but not each one: it is invalid, too large or filtered, or its
    answers cannot be read. A request about less text may succeed.
    """

    exit_code = 3
    refused: bool = False


class ModelError(PortError):
    """The language model failed, or its answer cannot be used.

    `cost` is the `Cost` of the call, None if unknown. `cut_off` is set if the answer ended before it was complete: a
    question about less text may succeed. `retry_after` is set if the provider limits calls (status 429, a quota): the
    seconds for which it asks for no call, or an estimate of them.
    """

    cost: object = None
    cut_off: bool = False
    retry_after: float | None = None


class EmbedderError(PortError):
    """The embedder failed, or did not return one vector for each text."""
