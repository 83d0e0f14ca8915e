"""The lease on a scope: at most one sleeper at a time, and one that was away too long can change nothing any more."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from slowwave.pipelines.making import new_id
from slowwave.ports import Ports

SECONDS: Final = 900.0
"""How long a lease holds without being renewed; it is looked at before each stage and each step."""


@dataclass(slots=True, kw_only=True)
class Lease:
    """The right to sleep a scope. `token` fences plans: a store refuses those of an outdated one."""

    ports: Ports
    holder: str
    token: int
    since: datetime

    @classmethod
    def taken(cls, ports: Ports) -> Self | None:
        """The lease, or None while another holds it."""
        now = ports.now()
        holder = new_id(now)
        token = ports.store.lease(ports.scope, holder, SECONDS, now)
        return None if token is None else cls(ports=ports, holder=holder, token=token, since=now)

    def renewed(self) -> bool:
        """Hold it for longer, once a third of its time is over; False if another has taken it over."""
        now = self.ports.now()
        if abs((now - self.since).total_seconds()) < SECONDS / 3:
            return True
        self.since = now
        return self.ports.store.lease(self.ports.scope, self.holder, SECONDS, now) == self.token

    def given_back(self) -> None:
        """Let others sleep."""
        self.ports.store.lease(self.ports.scope, self.holder, 0.0, self.ports.now())
