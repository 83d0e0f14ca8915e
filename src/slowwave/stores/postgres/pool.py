"""A pool of connections, opened on demand and kept while they are open."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import psycopg
from psycopg import conninfo
from psycopg.adapt import Transformer

from slowwave import forks
from slowwave.errors import BusyError
from slowwave.stores.postgres.errors import NotConnected
from slowwave.telemetry import child

_PAUSE: Final = 0.05
_PREPARED_AFTER: Final = 5  # executions, as psycopg's default
KEEPS_PLANS_AFTER: Final = 200
"""Round trips after which the statements that a program repeats have been prepared."""
STATEMENTS_PREPARED: Final = 128
"""Statements that the server keeps prepared for a connection, at most."""
_SHORTEST_TIMEOUT: Final = 2  # seconds; libpq rounds shorter ones up


class RawConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that a forked child of this process never uses.

    Attributes:
        trips: how many round trips sessions have made over it.
        partitioned: whether the tables of the store are partitioned.
        prepared: the names of the statements that a stream prepared at the server, by their text and the types of
            their values; an empty name for those that were sent once. psycopg keeps those of its cursors itself.
        dumping: converts values for libpq.
        loading: converts the values of results.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401  # psycopg's own
        super().__init__(*arguments, **options)
        self.trips = 0
        self.partitioned = False
        self.prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self.dumping = Transformer(self)
        self.loading = Transformer(self)
        forks.watch(self)

    @property
    def used(self) -> bool:
        """Whether a session has sent anything over it."""
        return self.trips > 0

    @property
    def keeps_plans(self) -> bool:
        """Whether reads should run with the plan that the server keeps of a prepared statement.

        For partitioned tables the server plans each execution again, because it compares the cost of reading one
        partition with that of reading all, though a kept plan reads one too. With 64 partitions a kept plan takes about a
        hundred times as long to make, so a short use does without, and so do statements that are not prepared.
        """
        return (
            self.partitioned
            and self.prepares
            and self.trips >= KEEPS_PLANS_AFTER
            and len(self.prepared) < STATEMENTS_PREPARED
        )

    @property
    def prepares(self) -> bool:
        """Whether statements that are sent again are prepared; not so at first."""
        return self.prepare_threshold is not None

    @prepares.setter
    def prepares(self, prepares: bool) -> None:
        self.prepare_threshold = _PREPARED_AFTER if prepares else None

    def after_fork(self) -> None:
        """In a forked child: disconnect the parent's socket. The connection is neither closed nor finalised.

        A query of the child would mix the replies of both processes, and closing the connection would end the parent's
        session. While a child keeps the socket open, the server does not notice the end of the parent.
        """
        forks.abandon(self)
        if not self.closed:
            forks.disconnect(self.pgconn.socket)


def connected(url: str, seconds: float = 30.0, application_name: str = "slowwave") -> RawConnection:
    """A new connection in autocommit mode, which prepares no statement.

    Args:
        url: the address. Its options `application_name` and `connect_timeout` come before the arguments.
        seconds: the time-out.
        application_name: what the server shows in pg_stat_activity.

    Raises:
        NotConnected: with the reason of the server or of libpq.
    """
    try:
        known = conninfo.conninfo_to_dict(url)
        options: dict[str, Any] = {"connect_timeout": max(_SHORTEST_TIMEOUT, int(seconds)), **known}
        options.setdefault("fallback_application_name", application_name)
        return RawConnection.connect(autocommit=True, prepare_threshold=None, **options)
    except psycopg.OperationalError as error:
        raise NotConnected(str(error)) from error


class Pool:
    """At most `most` connections at once. If all are in use, holders wait and get one in the order in which they asked.

    No background thread runs. A thread that needs a connection while the server is down retries until its time-out.

    Args:
        name: the address without its password, for messages.
        most: the greatest number of connections.
        configure: called with each new connection.
        connect: opens a connection within so many seconds.
    """

    def __init__(
        self,
        name: str,
        *,
        most: int,
        configure: Callable[[RawConnection], None],
        connect: Callable[[float], RawConnection],
    ) -> None:
        self._connect = connect
        self._name = name
        self._configure = configure
        self._most = most
        self._lock = threading.RLock()  # a signal handler may close the store while this thread holds it
        self._freed = threading.Condition(self._lock)
        self._queue: deque[object] = deque()  # the holders that wait; the first takes the next connection
        self._taken: dict[object, RawConnection | None] = {}  # by holder; None while one is opened
        self._idle: list[RawConnection] = []
        self._closed = False

    def limit(self, most: int) -> None:
        """Change the greatest number of connections; those above it are kept until the pool closes."""
        with self._lock:
            self._most = most
            self._freed.notify_all()

    def take(self, holder: object, seconds: float) -> RawConnection:
        """Take a connection out of the pool, or open one, within so many seconds.

        The pool knows the holder of each connection, so that `drop` finds what an interrupted call has taken.

        Raises:
            BusyError: all connections stayed in use.
            NotConnected: the server could not be reached.
        """
        ends = time.monotonic() + seconds
        with self._lock:
            if self._queue or len(self._taken) >= self._most:
                self._wait(holder, ends)
            self._taken[holder] = None
            while self._idle:
                raw = self._taken[holder] = self._idle[-1]
                del self._idle[-1]
                if not raw.closed:
                    return raw
        try:
            raw = self._taken[holder] = self._connected(ends)
        except Exception:
            self.drop(holder)
            raise
        return raw

    @child("slowwave.pool.wait")
    def _wait(self, holder: object, ends: float) -> None:
        self._queue.append(holder)
        try:
            if not self._freed.wait_for(lambda: self._is_next(holder), ends - time.monotonic()):
                raise BusyError(
                    f"all {self._most} connections of this process to {self._name} stayed in use: raise the setting "
                    "`connections`, or run fewer calls at a time",
                    reason="connections",
                )
        finally:
            self._queue.remove(holder)
            self._freed.notify_all()  # another connection may be free for the next holder

    def _is_next(self, holder: object) -> bool:
        return self._queue[0] is holder and len(self._taken) < self._most

    def _connected(self, ends: float) -> RawConnection:
        while True:
            remaining = ends - time.monotonic()
            try:
                raw = self._connect(remaining)
            except NotConnected:
                if remaining <= 0:
                    raise
                time.sleep(_PAUSE)
            else:
                self._configure(raw)
                return raw

    @property
    def in_use(self) -> int:
        """The number of connections that threads hold now."""
        return len(self._taken)

    @property
    def waiting(self) -> int:
        """The number of threads that wait for a connection now."""
        return len(self._queue)

    def give(self, holder: object) -> None:
        """Return the connection of this holder to the pool, if it has one."""
        with self._lock:
            raw = self._taken.get(holder)
            if raw is not None and self._closed:
                raw.close()
            is_open = raw is not None and not raw.closed
            self._freed.notify_all()
            if holder in self._taken:
                del self._taken[holder]
            if raw is not None and is_open:
                self._idle.append(raw)

    def drop(self, holder: object) -> None:
        """Close the connection of this holder, if it has one: the server rolls its transaction back."""
        raw = self._taken.get(holder)
        if raw is not None:
            raw.close()
        self.give(holder)

    def close(self) -> None:
        """Close the idle connections now, and the others when they are returned."""
        with self._lock:  # `take` and `give` change the list of idle ones
            self._closed = True
            while self._idle:
                self._idle.pop().close()
