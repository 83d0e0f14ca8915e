"""Nights in the foreground: one after the other until a signal asks to stop; a night that has begun is finished."""

import signal
import threading
from types import FrameType

from slowwave.cli.given import WAITING, Given
from slowwave.errors import SlowwaveError


def nights(given: Given, every: str, *, think: bool) -> int | None:
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
