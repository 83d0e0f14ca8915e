"""Locks by the path of a scope: threads of one process take turns in a scope, and never wait for another scope."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from slowwave.telemetry import child


@child("slowwave.lock.wait")
def _waited(lock: threading.RLock, ends: float | None) -> bool:
    """Wait for a lock that another thread holds. Returns whether it was free in time."""
    return lock.acquire(timeout=-1 if ends is None else max(0.0, ends - time.monotonic()))


class ScopeLocks:
    """A lock for each scope that is in use. A lock exists while a thread holds it or waits for it.

    A lock is reentrant. A thread that takes several scopes takes them in the order of their paths, so that two threads
    never wait for each other.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._locks: dict[str, tuple[threading.RLock, list[int]]] = {}

    def __len__(self) -> int:
        """The number of scopes that are held or waited for."""
        return len(self._locks)

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
        with ExitStack() as stack:
            yield all(self._take(stack, scope, ends) for scope in sorted(set(scopes)))

    def _take(self, stack: ExitStack, scope: str, ends: float | None) -> bool:
        with self._mutex:
            lock, users = self._locks.setdefault(scope, (threading.RLock(), [0]))
            users[0] += 1
        stack.callback(self._drop, scope, users)
        if not lock.acquire(blocking=False) and not _waited(lock, ends):
            stack.close()
            return False
        stack.callback(lock.release)
        return True

    def _drop(self, scope: str, users: list[int]) -> None:
        with self._mutex:
            users[0] -= 1
            if not users[0]:
                del self._locks[scope]
