"""The state of the workers' queue, read from the tables of DBOS and from those of the store."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from slowwave.model.fleet import ALIVE
from slowwave.pipelines.sleep.lease import has_exited
from slowwave.stores.address import checked

if TYPE_CHECKING:
    import psycopg

SCHEMA: Final = "slowwave_queue"
"""The database schema of the DBOS tables."""
QUEUE: Final = "passes"
"""The queue: each job is a list of names of scopes."""

_EXISTS: Final = """
SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = 'workflow_status'
"""
_JOBS: Final = f"""
SELECT s.workflow_uuid, s.status, s.executor_id, coalesce(i.inputs, s.inputs)
FROM {SCHEMA}.workflow_status s LEFT JOIN {SCHEMA}.workflow_input i USING (workflow_uuid)
WHERE s.queue_name = '{QUEUE}' AND s.status IN ('ENQUEUED', 'DELAYED', 'PENDING')
"""  # noqa: S608 - constants of this module
_WORKERS: Final = """
SELECT number, name, process, version, extract(epoch FROM clock_timestamp()) - renewed / 1e6 FROM slowwave.workers
WHERE abs(extract(epoch FROM clock_timestamp()) - renewed / 1e6) < %s ORDER BY began
"""


class RunningWorker(NamedTuple):
    """A worker that runs: its number, its machine and process, its version of Slowwave, and the age of its row in seconds."""

    number: int
    name: str
    version: str
    renewed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """The state of the queue.

    Args:
        readable: whether this login may read the tables of the queue; if not, `waiting` and `running` are empty.
        waiting: scopes with a queued sleep pass.
        running: scopes of jobs that are under way.
        workers: the workers that run.
    """

    readable: bool = True
    waiting: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()
    workers: tuple[RunningWorker, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job of the queue that waits or runs."""

    key: str
    waits: bool
    worker: int
    scopes: tuple[str, ...]


def queue_status(address: str) -> QueueStatus | None:
    """Return the state of the queue of a Postgres store; None if no worker has used the store.

    Raises:
        StoreError: the server cannot be reached.
    """
    import psycopg  # noqa: PLC0415 - needs the extra

    from slowwave.stores.postgres.errors import translated  # noqa: PLC0415 - needs the extra

    try:
        with connection(address) as db:
            there = db.execute(_EXISTS.encode(), (SCHEMA,)).fetchone()
            if there is None:
                return None
            return status_of(db, live_jobs(db) if there[0] else (), readable=there[0])
    except psycopg.Error as error:
        raise translated(error, "the queue") from error


def live_jobs(db: "psycopg.Connection[Any]") -> tuple[Job, ...]:
    """The jobs that wait or run."""
    return tuple(
        Job(key=key, waits=status != "PENDING", worker=int(worker or 0), scopes=tuple(json.loads(inputs)["args"][0]))
        for key, status, worker, inputs in db.execute(_JOBS.encode())
    )


def status_of(db: "psycopg.Connection[Any]", jobs: tuple[Job, ...], *, readable: bool = True) -> QueueStatus:
    """The state of the queue with these jobs."""
    return QueueStatus(
        readable=readable,
        waiting=frozenset(scope for job in jobs if job.waits for scope in job.scopes),
        running=frozenset(scope for job in jobs if not job.waits for scope in job.scopes),
        workers=running_workers(db),
    )


def running_workers(db: "psycopg.Connection[Any]") -> tuple[RunningWorker, ...]:
    """The workers that renewed their rows lately, and of this machine have not ended, the oldest first."""
    rows = db.execute(_WORKERS.encode(), (ALIVE,)).fetchall()
    return tuple(
        RunningWorker(number, name, version, float(age))
        for number, name, process, version, age in rows
        if not has_exited(process)
    )


def connection(address: str) -> "psycopg.Connection[Any]":
    """A connection of its own to the database of the store."""
    from slowwave.stores.postgres.pool import connected  # noqa: PLC0415 - needs the extra

    return connected(checked(address))
