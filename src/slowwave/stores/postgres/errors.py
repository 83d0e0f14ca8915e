"""Translates the errors of psycopg into those of Slowwave."""

from collections.abc import Callable
from functools import partial
from typing import Final

import psycopg
from psycopg import errors

from slowwave.errors import (
    BusyError,
    CorruptError,
    DisconnectedError,
    DiskFullError,
    InputError,
    OlderSchemaError,
    ReadOnlyError,
    SlowwaveError,
    StoreError,
)
from slowwave.stores.migrations import newer_schema

STATEMENT_CANCELLED: Final = partial(BusyError, reason="statement")


class NotConnected(psycopg.OperationalError):
    """No connection could be made."""


_MEANING: Final[tuple[tuple[tuple[type[psycopg.Error], ...], Callable[[str], SlowwaveError], str], ...]] = (
    (
        (errors.LockNotAvailable,),
        BusyError,
        "another writer kept the scope in {name} locked longer than `lock_seconds`: try again; if it lasts, look for a "
        "paused process in pg_stat_activity, or raise `lock_seconds`",
    ),
    (
        (errors.QueryCanceled,),
        STATEMENT_CANCELLED,
        "the server cancelled a statement in {name} ({error}): it took longer than `statement_seconds` or the time-out of "
        "the login, or an administrator cancelled it; try again, or raise the time-out",
    ),
    (
        (errors.IdleInTransactionSessionTimeout,),
        DisconnectedError,
        "the server ended a transaction in {name} that did nothing for longer than `idle_transaction_seconds`: nothing of "
        "it was stored; this process was paused or overloaded: try again",
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
        (errors.ProgramLimitExceeded,),
        InputError,
        "{name} cannot hold a value of this length ({error}): use shorter names and ids",
    ),
    (
        (NotConnected,),
        DisconnectedError,
        "no connection to {name}: {error}; look at the host, port, user, password and name in the address, and at the server",
    ),
    (
        (psycopg.OperationalError, psycopg.InterfaceError),
        DisconnectedError,
        "the connection to {name} was lost ({error}); what was acknowledged is kept: try again",
    ),
    ((psycopg.Error,), StoreError, "{name}: {error}"),
)


_NEWER_SCHEMA: Final = "SW001"
"""The SQLSTATE that the function `refuse_newer` raises, with the number of the schema."""


def translated(error: psycopg.Error, name: str, knows: int = 0) -> SlowwaveError:
    """The error of Slowwave that says what to do next. Raise it `from` the original.

    `knows` is the newest schema that this program knows.
    """
    said = " ".join((error.diag.message_primary or str(error)).split())  # the details may quote a row
    if error.diag.sqlstate == _NEWER_SCHEMA:
        return newer_schema(int(said), knows, name)
    for kinds, meant, sentence in _MEANING:
        if isinstance(error, kinds):
            return meant(sentence.format(name=name, error=said))
    return StoreError(said)
