"""Summarises a long conversation at once, by command or in the background, without waiting for a sleep pass."""

import threading
from collections import deque
from dataclasses import dataclass

from slowwave import forks
from slowwave.errors import SlowwaveError
from slowwave.model.plan import FREE, Cost, reversible_run
from slowwave.pipelines.conversations import known_conversation
from slowwave.pipelines.planning import new_id, record_unapplied_cost
from slowwave.pipelines.sleep.conversation_summary import compact, spans_to_summarise
from slowwave.pipelines.sleep.stage import SleepContext, StageRuns
from slowwave.pipelines.work_time import WorkTime
from slowwave.ports import Ports

CAUSE = "cascade"
PROBLEMS_KEPT = 5
PATIENCE = 5.0
"""Seconds that closing waits for a summary that is being written; a later one is not stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a compaction did. `undo` of `run_id` undoes all of it; `left` stretches are still due."""

    conversation: str | None
    run_id: str = ""
    summaries: int = 0
    eras: int = 0
    left: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    busy: bool = False
    why: str = ""
    """Why no stretch was due."""

    def __str__(self) -> str:
        if self.conversation is None:
            return "nothing to compact: there is no conversation yet"
        if self.busy:
            return f"{self.conversation} is being compacted already"
        lines = [f"problem: {problem}" for problem in self.problems]
        if self.summaries or self.eras:
            counts = (
                f"compacted {self.conversation}: {self.summaries} short-term, {self.eras} long-term summaries written"
            )
            left = f", {self.left} left for next time" if self.left else ""
            lines[:0] = [f"{counts}{left}", f"  {reversible_run(self.run_id)}"]
        return "\n".join(lines) or f"nothing to compact in {self.conversation}{self.why and ': '}{self.why}"


def compact_conversation(ports: Ports, conversation: str | None, *, force: bool = True) -> Compaction:
    """Summarise what lies outside the immediate window of a conversation.

    Args:
        ports: the store, the mind, the embedder and the settings.
        conversation: its name; None if there is none yet.
        force: also summarise a rest that is shorter than the recent window, and again stretches whose summary a person
            retracted. A second call then finds nothing to do.

    Raises:
        NotFoundError: if there is no conversation of that name.
    """
    if conversation is None:
        return Compaction(conversation=None)
    known_conversation(ports, conversation)
    now = ports.now()
    run = new_id(now)
    runs = StageRuns(ports=ports, now=now, cause=f"{CAUSE}/summary", parent=run)
    time = WorkTime(ports.config.work_seconds)
    context = SleepContext(ports=ports, now=now, due=(), think=True, store_group=runs.store_group, time=time)
    result = compact(context, conversation, force=force)
    failed = runs.plan(runs.cause, (), result.cost)
    record_unapplied_cost(ports, failed, "; ".join(result.problems) or "nothing came of it")
    wrote = result.written or result.eras
    return Compaction(
        conversation=conversation,
        run_id=run if wrote else "",
        summaries=result.written,
        eras=result.eras,
        left=result.left,
        problems=result.problems,
        cost=runs.cost + result.cost,
        busy=result.busy,
        why="" if wrote or result.left else _why_nothing_is_due(ports, conversation),
    )


def _why_nothing_is_due(ports: Ports, conversation: str) -> str:
    found = ports.store.conversation(ports.scope, conversation)
    latest = ports.config.immediate_window
    if found is None or found.last_seq > latest:
        return f"all but the latest {latest} messages is summarised"
    return f"it has {found.last_seq} messages, and the latest {latest} of a conversation stay as they were said"


class Background:
    """Compacts conversations of all scopes of a store in a thread, one at a time. Problems are kept for `status`."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._waiting: dict[tuple[str, str], Ports] = {}  # by scope and conversation
        self._thread: threading.Thread | None = None
        self._closed = False
        self._problems: deque[tuple[str, str]] = deque(maxlen=PROBLEMS_KEPT)
        forks.watch(self)

    def after_fork(self) -> None:
        """Forget the thread and its work in a forked child: the parent does it."""
        self._guard = threading.RLock()
        self._waiting = {}
        self._thread = None

    def problems(self, scope: str) -> tuple[str, ...]:
        """The latest problems in a scope."""
        return tuple(problem for other, problem in self._problems if other == scope)

    def after_messages(self, ports: Ports, conversation: str) -> None:
        """Start compacting if a stretch is due. Returns at once."""
        found = ports.store.conversation(ports.scope, conversation)
        if found is None or not spans_to_summarise(ports, found):
            return
        with self._guard:
            if self._closed:
                return
            self._waiting[ports.scope, conversation] = ports
            if self._thread is None or not self._thread.is_alive():  # an error in the program has ended it
                thread = threading.Thread(target=self._work, name="slowwave-cascade", daemon=True)
                thread.start()
                self._thread = thread

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until no compaction is under way; False if that takes longer, or if a compaction calls it."""
        with self._guard:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def close(self) -> None:
        """Start nothing new; a compaction that is under way gets a few seconds to end."""
        with self._guard:
            self._closed = True
        self.wait(PATIENCE)
        with self._guard:
            self._waiting.clear()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            (scope, conversation), ports = job
            try:
                problems = compact_conversation(ports.start_run(), conversation, force=False).problems
            except SlowwaveError as error:  # kept for `status`: the caller only added messages
                problems = (str(error),)
            self._problems.extend((scope, problem) for problem in problems)

    def _next(self) -> tuple[tuple[str, str], Ports] | None:
        with self._guard:
            if not self._waiting:
                self._thread = None
                return None
            return self._waiting.popitem()
