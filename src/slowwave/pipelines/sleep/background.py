"""A thread that runs sleep passes in the background. Errors are kept for `status`; they are not raised."""

import re
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Final, Protocol

from slowwave import forks
from slowwave.errors import ClosedError, InputError, SlowwaveError, shown
from slowwave.pipelines.sleep.lease import has_exited, process_identity

PATIENCE: Final = 5.0
"""Seconds that closing waits for a pass to end; a pass that takes longer finds the store closed and stops."""

_SPAN: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*")
_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(every: timedelta | str | float) -> float:
    """A timedelta, a number of seconds, or a text such as "90", "30m", "8h" or "1d", in seconds.

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
        is_number = isinstance(every, int | float) and not isinstance(every, bool)
        number = every if is_number else 0.0
    if not 0 < number < threading.TIMEOUT_MAX:
        raise InputError(
            f"sleep_every={shown(every)}: give a timedelta, a number of seconds, or a text such as '8h' or '30m'"
        )
    return float(number)


class PassResult(Protocol):
    """The result of sleep passes."""

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of the passes, as sentences."""
        ...


class BackgroundSleeper:
    """A thread that runs a sleep pass at intervals and when it is woken. A forked child has no such thread.

    Args:
        sleep: runs one sleep pass, or those of several scopes.
        every: seconds between two passes; None means only when woken.
    """

    def __init__(self, sleep: Callable[[], PassResult], every: float | None) -> None:
        self._run_pass = sleep
        self._every = every
        self._awake = threading.Event()
        self._stopped = threading.Event()
        self.passes = 0
        self._problem: str | None = None
        self._process = process_identity()
        self._thread: threading.Thread | None = threading.Thread(target=self._run, name="slowwave-sleeper", daemon=True)
        self._thread.start()
        forks.watch(self)

    def after_fork(self) -> None:
        """Forget the thread in a forked child: it runs in the parent only."""
        self._awake, self._stopped = threading.Event(), threading.Event()
        self._thread = self._problem = None

    @property
    def problem(self) -> str | None:
        """The problem of the last pass, or None."""
        if self._thread is None and has_exited(self._process):
            return "the process that slept this memory has ended: open the memory in this one, or call `sleep`"
        return self._problem

    def wake(self) -> bool:
        """Start a pass soon. Returns False in a forked child, which has no thread."""
        self._awake.set()
        return self._thread is not None

    def stop(self) -> None:
        """Stop the thread; a pass that is under way gets a few seconds to end."""
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
                self._problem = "an error in the program ended all further sleep passes: see its traceback"

    def _sleep(self) -> None:
        try:
            report = self._run_pass()
        except ClosedError:
            return
        except (SlowwaveError, OSError) as error:
            self._problem = str(error)
        else:
            self._problem = "; ".join(report.problems) or None
        self.passes += 1
