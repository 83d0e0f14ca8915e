"""Sleep passes in the foreground, repeated until a signal asks to stop; a pass that has begun is finished."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING

from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import WAITING, CommonOptions
from slowwave.cli.output import with_undo_command
from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.pipelines.sleep.report import SleepReport


def sleep_repeatedly(options: CommonOptions, every: str, *, think: bool, due: bool = False) -> int | None:
    """Run a sleep pass now and again after every span, of this scope or of all that are due."""
    with options.memory() as memory:

        def sleep() -> bool:
            if due:
                return sleep_due_scopes(options, memory, think=think)
            report = memory.sleep(think=think)
            if not options.json:
                options.output.write(f"{report.plan.at.astimezone():%Y-%m-%d %H:%M:%S}", style="dim")
            options.output.write_result(report)
            return bool(report.problems)

        return WAITING if repeat_until_stopped(options, every, sleep) else None


def repeat_until_stopped(options: CommonOptions, every: str, action: Callable[[], bool]) -> bool:
    """Run an action now and again after every span.

    The first signal ends the loop after the action that is running; a second one interrupts it.

    Returns:
        Whether work waits for a model after the last action.
    """
    from slowwave.pipelines.sleep.background import seconds  # noqa: PLC0415 - `--help` does without

    pause, waits = seconds(every), False
    shown = every if every[-1:].isalpha() else f"{every.strip()} s"
    options.warn(f"repeats every {shown}: Ctrl-C stops after the pass that is running")
    with stopped_by_signals() as stopped:
        while not stopped.is_set():
            try:
                waits = action()
            except SlowwaveError as error:
                options.output.write(f"problem: {error}")
                waits = True
            sys.stdout.flush()  # a log file shows each pass when it ends
            stopped.wait(pause)
    return waits


class Stop:
    """A flag that a signal handler may set at any step of its thread.

    A threading.Event has a lock: if the signal comes while the thread has it in `wait`, `set` waits for it for ever.
    """

    def __init__(self) -> None:
        self._signals: SimpleQueue[None] = SimpleQueue()

    def set(self) -> None:
        """Set the flag."""
        self._signals.put(None)

    def is_set(self) -> bool:
        """Whether the flag is set."""
        return not self._signals.empty()

    def wait(self, seconds: float) -> bool:
        """Wait until the flag is set, at most so many seconds. Returns whether it is set."""
        try:
            self._signals.get(timeout=seconds)
        except Empty:
            return False
        self.set()
        return True


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """A flag that the first SIGINT or SIGTERM sets; a second one interrupts the program."""
    stopped = Stop()

    def stop(number: int, _: FrameType | None) -> None:
        stopped.set()
        signal.signal(number, signal.default_int_handler)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def sleep_due_scopes(options: CommonOptions, memory: "AgentMemory", *, think: bool) -> bool:
    """Run a sleep pass for each scope that is due; whether work waits for a model."""
    reports = memory.sleep_due(think=think, on_progress=lambda scope, report: write_report(options, scope, report))
    if not reports and not options.json:
        options.output.write("no scope is due for sleep")
    return any(report.problems for report in reports.values())


def write_report(options: CommonOptions, scope: str, report: "SleepReport | str") -> None:
    """Print the report of a scope's sleep pass, or the sentence that says why it failed."""
    if options.json:
        values = {"problems": [report]} if isinstance(report, str) else to_json_value(report)
        options.output.write_json({"scope": scope, **values})
    else:
        options.output.write(f"{scope}: {with_undo_command(str(report), report)}")
