"""Locks by the path of a scope: threads of one process take turns in a scope, and never wait for another scope."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from slowwave.telemetry import child


class ScopeLocks:
    """A lock for each scope that a thread holds or waits for. Threads get it in the order in which they asked.

    A lock is reentrant. A thread that takes several scopes takes them in the order of their paths, so that two threads
    never wait for each other.
    """

    def __init__(self) -> None:
        self._mutex = threading.RLock()  # a signal handler may close the store while this thread holds it
        self._released = threading.Condition(self._mutex)
        self._queues: dict[str, list[int]] = {}  # threads by scope: the first holds it, the others wait

    def __len__(self) -> int:
        """The number of scopes that are held or waited for."""
        return len(self._queues)

    @contextmanager
    def hold(self, scopes: Sequence[str], seconds: float | None = None) -> Iterator[bool]:
        """Hold the locks of these scopes during the block.

        Args:
            scopes: the paths.
            seconds: how long to wait for all of them; None: without limit; 0: not at all.

        Yields:
            Whether the locks are held. False if one was not free in time: then none is held.
        """
        ends = None if seconds is None else time.monotonic() + seconds
        me = threading.get_ident()
        new = [scope for scope in sorted(set(scopes)) if self._queues.get(scope, ())[:1] != [me]]
        try:
            is_free = all(self._take(scope, me, ends) for scope in new)
            if not is_free:
                self._leave(new, me)
            yield is_free
        finally:
            try:
                self._leave(new, me)
            except BaseException:  # a KeyboardInterrupt, perhaps before it began
                self._leave(new, me)
                raise

    def _take(self, scope: str, me: int, ends: float | None) -> bool:
        with self._mutex:
            queue = self._queues.setdefault(scope, [])
            queue.append(me)
            return queue[0] == me or self._waited(queue, me, ends)

    @child("slowwave.lock.wait")
    def _waited(self, queue: list[int], me: int, ends: float | None) -> bool:
        """Wait for a lock that another thread holds. Returns whether it was free in time."""
        return self._released.wait_for(
            lambda: queue[0] == me, None if ends is None else max(0.0, ends - time.monotonic())
        )

    def _leave(self, scopes: Sequence[str], me: int) -> None:
        """Release the locks of those scopes that this thread holds, and wait for none of them any longer."""
        with self._mutex:
            self._released.notify_all()
            for scope in scopes:
                queue = self._queues.get(scope, [])
                if me in queue:
                    queue.remove(me)
                if not queue:
                    self._queues.pop(scope, None)
