"""Forks: a process made by `os.fork` gets locks, connections, caches and threads of its own.

A child shares its parent's sockets, and a lock that another thread held at the fork stays locked in it for ever. Objects
with such state call `watch` when they are made, and renew it in `after_fork`.
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
"""How long a fork waits, in all, for other threads to leave what is paused."""


class Watched(Protocol):
    """An object with state that belongs to one process."""

    def after_fork(self) -> None:
        """In the child: replace that state. Must not wait for a lock, and must not close what the parent still uses."""
        ...


class Paused(Watched, Protocol):
    """A watched object that no other thread may be inside of while the process forks."""

    def before_fork(self, ends: float) -> bool:
        """Keep other threads out, waiting until `time.monotonic()` is `ends`. Returns whether none is inside."""
        ...

    def after_fork_in_parent(self) -> None:
        """Let other threads in again."""
        ...


_watched: WeakValueDictionary[int, Watched] = WeakValueDictionary()
_paused: WeakValueDictionary[int, Paused] = WeakValueDictionary()


def watch(one: Watched) -> None:
    """Call `one.after_fork()` in every child that is forked while `one` exists."""
    _watched[id(one)] = one


def pause(one: Paused) -> None:
    """The same, and keep other threads out of `one` during the fork."""
    _paused[id(one)] = one
    watch(one)


def quiet() -> bool:
    """Whether no thread was inside anything paused when this process was forked. True in a process that was not forked."""
    return _forks.quiet


def abandon(one: object) -> None:
    """Never finalise this object, not even when the interpreter exits: that would close what the parent still uses."""
    import ctypes  # noqa: PLC0415 - numpy has loaded it; few processes get here

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))


def disconnect(descriptor: int) -> None:
    """Make a descriptor lead to /dev/null, so that nothing is sent to whom the parent is connected with."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, descriptor, inheritable=False)
    os.close(nowhere)


class CachedProperty(cached_property[T]):
    """A cached property whose lock is renewed in a forked child. Python 3.11 has one lock for all objects of the class."""

    lock: Any

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        watch(self)

    def after_fork(self) -> None:
        """In the child: a lock of its own."""
        self.lock = RLock()


class _Forks:
    """The three hooks of `os.register_at_fork`."""

    def __init__(self) -> None:
        self.quiet = True
        self._one_at_a_time = RLock()
        self._none_inside = True

    def before(self) -> None:
        """In the thread that forks: keep other threads out of what is paused."""
        self._one_at_a_time.acquire()
        ends = time.monotonic() + PAUSE_SECONDS
        self._none_inside = True
        seen: set[int] = set()
        while new := [one for one in _living(_paused) if id(one) not in seen]:  # others may be made meanwhile
            for one in new:
                seen.add(id(one))
                self._none_inside = one.before_fork(ends) and self._none_inside

    def in_parent(self) -> None:
        """Let other threads in again."""
        with ExitStack() as every:
            every.callback(self._one_at_a_time.release)
            for one in _living(_paused):
                every.callback(one.after_fork_in_parent)

    def in_child(self) -> None:
        """Renew everything that is watched, the rest too where one of them fails."""
        self._one_at_a_time = RLock()
        self.quiet = self.quiet and self._none_inside
        with ExitStack() as every:
            for one in _living(_watched):
                every.callback(one.after_fork)


def _living(ones: "WeakValueDictionary[int, T]") -> list[T]:
    """The objects that still exist; taken at once, so that other threads may add to them."""
    return [one for ref in ones.valuerefs() if (one := ref()) is not None]


_forks: Final = _Forks()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_forks.before, after_in_parent=_forks.in_parent, after_in_child=_forks.in_child)
