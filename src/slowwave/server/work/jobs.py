"""Jobs: sleep passes, consolidations and imports that run on threads, with their progress as numbered events."""

import builtins
import json
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from slowwave.agent_memory import AgentMemory
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.log import Log
from slowwave.pipelines.planning import new_id
from slowwave.server.access.problems import UNEXPECTED, Kind, kind_of
from slowwave.server.work.shares import check_share
from slowwave.server.work.stored_text import StoredText

State: TypeAlias = Literal["waiting", "running", "done", "failed"]
JobKind: TypeAlias = Literal["sleep", "consolidate", "import"]
Report: TypeAlias = Callable[[float, float | None], None]
"""Called with what is done, and what there is in all; None: that is unknown."""
AT_ONCE: Final = 4
"""Jobs that run at once; the others wait. One thread is left to other tenants."""
WAITING_MOST: Final = 100
"""Jobs that wait or run; more are refused. One tenant has a share of them (`shares`)."""
KEPT_MOST: Final = 1000
"""Ended jobs whose result can be read; of more, the oldest of the tenant with the most is dropped."""
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
    """One piece of work in a scope. It holds no words of memories: its result, or the sentence of its error, is in the store.

    Attributes:
        id: its id.
        memory: the memory that it works in, with the rights of its maker.
        kind: what it does.
        tenant: whose share it counts for.
        created_at: when it was accepted.
        work: does it; None once it runs.
        state: how far it is.
        done: how much is done, in steps, messages or bytes.
        total: how much there is in all; None if that is unknown.
        failure: the kind of error that it failed with.
    """

    id: str
    memory: AgentMemory
    kind: JobKind
    tenant: str
    created_at: datetime
    work: Callable[[Report], object] | None = field(repr=False)
    state: State = "waiting"
    done: float = 0
    total: float | None = None
    failure: Kind | None = None
    _events: list[JobEvent] = field(default_factory=list)
    _number: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def scope(self) -> str:
        """The scope that it works in."""
        return self.memory.scope

    def now(self) -> "Job":
        """The job as it is at this moment: one that ends while it is shown would be shown as ended and without a result."""
        return copy(self)

    @property
    def kept(self) -> StoredText:
        """Where its result is."""
        return StoredText(f"job:{self.id}")

    def report(self, done: float, total: float | None) -> None:
        """Record progress. The thread of the job calls it."""
        self._change("progress", {"done": done, "total": total}, done=done, total=total)

    def begin(self) -> None:
        """Record that it runs."""
        self._change("state", {"state": "running"}, state="running", work=None)

    def end(self) -> None:
        """Record that it has a result."""
        self._change("state", {"state": "done"}, state="done", done=self.total or self.done)

    def fail(self, failure: Kind) -> None:
        """Record that it failed."""
        self._change("state", {"state": "failed", "title": failure.title}, state="failed", failure=failure)

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
        self._at_once = at_once
        self._threads = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="slowwave-job")

    def start(self, memory: AgentMemory, kind: JobKind, work: Callable[[Report], object], tenant: str) -> Job:
        """Accept a job, which begins as soon as a thread is free.

        Args:
            memory: the memory that it works in.
            kind: what it does.
            work: does it; called with a function that takes the progress. Its result is JSON values.
            tenant: whose share it counts for.

        Raises:
            OverloadedError: too many jobs wait, or too many of this tenant.
        """
        now = datetime.now(UTC)
        job = Job(id=new_id(now), memory=memory, kind=kind, tenant=tenant, created_at=now, work=work)
        with self._lock:
            active = (other.tenant for other in self._jobs.values() if not other.has_ended)
            check_share("jobs wait or run", active, tenant, WAITING_MOST)
            self._jobs[job.id] = job
            self._drop_oldest()
        self._threads.submit(self._work)
        return job

    def get(self, memory: AgentMemory, job_id: str) -> Job:
        """A job of the scope of a memory.

        Raises:
            NotFoundError: there is none of this id in this process, or an erase deleted its result; the error says where
                its results are.
        """
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None or job.scope != memory.scope or not self._is_there(job):
            raise NotFoundError(
                f"no job {job_id!r} in scope {memory.scope}: a server forgets its jobs when it restarts or when memories of the scope are "
                "erased, and does not know those of another process. The list of runs has what the job stored; send the request again for the rest"
            )
        return job

    def list(self, scope: str) -> list[Job]:
        """The jobs of a scope that are remembered, the latest first; also those whose results an erase has deleted."""
        with self._lock:
            return [job for job in reversed(self._jobs.values()) if job.scope == scope]

    def present(self, scope: str, most: int) -> builtins.list[Job]:
        """The latest jobs of a scope whose results are there, or that have none yet."""
        return [job for job in self.list(scope)[:most] if self._is_there(job)]

    def told(self, memory: AgentMemory, job: Job) -> Mapping[str, Any]:
        """What an ended job said: its `result`, or the `detail` of its error. Empty while it runs, and after an erase."""
        text = job.kept.read(memory) if job.has_ended else None
        said: Mapping[str, Any] = {} if text is None else json.loads(text)
        return said

    def close(self) -> None:
        """Wait until every accepted job has ended."""
        self._threads.shutdown(wait=True)

    def _is_there(self, job: Job) -> bool:
        """Whether the result of a job is in the store, if it has one; without it the job is dropped."""
        if not job.has_ended or job.failure is UNEXPECTED or job.kept.read(job.memory) is not None:
            return True
        with self._lock:
            self._jobs.pop(job.id, None)
        return False

    def _drop_oldest(self) -> None:
        ended = [other for other in self._jobs.values() if other.has_ended]
        counts = Counter(other.tenant for other in ended)
        while counts.total() > KEPT_MOST:
            tenant = max(counts, key=lambda one: counts[one])
            oldest = next(other for other in ended if other.tenant == tenant)
            ended.remove(oldest)
            counts[tenant] -= 1
            del self._jobs[oldest.id]

    def _work(self) -> None:
        """Run jobs on this thread until none may begin. Each accepted job has called this once, so that none is left."""
        while (taken := self._next()) is not None:
            self._run(*taken)

    def _next(self) -> tuple[Job, Callable[[Report], object]] | None:
        """The next job: the oldest of the tenant that has the fewest running. None if a tenant's own threads will take it."""
        with self._lock:
            running = Counter(job.tenant for job in self._jobs.values() if job.state == "running")
            waiting = [job for job in self._jobs.values() if job.state == "waiting"]
            job = min(waiting, key=lambda one: running[one.tenant], default=None)
            if job is None or job.work is None or running[job.tenant] >= max(1, self._at_once - 1):
                return None
            work = job.work
            job.begin()
            return job, work

    def _run(self, job: Job, work: Callable[[Report], object]) -> None:
        """Run a job on its thread.

        Its caller gets the sentence of an error, which may quote a memory; the log does not. An error that is no SlowwaveError
        is a defect: it is logged and the job has failed.
        """
        failure: Kind | None = UNEXPECTED
        try:
            job.kept.claim(job.memory)  # before a memory is read: an erase from now on deletes what is said of it
            try:
                said: dict[str, object] = {"result": work(job.report)}
                failure = None
            except SlowwaveError as error:
                failure, said = kind_of(error), {"detail": str(error)}
                _log.warning("job %s (%s) failed: %s", job.id, job.kind, type(error).__name__)
            job.kept.put(job.memory, json.dumps(said))
        except SlowwaveError as error:  # of the store
            failure = UNEXPECTED
            _log.warning("job %s (%s): its result is not stored: %s", job.id, job.kind, type(error).__name__)
        except BaseException:
            failure = UNEXPECTED
            _log.warning("job %s (%s) failed unexpectedly", job.id, job.kind)
            with suppress(RuntimeError):  # the server stops
                self._threads.submit(self._work)  # this thread ends with the error
            raise
        finally:
            if failure is None:
                job.end()
            else:
                job.fail(failure)
