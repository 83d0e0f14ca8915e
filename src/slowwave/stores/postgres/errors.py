"""Translates the errors of psycopg into those of Slowwave."""

from typing import Final

import psycopg
from psycopg import errors

from slowwave.errors import (
    BusyError,
    CorruptError,
    DiskFullError,
    InputError,
    OlderSchemaError,
    ReadOnlyError,
    SlowwaveError,
    StoreError,
)


class NotConnected(psycopg.OperationalError):
    """No connection could be made."""


_MEANING: Final[tuple[tuple[tuple[type[psycopg.Error], ...], type[SlowwaveError], str], ...]] = (
    (
        (errors.LockNotAvailable, errors.QueryCanceled),
        BusyError,
        "{name} stayed locked by another writer: try again, or open it with a longer time-out",
    ),
    (
        (errors.DiskFull, errors.OutOfMemory),
        DiskFullError,
        "the server of {name} has no space left; nothing acknowledged is lost: free some space and try again",
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        ReadOnlyError,
        "{name} cannot be written: it is a standby, or its default is read-only",
    ),
    (
        (errors.InsufficientPrivilege,),
        ReadOnlyError,
        "the user of {name} lacks a permission ({error}): as its owner, run `GRANT slowwave_app TO` that user; "
        "docs/operating.md has the grants where this role does not exist",
    ),
    (
        (errors.UndefinedColumn, errors.UndefinedTable, errors.UndefinedFunction),
        OlderSchemaError,
        "{name} lacks what this operation needs ({error}): run `slowwave migrate` as the owner of its schema",
    ),
    ((errors.DataCorrupted, errors.IndexCorrupted), CorruptError, "{name} is damaged ({error}): restore a backup"),
    (
        (psycopg.DataError,),
        InputError,
        "{name} cannot hold this value ({error}): NUL characters and lone surrogates are not text",
    ),
    (
        (NotConnected,),
        StoreError,
        "no connection to {name}: {error}; look at the host, port, user, password and name in the address, and at the server",
    ),
    (
        (psycopg.OperationalError, psycopg.InterfaceError),
        StoreError,
        "the connection to {name} was lost ({error}); what was acknowledged is kept: try again",
    ),
    ((psycopg.Error,), StoreError, "{name}: {error}"),
)


def translated(error: psycopg.Error, name: str) -> SlowwaveError:
    """The error of Slowwave that says what to do next. Raise it `from` the original."""
    said = " ".join(str(error).split())
    for kinds, meant, sentence in _MEANING:
        if isinstance(error, kinds):
            return meant(sentence.format(name=name, error=said))
    return StoreError(said)
