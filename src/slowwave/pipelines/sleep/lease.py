"""The lease of a sleep pass, and the identity of the process that holds it."""

import os
import platform
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final, Self

from slowwave import forks
from slowwave.errors import SlowwaveError
from slowwave.pipelines.planning import new_id
from slowwave.ports import Ports

_STATE, _START = 0, 19
"""Fields after the name in Linux's /proc/PID/stat: the state, and the start in ticks since boot."""
_OVER: Final = frozenset({"Z", "X"})
"""States of a process that has ended, whether or not its parent has waited for it."""
_PARTS: Final = 3


def process_identity() -> str:
    """The identity of this process: its machine, its number, and when it started, if the system says so."""
    pid = os.getpid()
    return f"{_machine()}:{pid}:{_started(pid)}"


def has_exited(who: str) -> bool:
    """Whether the process of this identity has ended; False if that is unknown, as for a process of another machine."""
    parts = who.rsplit(":", _PARTS - 1)
    if len(parts) != _PARTS or parts[0] != _machine() or not parts[1].isdecimal() or os.name != "posix":
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)  # sends no signal; on Windows it would end the process
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _started(pid) != parts[2]  # another process has its number now, or it is a zombie


@cache
def _machine() -> str:
    """The machine since it booted, and its PID namespace: containers have their own."""
    proc = Path("/proc")
    try:
        booted = (proc / "sys/kernel/random/boot_id").read_text().strip()
        return f"{booted}/{(proc / 'self/ns/pid').readlink().name}"
    except OSError:
        return platform.node()


def _started(pid: int) -> str:
    """When a process started, or "" if the system does not say or it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[_STATE] in _OVER else fields[_START]


SECONDS: Final = 90.0
"""Seconds that a lease holds unless it is renewed. The lease of an exited process of this machine holds no longer."""
BEAT: Final = SECONDS / 3
"""Seconds between two renewals while a mind is called."""
BEATS: Final = 30
"""Renewals within one stage or step: a mind that never answers blocks other processes for no longer."""


_FORKED: Final = -1
"""The token of a lease in a forked child: no store issues it."""


@dataclass(slots=True, weakref_slot=True, kw_only=True)
class Lease:
    """The right to run a sleep pass over a scope. A store refuses plans with an outdated `token`.

    The pass has read everything up to the run `seen`; None until it has read. A forked child does not own the lease: it neither renews nor
    releases it, and its plans are refused.
    """

    ports: Ports
    holder: str
    token: int
    since: datetime
    seen: int | None = None
    beats: int = 0
    lost: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    turn: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def taken(cls, ports: Ports) -> Self | None:
        """The lease, or None while another process holds it."""
        now = ports.now()
        holder = f"{new_id(now)} {process_identity()}"
        token = ports.store.lease(ports.scope, holder, SECONDS, now, _ended)
        if token is None:
            return None
        lease = cls(ports=ports, holder=holder, token=token, since=now)
        forks.watch(lease)
        return lease

    def after_fork(self) -> None:
        """Lose the lease in a forked child."""
        self.token, self.lost, self.over, self.turn = _FORKED, True, threading.Event(), threading.Lock()

    def beating(self, seconds: float = BEAT) -> Self:
        """Renew it in a thread until it is released, as long as the pass makes progress."""
        threading.Thread(target=self._beat, args=(seconds,), name="slowwave-lease", daemon=True).start()
        return self

    def renewed(self) -> bool:
        """Report progress, and renew the lease; False if another process has taken it over."""
        self.beats = 0
        return self._held()

    def slept(self, again: datetime | None = None, *, failure: str = "") -> datetime | None:
        """Release the lease, and record that the pass has ended, so that what was stored before it causes no other pass.

        A killed pass records nothing: the process that takes the lease over counts the failure.

        Args:
            again: when the work that it left is due.
            failure: the kind of its failure; then the scope is due again after a pause that grows with each failure.

        Returns:
            When the scope is due again because of what was left.
        """
        return self._end(self.seen, again, failure)

    def failed(self, failure: str) -> None:
        """Release the lease after an error of this class: what was stored stays due, after a pause."""
        self.lost = self._end(None, None, failure) is None

    def is_lost(self) -> bool:
        """Whether another process has taken the lease over; False if the store cannot be asked."""
        with suppress(SlowwaveError):
            self._held(every=0.0)
        return self.lost

    def _end(self, seen: int | None, again: datetime | None, failure: str) -> datetime | None:
        with self.turn:  # a later renewal sees `over`, and does not take the lease again
            self.over.set()
            if self.token == _FORKED:
                return None
            now = self.ports.now()
            return self.ports.store.slept(self.ports.scope, self.holder, seen, now, again, error=failure)

    def given_back(self) -> None:
        """Release the lease, and record nothing."""
        with self.turn:  # as above
            if self.over.is_set():
                return
            self.over.set()
            if self.token != _FORKED:
                self.ports.store.lease(self.ports.scope, self.holder, 0.0, self.ports.now())

    def _beat(self, seconds: float) -> None:
        while not self.over.wait(seconds) and self.beats < BEATS:
            self.beats += 1
            try:
                held = self._held()
            except SlowwaveError:  # the store is busy or closed: the pass fails too, and reports it
                continue
            if not held:
                return

    def _held(self, every: float = BEAT) -> bool:
        """Whether this process has the lease, which is renewed if that was so many seconds ago."""
        with self.turn:
            now = self.ports.now()
            if not (self.lost or self.over.is_set() or abs((now - self.since).total_seconds()) < every):
                self.lost = self.ports.store.lease(self.ports.scope, self.holder, SECONDS, now) != self.token
                self.since = now
            return not self.lost


def _ended(holder: str) -> bool:
    return has_exited(holder.partition(" ")[2])
