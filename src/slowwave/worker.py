"""Workers: nights of a Postgres store on as many machines as one likes, on DBOS queues in the same database.

DBOS is a driver only: it keeps the names of scopes and how a night ended, never a memory. What a night does, and that
it happens once, is the store's matter: its lease admits one sleeper, and fences whoever was away for too long.
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
"""Where DBOS keeps its tables, beside the store's own schema."""
TRIES: Final = 3
"""Nights of a scope that may fail before it is a dead letter: left alone until a person says `retry`."""
AT_ONCE: Final = 8
POLL: Final = 0.25
"""Seconds between two looks of a worker into the queue."""
PATIENCE: Final = 3600
"""Seconds that nights under way get to end when a worker stops."""

_APP: Final = "slowwave"
_VERSION: Final = "1"
"""Of the jobs, which are names of scopes: an upgrade of Slowwave takes over what is waiting."""
_QUEUE: Final = "nights"
_NIGHT: Final = "night"
_SLEPT: Final = "slept"
_ELSEWHERE: Final = "elsewhere"
_ALIVE: Final = 0x736C7778
""""slwx": the class of the advisory locks by which workers are known to live; the number beside it is the worker's."""
_READ_MAX: Final = 20_000

_THERE: Final = """
SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = 'workflow_status'
AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
"""
_JOBS: Final = f"""
SELECT j.workflow_uuid, j.status, j.executor_id, o.output, o.error
FROM {SCHEMA}.workflow_status j LEFT JOIN {SCHEMA}.workflow_output o USING (workflow_uuid)
WHERE j.name = '{_NIGHT}' ORDER BY j.created_at LIMIT {_READ_MAX}
"""  # noqa: S608 - constants of this page
_WORKERS: Final = """
SELECT objid::bigint FROM pg_locks
WHERE locktype = 'advisory' AND classid = %s AND granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_KNOCK: Final = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
"""A worker whose machine is gone is found out within a minute."""

Told = Callable[[str, SleepReport | str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Nights of a scope that failed, or whose worker ended in the middle, since one last went well."""

    tries: int
    error: str

    @property
    def dead(self) -> bool:
        """Whether it is left alone now."""
        return self.tries >= TRIES

    def __str__(self) -> str:
        return f"{self.tries} nights failed, the last with {self.error}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """How the queue stands: scopes that wait, scopes that are slept, nights that failed by scope, and live workers."""

    waiting: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()
    failed: Mapping[str, Failed] = field(default_factory=dict)
    workers: int = 0

    @property
    def dead(self) -> tuple[str, ...]:
        """The dead letters: scopes that no worker tries any more."""
        return tuple(sorted(scope for scope, one in self.failed.items() if one.dead))


def queue_status(address: str) -> QueueStatus | None:
    """How the queue of a Postgres store stands; None where there is none, or none that this login may see.

    Raises:
        StoreError: if the server cannot be reached.
    """
    import psycopg  # noqa: PLC0415 - of the extra

    from slowwave.stores.postgres.errors import translated  # noqa: PLC0415 - needs the extra

    try:
        with _connected(address) as db:
            there = db.execute(_THERE.encode(), (SCHEMA,)).fetchone()
            return _read(_jobs(db), _workers(db))[0] if there else None
    except psycopg.Error as error:
        raise translated(error, "the queue") from error


class Worker:
    """One worker of a store: open it, `look` again and again, close it. One for each process.

    Args:
        memory: an open memory of the store; its mind, embedder and numbers are those of all nights.
        address: "postgresql://…", of a login that may create a schema, or for which one was made.
        at_once: nights at once, over all workers.
        per_minute: nights begun a minute, over all workers: the brake for a language model that all of them share.
            None: as many as come.
        think: whether a model is asked.
        told: called with each scope and the report of its night, or why it failed; from many threads.

    Raises:
        SettingsError: DBOS is not installed, or the address is none of Postgres.
        StoreError: the queue cannot be made or reached.
    """

    def __init__(
        self,
        memory: "AgentMemory",
        address: str,
        *,
        at_once: int = AT_ONCE,
        per_minute: int | None = None,
        think: bool = True,
        told: Told | None = None,
    ) -> None:
        if at_once < 1 or (per_minute is not None and per_minute < 1):
            raise InputError("a worker sleeps at least one scope at once, and one a minute")
        if not address.startswith(("postgresql://", "postgres://")):
            raise SettingsError("workers share a Postgres store: give postgresql://…; a file has `sleep --due`")
        self._memory, self._address, self._think = memory, address, think
        self._told: Told = told or _silent
        self._number = secrets.randbelow(2**31)
        self._alive: psycopg.Connection[Any] | None = None
        self._dbos = _dbos()
        try:
            with _in_our_words(memory.ports.store.name):
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
        """Begin no more nights, and wait for those under way; what is queued waits for other workers."""
        self._dbos.DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=PATIENCE)
        if self._alive is not None:
            self._alive.close()

    def look(self) -> QueueStatus:
        """Queue every scope that is due and not queued yet; free what dead workers held; forget what ended well.

        Every worker may look as often as it likes: a scope is in the queue once. Returns how the queue stood before.

        Raises:
            StoreError: the server is away; look again.
        """
        with _in_our_words(self._memory.ports.store.name):
            db = self._live()
            jobs, workers = _jobs(db), _workers(db)
            abandoned = [job.key for job in jobs if job.status == "PENDING" and job.worker not in workers]
            if abandoned:  # their leases are the store's matter; the rows count as failed nights from now on
                self._dbos.DBOS.cancel_workflows(abandoned)
                jobs = _jobs(db)
            stands, over = _read(jobs, workers)
            if over:
                self._dbos.DBOS.delete_workflows(over)
            # Who was at work when we looked may have failed since, for the last time: the next look will know.
            left_alone = stands.waiting | stands.running | set(stands.dead)
            for scope in due_scopes(self._memory.ports):
                if scope not in left_alone:
                    self._queue(scope)
        return stands

    def retry(self) -> int:
        """Try dead letters again at the next look. Returns how many there were."""
        with _in_our_words(self._memory.ports.store.name):
            db = self._live()
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
                "log_level": "CRITICAL",  # what went wrong is told by `look` and `told`, in our words
                "serializer": _plain(dbos),
            }
        )

        def slept(scope: str) -> str:
            return self._slept(scope)

        self._night = dbos.DBOS.workflow(name=_NIGHT)(slept)
        self._live()
        dbos.DBOS.launch()
        dbos.DBOS.register_queue(
            _QUEUE,
            global_concurrency=at_once,
            limiter=None if per_minute is None else {"limit": per_minute, "period": 60.0},
            polling_interval_sec=POLL,
            on_conflict="always_update",
        )

    def _live(self) -> "psycopg.Connection[Any]":
        """A connection that holds the lock by which others know that this worker lives; it ends with the process."""
        if self._alive is None or self._alive.closed:
            self._alive = _connected(self._address)
            self._alive.execute(_KNOCK.encode())
            self._alive.execute("SELECT pg_advisory_lock(%s, %s)", (_ALIVE, self._number))
        return self._alive

    def _queue(self, scope: str) -> None:
        dbos = self._dbos
        with (
            dbos.SetWorkflowID(f"{scope}/{uuid.uuid4().hex}"),
            dbos.SetEnqueueOptions(deduplication_id=scope, duplication_policy="return-existing"),
        ):
            dbos.DBOS.enqueue_workflow(_QUEUE, self._night, scope)

    def _slept(self, scope: str) -> str:
        """One night, as `sleep --due` has it; whatever it raises is counted."""
        try:
            report = sleep_scope(self._memory.ports, scope, think=self._think)
        except SlowwaveError as error:
            self._told(scope, str(error))
            raise
        self._told(scope, report)
        return _ELSEWHERE if ELSEWHERE in report.left else _SLEPT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A row of the queue: its key begins with the scope."""

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
    return frozenset(number for (number,) in db.execute(_WORKERS.encode(), (_ALIVE,)))


def _read(jobs: list[_Job], workers: frozenset[int]) -> tuple[QueueStatus, list[str]]:
    """How the queue stands, and the rows that nobody needs any more: nights that ended well, and failures before one."""
    failed: dict[str, list[_Job]] = {}
    over: list[str] = []
    for job in jobs:  # the oldest first
        if job.failed:
            failed.setdefault(job.scope, []).append(job)
        elif job.outcome:
            before = failed.pop(job.scope, []) if job.outcome == _SLEPT else []
            over += [job.key, *(one.key for one in before)]
    stands = QueueStatus(
        waiting=frozenset(job.scope for job in jobs if job.status in {"ENQUEUED", "DELAYED"}),
        running=frozenset(job.scope for job in jobs if job.status == "PENDING"),
        failed={scope: Failed(tries=len(some), error=some[-1].error) for scope, some in failed.items()},
        workers=len(workers),
    )
    return stands, over


def _connected(address: str) -> "psycopg.Connection[Any]":
    from slowwave.stores.postgres.pool import connected  # noqa: PLC0415 - needs the extra

    return connected(checked(address))


@contextmanager
def _in_our_words(name: str) -> Iterator[None]:
    """What the server says, to us or to DBOS, as the errors of this house."""
    import psycopg  # noqa: PLC0415 - of the extra
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415 - DBOS brings it

    from slowwave.stores.postgres.errors import translated  # noqa: PLC0415 - needs the extra

    try:
        yield
    except (psycopg.Error, DBAPIError) as error:
        told = getattr(error, "orig", error)
        if isinstance(told, psycopg.errors.InsufficientPrivilege):
            raise ReadOnlyError(
                f"the workers' login lacks a permission ({told}): as the owner of the database run `GRANT CREATE ON "
                "DATABASE … TO` it; all workers need the same login, that of the first"
            ) from error
        if not isinstance(told, psycopg.Error):
            raise
        raise translated(told, name) from error


def _dbos() -> ModuleType:
    try:
        import dbos  # noqa: PLC0415 - of the extra
    except ImportError as error:
        raise SettingsError(f"a worker needs an extra ({error}): pip install 'slowwave[worker]'") from error
    return dbos


def _plain(dbos: ModuleType) -> Any:  # noqa: ANN401 - a class of DBOS's
    """Writes names as JSON, and of an error its kind only: its words may quote a memory."""

    class Plain(dbos.Serializer):  # type: ignore[misc,name-defined]  # a module that is loaded late
        def name(self) -> str:
            return _APP

        def serialize(self, data: object) -> str:
            return json.dumps({"error": type(data).__name__} if isinstance(data, BaseException) else data)

        def deserialize(self, serialized_data: str) -> object:
            return json.loads(serialized_data)

    return Plain()


def _silent(_scope: str, _told: SleepReport | str) -> None:
    """Tell nobody."""
