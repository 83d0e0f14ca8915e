"""What the dashboard keeps between two requests: planned sleep passes, and sleep passes that run."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Final

from slowwave.agent_memory import AgentMemory
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.pipelines.sleep.report import SleepReport

KEPT: Final = 50
"""How many plans, and how many sleep passes, are kept. The oldest is dropped: its page then says so."""


@dataclass(slots=True)
class RunningPass:
    """A sleep pass on a thread of its own, and how far it is. `total` is None while it is unknown."""

    scope: str
    done: float = 0.0
    total: float | None = None
    report: SleepReport | None = None
    problem: str = ""
    thread: Thread | None = field(default=None, repr=False)

    @property
    def ended(self) -> bool:
        """Whether it ended, well or with a problem."""
        return self.report is not None or bool(self.problem)

    def run(self, memory: AgentMemory) -> None:
        """Run the pass. An error of the library becomes `problem`."""
        try:
            self.report = memory.sleep(on_progress=self.progress)
        except SlowwaveError as error:
            self.problem = str(error)

    def progress(self, done: float, total: float | None) -> None:
        """Note how far the pass is. The sleep pass calls it."""
        self.done, self.total = done, total


class Passes:
    """The dry runs that wait for a decision, and the sleep passes that were started from the dashboard, by id.

    They are kept in RAM: a plan that is not applied is no change, and a pass that ended is in the journal. Threads may
    share one object.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._planned: OrderedDict[tuple[str, str], SleepReport] = OrderedDict()
        self._running: dict[str, RunningPass] = {}

    def plan(self, memory: AgentMemory) -> str:
        """Plan a sleep pass without carrying it out. Returns the id of the plan."""
        report = memory.sleep(dry_run=True)
        with self._lock:
            self._planned[memory.scope, report.plan.id] = report
            while len(self._planned) > KEPT:
                self._planned.popitem(last=False)
        return report.plan.id

    def planned(self, scope: str, plan_id: str) -> SleepReport:
        """The dry run of a plan.

        Raises:
            NotFoundError: the plan was applied, discarded or dropped, or the server was started again.
        """
        with self._lock:
            report = self._planned.get((scope, plan_id))
        if report is None:
            raise NotFoundError("this plan was applied or discarded, or the server was started again: make a new plan")
        return report

    def discard(self, scope: str, plan_id: str) -> None:
        """Forget a plan; nothing was changed by it."""
        with self._lock:
            self._planned.pop((scope, plan_id), None)

    def start(self, memory: AgentMemory) -> None:
        """Start a sleep pass on a thread, unless one of this scope runs."""
        with self._lock:
            known = self._running.get(memory.scope)
            if known is not None and not known.ended:
                return
            begun = RunningPass(scope=memory.scope)
            begun.thread = Thread(target=begun.run, args=(memory,), name=f"sleep pass of {memory.scope}", daemon=True)
            self._running[memory.scope] = begun
        begun.thread.start()

    def running(self, scope: str) -> RunningPass | None:
        """The sleep pass of a scope that was started last, or None."""
        with self._lock:
            return self._running.get(scope)

    def close(self) -> None:
        """Wait for the passes that run, at most 5 seconds each. What a pass has applied stays applied."""
        with self._lock:
            threads = [each.thread for each in self._running.values() if each.thread is not None]
        for thread in threads:
            thread.join(timeout=5)
