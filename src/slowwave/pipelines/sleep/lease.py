"""The lease on a scope: at most one sleeper at a time, and one that was away too long can change nothing any more."""

import threading
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self

from slowwave import forks
from slowwave.errors import SlowwaveError
from slowwave.pipelines.making import new_id
from slowwave.pipelines.sleep.process import gone, myself
from slowwave.ports import Ports

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
        holder = f"{new_id(now)} {myself()}"
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
    return gone(holder.partition(" ")[2])
