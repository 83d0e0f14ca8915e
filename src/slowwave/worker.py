"""Workers: sleep passes of a Postgres store on many machines, on DBOS queues in the same database.

DBOS stores the names of scopes and the results of passes, never memory content. The store's lease ensures that one
process at a time sleeps a scope, and rejects the writes of a process whose lease has expired.
"""

import json
import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from slowwave.errors import InputError, ReadOnlyError, SettingsError, SlowwaveError
from slowwave.pipelines.sleep.all_scopes import due_scopes, sleep_scope
from slowwave.pipelines.sleep.report import ELSEWHERE, SleepReport
from slowwave.stores.address import checked

if TYPE_CHECKING:
    import psycopg

    from slowwave.agent_memory import AgentMemory

SCHEMA: Final = "slowwave_queue"
"""The database schema of the DBOS tables."""
TRIES: Final = 3
"""Failed sleep passes of a scope after which it becomes a dead letter: no worker tries it until `Worker.retry`."""
AT_ONCE: Final = 8
"""Sleep passes at once, over all workers."""
POLL: Final = 0.25
"""Seconds between two polls of the queue by DBOS."""
PATIENCE: Final = 3600
"""Seconds that a closing worker waits for its sleep passes to end."""

_APP: Final = "slowwave"
_VERSION: Final = "1"
"""The version of the job format, not of Slowwave: after an upgrade, workers take over the waiting jobs."""
_QUEUE: Final = "nights"
_WORKFLOW: Final = "night"
_SLEPT: Final = "slept"
_ELSEWHERE: Final = "elsewhere"
_LOCK_CLASS: Final = 0x736C7778
""""slwx": the class id of the advisory locks that running workers hold. The object id is the number of the worker."""
_READ_MAX: Final = 20_000

_QUEUE_EXISTS: Final = """
SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = 'workflow_status'
AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
"""
_JOBS: Final = f"""
SELECT j.workflow_uuid, j.status, j.executor_id, o.output, o.error
FROM {SCHEMA}.workflow_status j LEFT JOIN {SCHEMA}.workflow_output o USING (workflow_uuid)
WHERE j.name = '{_WORKFLOW}' ORDER BY j.created_at LIMIT {_READ_MAX}
"""  # noqa: S608 - constants of this module
_WORKERS: Final = """
SELECT objid::bigint FROM pg_locks
WHERE locktype = 'advisory' AND classid = %s AND granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_KEEPALIVE: Final = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
"""The server notices within a minute that the machine of a worker is gone, and releases its lock."""

OnProgress = Callable[[str, SleepReport | str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The failed sleep passes of a scope since its latest successful one. A worker that ended during one counts too."""

    tries: int
    error: str

    @property
    def dead(self) -> bool:
        """Whether the scope is a dead letter, which no worker tries."""
        return self.tries >= TRIES

    def __str__(self) -> str:
        return f"{self.tries} nights failed, the last with {self.error}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """The state of the queue.

    Args:
        waiting: scopes with a queued sleep pass.
        running: scopes with a sleep pass under way.
        failed: the failures of each scope that has some.
        workers: how many workers are running.
    """

    waiting: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()
    failed: Mapping[str, Failed] = field(default_factory=dict)
    workers: int = 0

    @property
    def dead(self) -> tuple[str, ...]:
        """The dead letters, by name: scopes that failed so often that no worker tries them."""
        return tuple(sorted(scope for scope, failure in self.failed.items() if failure.dead))


def queue_status(address: str) -> QueueStatus | None:
    """Return the state of the queue of a Postgres store; None if there is no queue, or the login may not read it.

    Raises:
        StoreError: the server cannot be reached.
    """
    import psycopg  # noqa: PLC0415 - needs the extra

    from slowwave.stores.postgres.errors import translated  # noqa: PLC0415 - needs the extra

    try:
        with _connected(address) as db:
            exists = db.execute(_QUEUE_EXISTS.encode(), (SCHEMA,)).fetchone()
            return _read(_jobs(db), _workers(db))[0] if exists else None
    except psycopg.Error as error:
        raise translated(error, "the queue") from error


class Worker:
    """A worker of a store. Open the store, call `look` repeatedly, and close the store. A process can have one worker.

    Args:
        memory: an open memory of the store. All sleep passes use its mind, embedder and config.
        address: "postgresql://…", with a login that may create a schema, or whose schema exists.
        at_once: sleep passes at once, over all workers; at least 1.
        per_minute: sleep passes started per minute, over all workers, to limit the load of a shared model; None: no
            limit.
        think: False: ask no model.
        on_progress: called with the scope and its report, or the message of the error, after each pass. Many threads call it.

    Raises:
        InputError: `at_once` or `per_minute` is less than 1.
        SettingsError: DBOS is not installed, or the address is not one of Postgres.
        StoreError: the queue cannot be created, or the server cannot be reached.
    """

    def __init__(
        self,
        memory: "AgentMemory",
        address: str,
        *,
        at_once: int = AT_ONCE,
        per_minute: int | None = None,
        think: bool = True,
        on_progress: OnProgress | None = None,
    ) -> None:
        if at_once < 1 or (per_minute is not None and per_minute < 1):
            raise InputError("at_once and per_minute must be at least 1")
        if not address.startswith(("postgresql://", "postgres://")):
            raise SettingsError("workers need a Postgres store: give postgresql://…; for a file use `sleep_due`")
        self._memory, self._address, self._think = memory, address, think
        self._on_progress: OnProgress = on_progress or _ignore_progress
        self._number = secrets.randbelow(2**31)
        self._lock_connection: psycopg.Connection[Any] | None = None
        self._dbos = _dbos()
        try:
            with _translated_errors(memory.ports.store.name):
                self._launch(at_once, per_minute)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Start no more sleep passes, and wait for those under way. Other workers take over the queue."""
        self._dbos.DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=PATIENCE)
        if self._lock_connection is not None:
            self._lock_connection.close()

    def look(self) -> QueueStatus:
        """Queue every due scope, cancel the jobs of workers that have ended, and delete the jobs that succeeded.

        Workers may call it at any rate: the queue contains a scope once.

        Returns:
            The state of the queue before it.

        Raises:
            StoreError: the server cannot be reached; try again later.
        """
        with _translated_errors(self._memory.ports.store.name):
            db = self._locked_connection()
            jobs, workers = _jobs(db), _workers(db)
            abandoned = [job.key for job in jobs if job.status == "PENDING" and job.worker not in workers]
            if abandoned:  # they count as failures; the store ends their leases
                self._dbos.DBOS.cancel_workflows(abandoned)
                jobs = _jobs(db)
            status, finished = _read(jobs, workers)
            if finished:
                self._dbos.DBOS.delete_workflows(finished)
            # A running scope is skipped: it may become a dead letter before this ends. The next look queues it.
            skipped = status.waiting | status.running | set(status.dead)
            for scope in due_scopes(self._memory.ports):
                if scope not in skipped:
                    self._queue(scope)
        return status

    def retry(self) -> int:
        """Forget the failures of dead letters, so that the next `look` queues them. Returns how many there were."""
        with _translated_errors(self._memory.ports.store.name):
            db = self._locked_connection()
            jobs = _jobs(db)
            dead = _read(jobs, _workers(db))[0].dead
            if dead:
                self._dbos.DBOS.delete_workflows([job.key for job in jobs if job.failed and job.scope in dead])
        return len(dead)

    def _launch(self, at_once: int, per_minute: int | None) -> None:
        dbos = self._dbos
        dbos.DBOS(
            config={
                "name": _APP,
                "application_version": _VERSION,
                "executor_id": str(self._number),
                "system_database_url": self._address,
                "dbos_system_schema": SCHEMA,
                "max_executor_threads": at_once + 4,
                "log_level": "CRITICAL",  # `look` and `on_progress` report failures
                "serializer": _serializer(dbos),
            }
        )

        def sleep(scope: str) -> str:
            return self._sleep(scope)

        self._workflow = dbos.DBOS.workflow(name=_WORKFLOW)(sleep)
        self._locked_connection()
        dbos.DBOS.launch()
        dbos.DBOS.register_queue(
            _QUEUE,
            global_concurrency=at_once,
            limiter=None if per_minute is None else {"limit": per_minute, "period": 60.0},
            polling_interval_sec=POLL,
            on_conflict="always_update",
        )

    def _locked_connection(self) -> "psycopg.Connection[Any]":
        """The connection that holds this worker's advisory lock, which shows other workers that it runs."""
        if self._lock_connection is None or self._lock_connection.closed:
            self._lock_connection = _connected(self._address)
            self._lock_connection.execute(_KEEPALIVE.encode())
            self._lock_connection.execute("SELECT pg_advisory_lock(%s, %s)", (_LOCK_CLASS, self._number))
        return self._lock_connection

    def _queue(self, scope: str) -> None:
        dbos = self._dbos
        with (
            dbos.SetWorkflowID(f"{scope}/{uuid.uuid4().hex}"),
            dbos.SetEnqueueOptions(deduplication_id=scope, duplication_policy="return-existing"),
        ):
            dbos.DBOS.enqueue_workflow(_QUEUE, self._workflow, scope)

    def _sleep(self, scope: str) -> str:
        """Run one sleep pass. DBOS records an error as a failure of the job."""
        try:
            report = sleep_scope(self._memory.ports, scope, think=self._think)
        except SlowwaveError as error:
            self._on_progress(scope, str(error))
            raise
        self._on_progress(scope, report)
        return _ELSEWHERE if ELSEWHERE in report.left else _SLEPT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A row of the queue. Its key is the scope, a slash and a random id."""

    key: str
    status: str
    worker: int
    outcome: str
    error: str

    @property
    def scope(self) -> str:
        return self.key.rpartition("/")[0]

    @property
    def failed(self) -> bool:
        return self.status in {"ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"}


def _jobs(db: "psycopg.Connection[Any]") -> list[_Job]:
    return [
        _Job(
            key=key,
            status=status,
            worker=int(worker or 0),
            outcome=json.loads(output) if status == "SUCCESS" and output else "",
            error=json.loads(error)["error"] if error else "the end of its worker",
        )
        for key, status, worker, output, error in db.execute(_JOBS.encode())
    ]


def _workers(db: "psycopg.Connection[Any]") -> frozenset[int]:
    return frozenset(number for (number,) in db.execute(_WORKERS.encode(), (_LOCK_CLASS,)))


def _read(jobs: list[_Job], workers: frozenset[int]) -> tuple[QueueStatus, list[str]]:
    """The state of the queue, and the keys of jobs to delete: successful passes, and the failures before one."""
    failed: dict[str, list[_Job]] = {}
    finished: list[str] = []
    for job in jobs:  # oldest first
        if job.failed:
            failed.setdefault(job.scope, []).append(job)
        elif job.outcome:
            before = failed.pop(job.scope, []) if job.outcome == _SLEPT else []
            finished += [job.key, *(failure.key for failure in before)]
    status = QueueStatus(
        waiting=frozenset(job.scope for job in jobs if job.status in {"ENQUEUED", "DELAYED"}),
        running=frozenset(job.scope for job in jobs if job.status == "PENDING"),
        failed={scope: Failed(tries=len(rows), error=rows[-1].error) for scope, rows in failed.items()},
        workers=len(workers),
    )
    return status, finished


def _connected(address: str) -> "psycopg.Connection[Any]":
    from slowwave.stores.postgres.pool import connected  # noqa: PLC0415 - needs the extra

    return connected(checked(address))


@contextmanager
def _translated_errors(name: str) -> Iterator[None]:
    """Raise the database errors of this module and of DBOS as StoreErrors."""
    import psycopg  # noqa: PLC0415 - needs the extra
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415 - DBOS installs it

    from slowwave.stores.postgres.errors import translated  # noqa: PLC0415 - needs the extra

    try:
        yield
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


def _dbos() -> ModuleType:
    try:
        import dbos  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        raise SettingsError(f"a worker needs an extra ({error}): pip install 'slowwave[worker]'") from error
    return dbos


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


def _ignore_progress(_scope: str, _result: SleepReport | str) -> None:
    """Discard progress reports (the default callback)."""
