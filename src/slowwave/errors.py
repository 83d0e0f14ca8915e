"""Every error Slowwave raises: one tree that answers whose fault it is, each message saying what to do next.

SlowwaveError
├── InputError            the caller gave something that cannot be meant (also a ValueError)
│   ├── NotFoundError     no memory, run or conversation of that name in this scope (also a LookupError)
│   └── ConflictError     the same id with other content, or a change that later runs rest on
├── SettingsError         a setting, an extra or a key is missing or wrong
├── ClosedError           the handle was closed
├── StoreError            the file or the server
│   ├── BusyError         another process kept the store locked longer than the time-out
│   ├── DiskFullError     no space left; nothing acknowledged is lost
│   ├── ReadOnlyError     the file cannot be written
│   ├── ForeignFileError  a database, but not one of ours
│   ├── NewerSchemaError  written by a newer Slowwave
│   └── CorruptError      the file fails its own checks
└── PortError             a foreign model or embedder failed; the work stays due
    ├── ModelError
    └── EmbedderError
"""


class SlowwaveError(Exception):
    """The root: catch this to catch everything Slowwave raises on purpose."""

    exit_code = 1


class InputError(SlowwaveError, ValueError):
    """The caller gave something that cannot be meant; nothing was changed."""

    exit_code = 2


class NotFoundError(InputError, LookupError):
    """No memory, run or conversation of that name in this scope."""


class ConflictError(InputError):
    """The same id with other content, or a change that later runs rest on."""


class SettingsError(SlowwaveError):
    """A setting, an extra or a key is missing or wrong."""

    exit_code = 2


class ClosedError(SlowwaveError):
    """The handle was closed; open the memory again."""

    exit_code = 2


class StoreError(SlowwaveError):
    """The file or the server failed; what was acknowledged is kept."""

    exit_code = 4


class BusyError(StoreError):
    """Another process kept the store locked longer than the time-out."""


class DiskFullError(StoreError):
    """No space left; nothing acknowledged is lost."""


class ReadOnlyError(StoreError):
    """The file cannot be written."""


class ForeignFileError(StoreError):
    """A database, but not one of ours; it was not touched."""


class NewerSchemaError(StoreError):
    """Written by a newer Slowwave; it was not touched."""


class CorruptError(StoreError):
    """The file fails its own checks; it was not touched."""


class PortError(SlowwaveError):
    """A foreign model or embedder failed; the work stays due."""

    exit_code = 3


class ModelError(PortError):
    """The language model failed or answered nothing usable. `cost` is what that cost (a `Cost`), if it is known."""

    cost: object = None


class EmbedderError(PortError):
    """The embedder failed or answered something that is not one vector a text."""
