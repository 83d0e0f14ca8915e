"""Jobs: sleep passes, consolidations and imports that run on threads, with their progress as numbered events."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.log import Log
from slowwave.pipelines.planning import new_id
from slowwave.server.access.errors import OverloadedError
from slowwave.server.work.plans import Plans

State: TypeAlias = Literal["waiting", "running", "done", "failed"]
JobKind: TypeAlias = Literal["sleep", "consolidate", "import"]
Report: TypeAlias = Callable[[float, float | None], None]
"""Called with what is done, and what there is in all; None: that is unknown."""
AT_ONCE: Final = 4
"""Jobs that run at once; the others wait."""
WAITING_MOST: Final = 100
"""Jobs that wait or run; more are refused."""
KEPT_MOST: Final = 1000
"""Ended jobs whose result can be read."""
EVENTS_MOST: Final = 1000
"""Events of a job that a client can still read; earlier ones are dropped."""
_log: Final = Log("server")


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One event of a job: its number from 1, its name, and its values."""

    number: int
    name: str
    values: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Job:
    """One piece of work in a scope.

    Attributes:
        id: its id.
        scope: the scope that it works in.
        kind: what it does.
        created_at: when it was accepted.
        state: how far it is.
        done: how much is done, in steps, messages or bytes.
        total: how much there is in all; None if that is unknown.
        result: its result as JSON values, once it is done.
        error: why it failed.
    """

    id: str
    scope: str
    kind: JobKind
    created_at: datetime
    state: State = "waiting"
    done: float = 0
    total: float | None = None
    result: Any = None
    error: SlowwaveError | None = None
    _events: list[JobEvent] = field(default_factory=list)
    _number: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def report(self, done: float, total: float | None) -> None:
        """Record progress. The thread of the job calls it."""
        self._change("progress", {"done": done, "total": total}, done=done, total=total)

    def begin(self) -> None:
        """Record that it runs."""
        self._change("state", {"state": "running"}, state="running")

    def end(self, result: object) -> None:
        """Record its result."""
        self._change("state", {"state": "done"}, state="done", done=self.total or self.done, result=result)

    def fail(self, error: SlowwaveError) -> None:
        """Record why it failed."""
        self._change("state", {"state": "failed", "detail": str(error)}, state="failed", error=error)

    @property
    def has_ended(self) -> bool:
        """Whether it has a result or has failed."""
        return self.state in {"done", "failed"}

    def events_after(self, number: int) -> tuple[list[JobEvent], bool]:
        """The events after a number, and whether no more will come."""
        with self._lock:
            return [event for event in self._events if event.number > number], self.has_ended

    def _change(self, name: str, values: dict[str, Any], **attributes: Any) -> None:  # noqa: ANN401 - of the job
        with self._lock:
            for attribute, value in attributes.items():
                setattr(self, attribute, value)
            self._number += 1
            self._events.append(JobEvent(self._number, name, values))
            del self._events[:-EVENTS_MOST]


class Jobs:
    """The jobs of a process. They are lost when it ends; what they stored is not, and what they did not do stays due."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._forgotten: dict[str, Plans] = {}  # where the plans of jobs are that are dropped when they end, by id
        self._threads = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="slowwave-job")

    def start(self, scope: str, kind: JobKind, work: Callable[[Report], object]) -> Job:
        """Accept a job, which begins as soon as a thread is free.

        Args:
            scope: the scope that it works in.
            kind: what it does.
            work: does it; called with a function that takes the progress. Its result is JSON values.

        Raises:
            OverloadedError: too many jobs wait.
        """
        now = datetime.now(UTC)
        job = Job(id=new_id(now), scope=scope, kind=kind, created_at=now)
        with self._lock:
            if sum(not other.has_ended for other in self._jobs.values()) >= WAITING_MOST:
                raise OverloadedError(f"{WAITING_MOST} jobs are waiting or running: send the request again later")
            self._jobs[job.id] = job
            ended = [other.id for other in self._jobs.values() if other.has_ended]
            for identity in ended[: max(0, len(ended) - KEPT_MOST)]:
                del self._jobs[identity]
        self._threads.submit(self._run, job, work)
        return job

    def get(self, scope: str, job_id: str) -> Job:
        """A job of a scope.

        Raises:
            NotFoundError: there is none of this id in this process; the error says where its results are.
        """
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None or job.scope != scope:
            raise NotFoundError(
                f"no job {job_id!r} in scope {scope}: a server forgets its jobs when it restarts or when memories of the scope are "
                "erased, and does not know those of another process. The list of runs has what the job stored; send the request again for the rest"
            )
        return job

    def list(self, scope: str) -> list[Job]:
        """The jobs of a scope that are remembered, the latest first."""
        with self._lock:
            return [job for job in reversed(self._jobs.values()) if job.scope == scope]

    def forget(self, scope: str, plans: Plans) -> None:
        """Drop the jobs and the plans of a scope: they may quote what was erased.

        A job that has not ended is dropped when it ends, with the plan that it has made.
        """
        with self._lock:
            for job in [job for job in self._jobs.values() if job.scope == scope]:
                if job.has_ended:
                    del self._jobs[job.id]
                else:
                    self._forgotten[job.id] = plans
        plans.forget(scope)

    def close(self) -> None:
        """Wait until every accepted job has ended."""
        self._threads.shutdown(wait=True)

    def _run(self, job: Job, work: Callable[[Report], object]) -> None:
        """Run a job on its thread.

        Its caller gets the sentence of an error, which may quote a memory; the log does not. An error that is no SlowwaveError
        is a defect: it is logged and the job has failed.
        """
        job.begin()
        try:
            job.end(work(job.report))
        except SlowwaveError as error:
            _log.warning("job %s (%s) failed: %s", job.id, job.kind, type(error).__name__)
            job.fail(error)
        finally:
            if not job.has_ended:
                job.fail(SlowwaveError("the job failed unexpectedly: the log of the server has the error"))
            self._drop_if_forgotten(job)

    def _drop_if_forgotten(self, job: Job) -> None:
        with self._lock:
            plans = self._forgotten.pop(job.id, None)
            if plans is None:
                return
            self._jobs.pop(job.id, None)
        plans.drop_of(job.result)
