"""Sleeper: one thread of a handle that sleeps now and then. It never raises into the program; it says what went wrong."""

import re
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from slowwave import forks
from slowwave.errors import ClosedError, InputError, SlowwaveError
from slowwave.pipelines.sleep.lease import has_exited, process_identity
from slowwave.pipelines.sleep.report import SleepReport

PATIENCE: Final = 5.0
"""Seconds that closing waits for a night to end; a later end finds the store closed, and nothing half done."""

_SPAN: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*")
_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(every: timedelta | str | float) -> float:
    """How many seconds a span is: a timedelta, a number of seconds, or "90", "30m", "8h", "1d".

    >>> seconds("8h")
    28800.0

    Raises:
        InputError: if it is none of these, or not more than 0.
    """
    if isinstance(every, timedelta):
        number = every.total_seconds()
    elif isinstance(every, str):
        match = _SPAN.fullmatch(every.lower())
        number = float(match[1]) * _UNITS[match[2]] if match else 0.0
    else:
        number = float(every)
    if not 0 < number < threading.TIMEOUT_MAX:
        raise InputError(
            f"sleep_every={every!r}: give a timedelta, a number of seconds, or a text such as '8h' or '30m'"
        )
    return number


class BackgroundSleeper:
    """Calls `night` every so often, and when it is woken, in the process that made it: a forked child has no such thread.

    Args:
        night: one pass of sleep.
        every: seconds between two of them; None: only when woken.
    """

    def __init__(self, night: Callable[[], SleepReport], every: float | None) -> None:
        self._night = night
        self._every = every
        self._awake = threading.Event()
        self._stopped = threading.Event()
        self.nights = 0
        self._problem: str | None = None
        self._process = process_identity()
        self._thread: threading.Thread | None = threading.Thread(target=self._run, name="slowwave-sleeper", daemon=True)
        self._thread.start()
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: there is no thread. The parent goes on sleeping the memory."""
        self._awake, self._stopped = threading.Event(), threading.Event()
        self._thread = self._problem = None

    @property
    def problem(self) -> str | None:
        """What went wrong lately, if anything did."""
        if self._thread is None and has_exited(self._process):
            return "the process that slept this memory has ended: open the memory in this one, or call `sleep`"
        return self._problem

    def wake(self) -> bool:
        """Sleep soon: enough has happened. Returns False in a forked child, where nobody would."""
        self._awake.set()
        return self._thread is not None

    def stop(self) -> None:
        """No more nights; one that is under way gets a few seconds."""
        self._stopped.set()
        self._awake.set()
        if self._thread is not None and threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE)

    def _run(self) -> None:
        try:
            while True:
                self._awake.wait(self._every)
                self._awake.clear()
                if self._stopped.is_set():
                    return
                self._sleep()
        finally:
            if not self._stopped.is_set():
                self._problem = "sleep stopped for good by an error in the program: see the traceback it left"

    def _sleep(self) -> None:
        try:
            report = self._night()
        except ClosedError:
            return
        except (SlowwaveError, OSError) as error:
            self._problem = str(error)
        else:
            self._problem = "; ".join(report.problems) or None
        self.nights += 1
