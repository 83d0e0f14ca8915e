"""A worker: it queues the scopes that are due, and sleeps those of the jobs that DBOS gives it."""

import os
import platform
import secrets
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from slowwave import __version__
from slowwave.errors import InputError, SettingsError, SlowwaveError
from slowwave.model.fleet import ALIVE
from slowwave.pipelines.sleep.all_scopes import due_scopes, sleep_due_scope
from slowwave.pipelines.sleep.lease import process_identity
from slowwave.pipelines.sleep.report import ELSEWHERE, SleepReport
from slowwave.stores.address import SERVER
from slowwave.worker.engine import configuration, connection_pool, load_dbos, translated_errors
from slowwave.worker.queue import QUEUE, SCHEMA, Job, QueueStatus, connection, live_jobs, status_of

if TYPE_CHECKING:
    import psycopg

    from slowwave.agent_memory import AgentMemory

AT_ONCE: Final = 8
"""Sleep passes at once, over all workers, if no worker has set another limit."""
STORE_CONNECTIONS: Final = 3
"""Connections of a worker to the store, which its sleep passes share: a pass holds one only while it reads or writes."""
POLL: Final = 0.25
"""Seconds between two polls of the queue by DBOS."""
PATIENCE: Final = 3600
"""Seconds that a closing worker waits for its sleep passes to end."""
BEAT: Final = ALIVE / 4
"""Seconds between two renewals of the worker's row."""
JOB_SECONDS: Final = 3600
"""The time limit of a job. DBOS then gives its place to another job, and its scopes stay due."""
QUEUED: Final = 1000
"""How many scopes the queue holds; it is filled again when half of them are done."""
BATCH: Final = 20
"""The greatest number of scopes in a job. With a limit of passes per minute a job has one."""
KEPT: Final = 120
"""Seconds that finished jobs are kept: DBOS counts those of the last minute for the limit per minute."""

_WORKFLOW: Final = "sleep"
_LOOK_LOCK: Final = 0x736C7779
""""slwy": the class id of the lock of a look, which ends with its transaction: one worker at a time fills the queue."""
_RENEW: Final = """
INSERT INTO slowwave.workers (number, name, process, version, began, renewed)
VALUES (%(number)s, %(name)s, %(process)s, %(version)s, {now}, {now})
ON CONFLICT (number) DO UPDATE SET renewed = excluded.renewed
""".format(now="CAST(extract(epoch FROM clock_timestamp()) * 1e6 AS bigint)")
_FORGET: Final = """
DELETE FROM slowwave.workers
WHERE number = %s OR renewed < (extract(epoch FROM clock_timestamp()) - 86400) * 1e6
"""
_FINISHED: Final = f"""
SELECT workflow_uuid FROM {SCHEMA}.workflow_status
WHERE (queue_name = '{QUEUE}' AND status NOT IN ('ENQUEUED', 'DELAYED', 'PENDING')
        AND updated_at < (extract(epoch FROM clock_timestamp()) - {KEPT}) * 1000)
    OR (name = 'night' AND updated_at < (extract(epoch FROM clock_timestamp()) - 86400) * 1000)
LIMIT 10000
"""  # noqa: S608 - constants; `night` is the name of the jobs of older versions

OnProgress = Callable[[str, SleepReport | Exception, float], None]
"""Called with a scope, the report of its pass or the error, and the seconds that the pass took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetLimits:
    """The limits of all workers of a store, which the queue keeps.

    Attributes:
        at_once: sleep passes at once, over all workers.
        per_worker: sleep passes at once in each worker: a worker that is stopped holds no more places than these.
        per_minute: sleep passes begun per minute, over all workers; None: no limit.
    """

    at_once: int = AT_ONCE
    per_worker: int = AT_ONCE
    per_minute: int | None = None


class Worker:
    """A worker of a store. Open the store, call `look` repeatedly, and close the store. A process can have one worker.

    The limits belong to all workers of a store, and stay as they are until a worker with `set_limits` changes them.

    Args:
        memory: an open memory of the store. All sleep passes use its mind, embedder and config.
        address: "postgresql://…", with a login that may create a schema, or whose schema exists.
        at_once: sleep passes at once, over all workers; at least 1. None: as the store has it, at first 8.
        per_minute: sleep passes started per minute, over all workers, to limit the load of a shared model; 0: no limit.
            None: as the store has it, at first no limit.
        per_worker: sleep passes at once in each worker; at least 1. None: as the store has it, at first 8, or `at_once`
            if that is less.
        set_limits: whether to change the limits of all workers to these.
        think: False: ask no model.
        on_progress: called with the scope, its report or the error, and the seconds, after each pass. Many threads call it.

    Raises:
        InputError: a limit is out of range, or another one than that of the store and `set_limits` is False.
        SettingsError: DBOS is not installed, or the address is not one of Postgres.
        StoreError: the queue cannot be created, or the server cannot be reached.
    """

    def __init__(
        self,
        memory: "AgentMemory",
        address: str,
        *,
        at_once: int | None = None,
        per_minute: int | None = None,
        per_worker: int | None = None,
        set_limits: bool = False,
        think: bool = True,
        on_progress: OnProgress | None = None,
    ) -> None:
        for value, least in ((at_once, 1), (per_worker, 1), (per_minute, 0)):
            if value is not None and value < least:
                raise InputError("at_once and per_worker must be at least 1, per_minute at least 0 (no limit)")
        if not address.startswith(SERVER):
            raise SettingsError("workers need a Postgres store: give postgresql://…; for a file use `sleep_due`")
        from slowwave.stores.postgres.base import PostgresBase  # noqa: PLC0415 - needs the extra

        self._memory, self._address, self._think = memory, address, think
        self._on_progress: OnProgress = on_progress or _ignore_progress
        self.number = secrets.randbelow(2**31)
        self.name = process_name()
        self.more = False
        self._db: psycopg.Connection[Any] | None = None
        self._db_turn = threading.Lock()
        self._closing = threading.Event()
        self._renewed = time.monotonic()
        self._pauses = 0  # how often this process stood still for so long that others took its jobs
        self._dbos = load_dbos()
        self._engine = connection_pool(address)
        store = memory.ports.store
        if isinstance(store, PostgresBase):
            store.limit_connections(STORE_CONNECTIONS)
        try:
            with translated_errors(memory.ports.store.name):
                self.limits = self._launch(at_once, per_worker, per_minute, set_limits=set_limits)
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
        self._closing.set()
        self._dbos.DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=PATIENCE)
        self._engine.dispose()
        import psycopg  # noqa: PLC0415 - needs the extra

        with self._db_turn, suppress(psycopg.Error):  # a server that is down: the row ends by its age
            if self._db is not None:
                self._db.execute(_FORGET.encode(), (self.number,))
                self._db.close()

    def look(self) -> QueueStatus:
        """Queue due scopes if less than half of the queue is filled, and cancel the jobs of workers that have ended.

        Workers may call it at any rate: one at a time fills the queue, and a scope is in it once. `more` says whether more
        scopes may be due than the queue holds: then look again soon.

        Returns:
            The state of the queue before it.

        Raises:
            StoreError: the server cannot be reached; try again later.
        """
        with translated_errors(self._memory.ports.store.name), self._db_turn:
            db = self._connection()
            self._renew(db)
            self.more = False
            with db.transaction():
                first = db.execute("SELECT pg_try_advisory_xact_lock(%s, 1)", (_LOOK_LOCK,)).fetchone()
                jobs = live_jobs(db)
                status = status_of(db, jobs)
                if first and first[0]:
                    self._tidy(db, jobs, {worker.number for worker in status.workers})
                    self.more = len(status.waiting) * 2 >= QUEUED or self._fill(status)
        return status

    def _tidy(self, db: "psycopg.Connection[Any]", jobs: Sequence[Job], alive: set[int]) -> None:
        """Cancel the jobs of workers that have ended, whose scopes stay due, and delete finished jobs."""
        abandoned = [job.key for job in jobs if not job.waits and job.worker not in alive]
        if abandoned:
            self._dbos.DBOS.cancel_workflows(abandoned)
        finished = [key for (key,) in db.execute(_FINISHED.encode())]
        if finished:
            self._dbos.DBOS.delete_workflows(finished)

    def _fill(self, status: QueueStatus) -> bool:
        """Queue scopes that are due, in jobs of equal size: small ones if few scopes are due. Whether the queue is full now."""
        queued = status.waiting | status.running
        found = due_scopes(self._memory.ports, QUEUED + len(queued))
        room = QUEUED - len(status.waiting)
        scopes = [scope for scope in found if scope not in queued][:room]
        limits = self.limits = self._stored_limits() or self.limits
        size = max(1, min(BATCH, len(scopes) // (2 * limits.at_once)))
        if limits.per_minute is not None:
            size = 1
        for start in range(0, len(scopes), size):
            with self._dbos.SetWorkflowID(uuid.uuid4().hex), self._dbos.SetWorkflowTimeout(JOB_SECONDS):
                self._dbos.DBOS.enqueue_workflow(QUEUE, self._workflow, scopes[start : start + size])
        return len(scopes) == room

    def _launch(
        self, at_once: int | None, per_worker: int | None, per_minute: int | None, *, set_limits: bool
    ) -> FleetLimits:
        dbos = self._dbos
        threads = (per_worker or AT_ONCE) + 4
        dbos.DBOS(config=configuration(dbos, self._engine, self.number, threads))

        def sleep(scopes: list[str]) -> None:
            self._sleep(scopes)

        self._workflow = dbos.DBOS.workflow(name=_WORKFLOW)(sleep)
        with self._db_turn:
            self._renew(self._connection())
        dbos.DBOS.listen_queues([QUEUE])
        dbos.DBOS.launch()
        threading.Thread(target=self._beat, name="slowwave-worker", daemon=True).start()
        stored = self._stored_limits()
        known = stored or FleetLimits(at_once=at_once or AT_ONCE, per_worker=min(at_once or AT_ONCE, AT_ONCE))
        limits = FleetLimits(
            at_once=at_once or known.at_once,
            per_worker=min(per_worker or known.per_worker, at_once or known.at_once),
            per_minute=known.per_minute if per_minute is None else per_minute or None,
        )
        if stored is None or (set_limits and limits != stored):
            self._store_limits(limits, over="update_if_latest_version" if set_limits else "never_update")
        elif limits != stored:
            raise InputError(
                f"the workers of this store have other limits ({_shown(stored)}): leave yours out, or change those of all "
                "workers with `set_limits`"
            )
        return self._stored_limits() or limits

    def _stored_limits(self) -> FleetLimits | None:
        queue = self._dbos.DBOS.retrieve_queue(QUEUE)
        if queue is None:
            return None
        limiter = queue.limiter
        return FleetLimits(
            at_once=queue.global_concurrency,
            per_worker=queue.worker_concurrency,
            per_minute=limiter["limit"] if limiter else None,
        )

    def _store_limits(self, limits: FleetLimits, *, over: str) -> None:
        self._dbos.DBOS.register_queue(
            QUEUE,
            global_concurrency=limits.at_once,
            worker_concurrency=limits.per_worker,
            limiter=None if limits.per_minute is None else {"limit": limits.per_minute, "period": 60.0},
            polling_interval_sec=POLL,
            on_conflict=over,
        )

    def _connection(self) -> "psycopg.Connection[Any]":
        """The connection for the worker's own statements; opened again if it was lost. The caller holds its lock."""
        if self._db is None or self._db.closed:
            self._db = connection(self._address)
        return self._db

    def _renew(self, db: "psycopg.Connection[Any]") -> None:
        """Renew this worker's row, by which the others know that it runs."""
        values = {"number": self.number, "name": self.name, "process": process_identity(), "version": __version__}
        db.execute(_RENEW.encode(), values)
        now = time.monotonic()
        if now - self._renewed > ALIVE:
            self._pauses += 1
        self._renewed = now

    def _beat(self) -> None:
        import psycopg  # noqa: PLC0415 - needs the extra

        while not self._closing.wait(BEAT):
            with self._db_turn, suppress(psycopg.Error):  # a server that is down: the next beat tries again
                self._renew(self._connection())

    def _sleep(self, scopes: Sequence[str]) -> None:
        """Run the sleep passes of a job. It ends early if the worker closes, or stood still so long that others took over."""
        pauses, ends = self._pauses, time.monotonic() + JOB_SECONDS
        for scope in scopes:
            now = time.monotonic()
            if self._closing.is_set() or now > ends or now - self._renewed > ALIVE or self._pauses != pauses:
                return  # the scopes that were not reached stay due
            self._sleep_one(scope)

    def _sleep_one(self, scope: str) -> None:
        """Run one sleep pass, and report its result. The store counts a failure; an error in the program also ends the job."""
        begun = time.monotonic()
        result: SleepReport | Exception | None = None
        try:
            result = sleep_due_scope(self._memory.ports, scope, think=self._think)
        except SlowwaveError as error:
            result = error
        finally:
            unexpected = sys.exception()
            if isinstance(unexpected, Exception):
                result = unexpected
            if isinstance(result, Exception) or (result is not None and ELSEWHERE not in result.left):
                self._on_progress(scope, result, time.monotonic() - begun)


def _shown(limits: FleetLimits) -> str:
    most = "no limit" if limits.per_minute is None else limits.per_minute
    return f"at_once={limits.at_once}, per_worker={limits.per_worker}, per_minute={most}"


def _ignore_progress(_scope: str, _result: SleepReport | Exception, _seconds: float) -> None:
    """Discard progress reports (the default callback)."""


def process_name() -> str:
    """The name of a worker for people: its machine and process."""
    return f"{platform.node()}:{os.getpid()}"
