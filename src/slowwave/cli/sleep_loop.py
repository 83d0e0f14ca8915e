"""Nights in the foreground: one after the other until a signal asks to stop; a night that has begun is finished."""

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import WAITING, CommonOptions
from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.pipelines.sleep.report import SleepReport


def nights(given: CommonOptions, every: str, *, think: bool, due: bool = False) -> int | None:
    """Sleep now and after every span."""
    with given.memory() as memory:

        def night() -> bool:
            if due:
                return every_scope(given, memory, think=think)
            report = memory.sleep(think=think)
            given.paper.either(report)
            return bool(report.problems)

        return WAITING if again(given, every, night) else None


def again(given: CommonOptions, every: str, turn: Callable[[], bool]) -> bool:
    """Take a turn now and after every span; whether something waited in the last one.

    A first signal ends it after the turn, a second one at once.
    """
    from slowwave.pipelines.sleep.background import seconds  # noqa: PLC0415 - `--help` does without

    pause, stopped, waits = seconds(every), threading.Event(), False

    def stop(number: int, _: FrameType | None) -> None:
        stopped.set()
        signal.signal(number, signal.default_int_handler)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while not stopped.is_set():
            try:
                waits = turn()
            except SlowwaveError as error:
                given.paper.say(f"problem: {error}")
                waits = True
            sys.stdout.flush()  # whoever follows a log sees each turn as it ends
            stopped.wait(pause)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return waits


def every_scope(given: CommonOptions, memory: "AgentMemory", *, think: bool) -> bool:
    """One night for each scope that is due; whether something waits."""
    reports = memory.sleep_due(think=think, told=lambda scope, report: told(given, scope, report))
    if not reports and not given.json:
        given.paper.say("no scope is due for sleep")
    return any(report.problems for report in reports.values())


def told(given: CommonOptions, scope: str, report: "SleepReport | str") -> None:
    """Say how the night of a scope was, or why it failed."""
    if given.json:
        given.paper.value(
            {"scope": scope, **({"problems": [report]} if isinstance(report, str) else to_json_value(report))}
        )
    else:
        given.paper.say(f"{scope}: {report}")
