"""A thread that calls a function at intervals: it stores indexes that were not used for a while."""

import threading
from collections.abc import Callable
from typing import Final

END_SECONDS: Final = 5.0
"""How long `stop` waits for the work of the thread."""


class IdleThread:
    """Calls a function at intervals, on a daemon thread that begins with the first `start`.

    Args:
        work: the function. It raises nothing.
        seconds: the interval.
    """

    def __init__(self, work: Callable[[], None], seconds: float) -> None:
        self._work = work
        self._seconds = seconds
        self._stopped = threading.Event()
        self._lock = threading.RLock()  # of `_thread`: another thread sees it only after it was started
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, unless the thread runs already."""
        with self._lock:
            if self._thread is None and not self._stopped.is_set():
                thread = threading.Thread(target=self._run, name="slowwave-index", daemon=True)
                thread.start()
                self._thread = thread

    def stop(self) -> None:
        """End the thread, after its present work. Idempotent."""
        self._stopped.set()
        with self._lock:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(END_SECONDS)

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            self._work()
