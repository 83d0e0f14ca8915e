"""DBOS as workers use it: its configuration, a serializer without texts, and its errors as those of Slowwave.

A worker holds at most `DBOS_CONNECTIONS` connections for the queue, uses no LISTEN and no lock that outlives a transaction,
and prepares no statement, so that it also runs through a pooler in transaction mode.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

from slowwave.errors import ReadOnlyError, SettingsError
from slowwave.stores.address import checked
from slowwave.worker.queue import SCHEMA

DBOS_CONNECTIONS: Final = 2
"""Connections of a worker to the tables of the queue."""
JOB_FORMAT: Final = "2"
"""The version of the job format, not of Slowwave: after an upgrade, workers take over the waiting jobs."""

_APP: Final = "slowwave"
_IDLE: Final = 120.0
"""Seconds between two looks of DBOS for schedules, which workers do not use."""


def load_dbos() -> ModuleType:
    """The module `dbos`.

    Raises:
        SettingsError: it is not installed.
    """
    try:
        import dbos  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        raise SettingsError(f"a worker needs an extra ({error}): pip install 'slowwave[worker]'") from error
    return dbos


def configuration(dbos: ModuleType, engine: Any, number: int, threads: int) -> dict[str, Any]:  # noqa: ANN401 - of SQLAlchemy
    """The configuration of DBOS for the worker of this number, which runs so many jobs at once."""
    return {
        "name": _APP,
        "application_version": JOB_FORMAT,
        "executor_id": str(number),
        "system_database_engine": engine,
        "dbos_system_schema": SCHEMA,
        "use_listen_notify": False,
        "scheduler_polling_interval_sec": _IDLE,
        "max_executor_threads": threads,
        "log_level": "CRITICAL",  # the worker reports failures
        "serializer": _serializer(dbos),
    }


def connection_pool(address: str) -> Any:  # noqa: ANN401 - an engine of SQLAlchemy
    """The connections of DBOS. The caller disposes of them: DBOS closes only what it opened."""
    import sqlalchemy as sa  # noqa: PLC0415 - DBOS installs it

    url = sa.make_url(checked(address)).set(drivername="postgresql+psycopg")
    return sa.create_engine(
        url,
        pool_size=DBOS_CONNECTIONS,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args={"prepare_threshold": None, "application_name": "slowwave_queue", "connect_timeout": 10},
    )


def _serializer(dbos: ModuleType) -> Any:  # noqa: ANN401 - a class of DBOS
    """A serializer that writes JSON, and only the class of an error: its message may quote a memory."""

    class JsonSerializer(dbos.Serializer):  # type: ignore[misc,name-defined]  # a module that is loaded when it is needed
        def name(self) -> str:
            return _APP

        def serialize(self, data: object) -> str:
            return json.dumps({"error": type(data).__name__} if isinstance(data, BaseException) else data)

        def deserialize(self, serialized_data: str) -> object:
            return json.loads(serialized_data)

    return JsonSerializer()


@contextmanager
def translated_errors(name: str) -> Iterator[None]:
    """Raise the database errors of workers and of DBOS as StoreErrors."""
    import psycopg  # noqa: PLC0415 - needs the extra
    from sqlalchemy.exc import DBAPIError, TimeoutError as NoConnection  # noqa: PLC0415 - DBOS installs it

    from slowwave.errors import BusyError  # noqa: PLC0415 - as above
    from slowwave.stores.postgres.errors import translated  # noqa: PLC0415 - needs the extra

    try:
        yield
    except NoConnection as error:
        raise BusyError(f"the connections of the queue of {name} stayed in use: look again later") from error
    except (psycopg.Error, DBAPIError) as error:
        cause = getattr(error, "orig", error)
        if isinstance(cause, psycopg.errors.InsufficientPrivilege):
            raise ReadOnlyError(
                f"the workers' login lacks a permission ({cause}): as the owner of the database run `GRANT CREATE ON "
                "DATABASE … TO` it; all workers need the same login, that of the first"
            ) from error
        if not isinstance(cause, psycopg.Error):
            raise
        raise translated(cause, name) from error
