"""Nights in the foreground: one after the other until a signal asks to stop; a night that has begun is finished."""

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING

from slowwave.cli.given import WAITING, Given
from slowwave.cli.shapes import plain
from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory


def nights(given: Given, every: str, *, think: bool, due: bool = False) -> int | None:
    """Sleep now and after every span. A first signal ends it after the night, a second one at once."""
    from slowwave.pipelines.sleeper import seconds  # noqa: PLC0415 - `--help` does without

    pause, stopped, waits = seconds(every), threading.Event(), False

    def stop(number: int, _: FrameType | None) -> None:
        stopped.set()
        signal.signal(number, signal.default_int_handler)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with given.memory() as memory:
            while not stopped.is_set():
                try:
                    if due:
                        waits = every_scope(given, memory, think=think)
                    else:
                        report = memory.sleep(think=think)
                        given.paper.either(report)
                        waits = bool(report.problems)
                except SlowwaveError as error:
                    given.paper.say(f"problem: {error}")
                    waits = True
                stopped.wait(pause)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return WAITING if waits else None


def every_scope(given: Given, memory: "AgentMemory", *, think: bool) -> bool:
    """One night for each scope that is due; whether something waits."""
    from slowwave.pipelines.due import sleep_due  # noqa: PLC0415 - `--help` does without

    number, waits = 0, False
    for scope, report in sleep_due(memory.ports, think=think):
        number, waits = number + 1, waits or bool(report.problems)
        if given.json:
            given.paper.value({"scope": scope, **plain(report)})
        else:
            given.paper.say(f"{scope}: {report}")
    if not number and not given.json:
        given.paper.say("no scope is due for sleep")
    return waits
