"""Compaction: a long conversation is summarised now, by command or in the background, rather than in the night."""

import threading
from collections import deque
from dataclasses import dataclass

from slowwave import forks
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.model.plan import FREE, Cost, Plan
from slowwave.pipelines.conversations import unknown_conversation
from slowwave.pipelines.planning import new_id, record_unapplied_cost
from slowwave.pipelines.sleep.conversation_summary import Compacted, compact, spans_to_summarise
from slowwave.pipelines.sleep.stage import SleepContext, StageRuns
from slowwave.ports import Ports

CAUSE = "cascade"
PROBLEMS_KEPT = 5
PATIENCE = 5.0
"""Seconds that closing waits for a summary that is being thought of; one that comes later is not stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a compaction did. `run_id` takes all of it back; `left` stretches are due still."""

    conversation: str | None
    run_id: str = ""
    summaries: int = 0
    eras: int = 0
    left: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    busy: bool = False
    why: str = ""
    """Why there was nothing to do."""

    def __str__(self) -> str:
        if self.conversation is None:
            return "nothing to compact: there is no conversation yet"
        if self.busy:
            return f"{self.conversation} is being compacted already"
        lines = [f"problem: {problem}" for problem in self.problems]
        if self.summaries or self.eras:
            told = (
                f"compacted {self.conversation}: {self.summaries} short-term, {self.eras} long-term summaries written"
            )
            left = f", {self.left} left for next time" if self.left else ""
            lines[:0] = [f"{told}{left}", f"  run {self.run_id}, undo with `slowwave undo {self.run_id}`"]
        return "\n".join(lines) or f"nothing to compact in {self.conversation}{self.why and ': '}{self.why}"


def compact_conversation(ports: Ports, conversation: str | None, *, force: bool = True) -> Compaction:
    """Summarise what lies outside the immediate window of a conversation.

    Args:
        ports: everything to work with.
        conversation: its name; None if there is none yet.
        force: also a rest shorter than the recent window, and anew what a person took back. Done twice in a row, the
            second finds nothing to do.

    Raises:
        NotFoundError: if there is no conversation of that name.
    """
    if conversation is None:
        return Compaction(conversation=None)
    if ports.store.conversation(ports.scope, conversation) is None:
        raise NotFoundError(unknown_conversation(ports, conversation))
    now = ports.now()
    run = new_id(now)
    steps = StageRuns(ports=ports, now=now, cause=f"{CAUSE}/summary", parent=run)
    done = compact(
        SleepContext(ports=ports, now=now, due=(), think=True, store_group=steps.store_group), conversation, force=force
    )
    failed = Plan(id=new_id(now), scope=ports.scope, cause=steps.cause, at=now, parent=run, cost=done.cost)
    record_unapplied_cost(ports, failed, "; ".join(done.problems) or "nothing came of it")
    return _told(ports, conversation, run, done, steps.cost)


def _why(ports: Ports, conversation: str) -> str:
    """Why nothing was due."""
    found = ports.store.conversation(ports.scope, conversation)
    latest = ports.config.immediate_window
    if found is None or found.last_seq > latest:
        return f"all but the latest {latest} messages is summarised"
    return f"it has {found.last_seq} messages, and the latest {latest} of a conversation stay as they were said"


def _told(ports: Ports, conversation: str, run: str, done: Compacted, cost: Cost) -> Compaction:
    return Compaction(
        conversation=conversation,
        run_id=run if done.written or done.eras else "",
        summaries=done.written,
        eras=done.eras,
        left=done.left,
        problems=done.problems,
        cost=cost + done.cost,
        busy=done.busy,
        why="" if done.written or done.eras or done.left else _why(ports, conversation),
    )


class Background:
    """Compacts conversations on a thread of its own, at most one at a time; what goes wrong is kept for `status`."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: dict[str, Ports] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        self._problems: deque[str] = deque(maxlen=PROBLEMS_KEPT)
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: what was waiting is summarised by the parent, whose thread does not exist here."""
        self._guard = threading.Lock()
        self._waiting = {}
        self._thread = None

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong lately, in the words of what failed."""
        return tuple(self._problems)

    def after_messages(self, ports: Ports, conversation: str) -> None:
        """Begin, if the configuration wants it and a stretch is due. Returns at once."""
        if not ports.config.cascade_in_background:
            return
        found = ports.store.conversation(ports.scope, conversation)
        if found is None or not spans_to_summarise(ports, found):
            return
        with self._guard:
            if self._closed:
                return
            self._waiting[conversation] = ports
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="slowwave-cascade", daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is under way; False if that took longer."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def close(self) -> None:
        """Begin nothing new; what was asked for has a few seconds to end."""
        with self._guard:
            self._closed = True
        self.wait(PATIENCE)
        with self._guard:
            self._waiting.clear()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            conversation, ports = job
            try:
                self._problems.extend(compact_conversation(ports.start_run(), conversation, force=False).problems)
            except SlowwaveError as error:  # an app that only adds messages is not to hear of it
                self._problems.append(str(error))

    def _next(self) -> tuple[str, Ports] | None:
        with self._guard:
            if not self._waiting:
                self._thread = None
                return None
            return self._waiting.popitem()
