"""The lease of a sleep pass, and the identity of the process that holds it."""

import os
import platform
import threading
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
"""Places behind the name in Linux's /proc/PID/stat: the state, and the start in ticks since boot."""
_OVER: Final = frozenset({"Z", "X"})
"""States of a process that has ended, whether or not its parent has asked."""
_PARTS: Final = 3


def process_identity() -> str:
    """This process in a word: its machine, its number, and when it started, as far as the system says."""
    pid = os.getpid()
    return f"{_machine()}:{pid}:{_started(pid)}"


def has_exited(who: str) -> bool:
    """Whether the process that called itself so has ended; False where that cannot be known, as of another machine."""
    parts = who.rsplit(":", _PARTS - 1)
    if len(parts) != _PARTS or parts[0] != _machine() or not parts[1].isdecimal() or os.name != "posix":
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)  # asks only; on Windows it would end it
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _started(pid) != parts[2]  # its number went to another, or it only waits to be buried


@cache
def _machine() -> str:
    """The machine since it booted, and the room of process numbers in it: containers have their own."""
    here = Path("/proc")
    try:
        booted = (here / "sys/kernel/random/boot_id").read_text().strip()
        return f"{booted}/{(here / 'self/ns/pid').readlink().name}"
    except OSError:
        return platform.node()


def _started(pid: int) -> str:
    """When a process started, or "" if the system does not say or it has ended."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if told[_STATE] in _OVER else told[_START]


SECONDS: Final = 90.0
"""How long a lease holds without being renewed. One whose process has ended on this machine holds no longer at all."""
BEAT: Final = SECONDS / 3
"""Seconds between two renewals while a mind thinks."""
BEATS: Final = 30
"""Renewals without a stage or step being reached: a mind that never answers keeps others away for this long only."""


_FORKED: Final = -1
"""The token of a lease in a forked child: no store gave it out."""


@dataclass(slots=True, weakref_slot=True, kw_only=True)
class Lease:
    """The right to sleep a scope. A store refuses plans of an outdated `token`; a night has seen all up to the run `seen`.

    It is the process's that took it: a forked child neither renews it nor gives it back, and its plans are refused.
    """

    ports: Ports
    holder: str
    token: int
    since: datetime
    seen: int
    beats: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    turn: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def taken(cls, ports: Ports) -> Self | None:
        """The lease, or None while another holds it."""
        now = ports.now()
        holder = f"{new_id(now)} {process_identity()}"
        token = ports.store.lease(ports.scope, holder, SECONDS, now, _ended)
        if token is None:
            return None
        lease = cls(ports=ports, holder=holder, token=token, since=now, seen=ports.store.last_run(ports.scope))
        forks.watch(lease)
        return lease

    def after_fork(self) -> None:
        """In a forked child: the lease is lost."""
        self.token, self.over, self.turn = _FORKED, threading.Event(), threading.Lock()

    def beating(self, seconds: float = BEAT) -> Self:
        """Renew it on a thread of its own until it is given back, for as long as the sleeper gets anywhere."""
        threading.Thread(target=self._beat, args=(seconds,), name="slowwave-lease", daemon=True).start()
        return self

    def renewed(self) -> bool:
        """The sleeper got somewhere: hold it for longer; False if another has taken it over."""
        self.beats = 0
        return self._held()

    def slept(self) -> None:
        """The night is over: what came in before it is no reason for another. One that is killed or fails says nothing."""
        if self.token != _FORKED:
            self.ports.store.slept(self.ports.scope, self.holder, self.seen)

    def given_back(self) -> None:
        """Let others sleep."""
        with self.turn:  # a beat that comes later finds it over, and does not take it again
            self.over.set()
            if self.token != _FORKED:
                self.ports.store.lease(self.ports.scope, self.holder, 0.0, self.ports.now())

    def _beat(self, seconds: float) -> None:
        while not self.over.wait(seconds) and self.beats < BEATS:
            self.beats += 1
            try:
                held = self._held()
            except SlowwaveError:  # a store that is busy or closed: the sleeper meets it too, and tells of it
                continue
            if not held:
                return

    def _held(self) -> bool:
        with self.turn:
            if self.token == _FORKED:
                return False
            now = self.ports.now()
            if self.over.is_set() or abs((now - self.since).total_seconds()) < BEAT:
                return True
            held = self.ports.store.lease(self.ports.scope, self.holder, SECONDS, now) == self.token
            self.since = now
            return held


def _ended(holder: str) -> bool:
    return has_exited(holder.partition(" ")[2])
