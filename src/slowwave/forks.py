"""Fork handling: a process created by `os.fork` gets its own locks, connections, caches and threads.

A child shares its parent's sockets, and a lock that another thread held at the fork stays locked in it for ever. Objects
with such state call `watch` when they are created, and replace the state in `after_fork`.
"""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from threading import RLock
from typing import Any, Final, Protocol, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

PAUSE_SECONDS: Final = 0.5
"""How long a fork waits, in all, until no other thread uses a paused object."""


class Watched(Protocol):
    """An object with state that belongs to one process."""

    def after_fork(self) -> None:
        """In the child: replace that state. Must not wait for a lock, and must not close what the parent uses."""
        ...


class Paused(Watched, Protocol):
    """A watched object that no other thread may use while the process forks."""

    def before_fork(self, ends: float) -> bool:
        """Block other threads, waiting until `time.monotonic()` is `ends`. Returns whether none uses the object."""
        ...

    def after_fork_in_parent(self) -> None:
        """Unblock other threads."""
        ...


_watched: WeakValueDictionary[int, Watched] = WeakValueDictionary()
_paused: WeakValueDictionary[int, Paused] = WeakValueDictionary()


def watch(target: Watched) -> None:
    """Call `target.after_fork()` in every child that is forked while `target` exists."""
    _watched[id(target)] = target


def pause(target: Paused) -> None:
    """The same, and block other threads from using `target` during the fork."""
    _paused[id(target)] = target
    watch(target)


def quiet() -> bool:
    """Whether no other thread used a paused object when this process was forked. True if it was not forked."""
    return _forks.quiet


def abandon(target: object) -> None:
    """Never finalise this object, not even when the interpreter exits: that would close what the parent uses."""
    import ctypes  # noqa: PLC0415 - numpy has loaded it; few processes get here

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(target))


def disconnect(descriptor: int) -> None:
    """Redirect a descriptor to /dev/null, so that this process sends nothing on the parent's connection."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor, inheritable=False)
    os.close(null)


class CachedProperty(cached_property[T]):
    """A cached property whose lock is renewed in a forked child. Python 3.11 has one lock for all objects of the class."""

    lock: Any

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        watch(self)

    def after_fork(self) -> None:
        """In the child: create a new lock."""
        self.lock = RLock()


class _Forks:
    """The three hooks of `os.register_at_fork`."""

    def __init__(self) -> None:
        self.quiet = True
        self._fork_lock = RLock()
        self._none_busy = True

    def before(self) -> None:
        """In the thread that forks: block other threads from using paused objects."""
        self._fork_lock.acquire()
        self._none_busy = (
            False  # also after an exception, which the interpreter only prints: the process forks all the same
        )
        ends = time.monotonic() + PAUSE_SECONDS
        none_busy, seen = True, set[int]()
        while new := [target for target in _alive(_paused) if id(target) not in seen]:  # threads may create more
            for target in new:
                seen.add(id(target))
                none_busy = target.before_fork(ends) and none_busy
        self._none_busy = none_busy

    def in_parent(self) -> None:
        """Unblock other threads."""
        with ExitStack() as stack:
            stack.callback(self._fork_lock.release)
            for target in _alive(_paused):
                stack.callback(target.after_fork_in_parent)

    def in_child(self) -> None:
        """Call `after_fork` of every watched object, also if one of them raises."""
        self._fork_lock = RLock()
        self.quiet = self.quiet and self._none_busy
        with ExitStack() as stack:
            for target in _alive(_watched):
                stack.callback(target.after_fork)


def _alive(targets: "WeakValueDictionary[int, T]") -> list[T]:
    """The objects that still exist, as a list: other threads may add to the dictionary meanwhile."""
    return [target for reference in targets.valuerefs() if (target := reference()) is not None]


_forks: Final = _Forks()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_forks.before, after_in_parent=_forks.in_parent, after_in_child=_forks.in_child)
