"""Connections that threads take turns with: made when they are needed, kept while they are sound."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final

import psycopg
from psycopg.adapt import Transformer

from slowwave import forks
from slowwave.errors import BusyError
from slowwave.stores.postgres.errors import NotConnected

_PAUSE: Final = 0.05
_FEWEST_SECONDS: Final = 2  # what libpq takes for a time-out


class RawConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection.

    Attributes:
        prepared: the names of statements that the server has prepared for it, by their text and the types of their
            values; none yet for those that were sent once. psycopg keeps those of cursors itself.
        dumping: makes values what libpq takes.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401  # psycopg's own
        super().__init__(*arguments, **options)
        self.prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self.dumping = Transformer(self)
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: the parent's connection is unusable, and is neither closed nor finalised.

        A child that asked over it would mix its answers with its parent's, and one that closed it would end the session
        of its parent. Without the socket the server sees when the parent ends.
        """
        forks.abandon(self)
        if not self.closed:
            forks.disconnect(self.pgconn.socket)


def connected(url: str, seconds: float = 30.0) -> RawConnection:
    """A new connection, each of whose statements is a transaction unless one is begun.

    Raises:
        NotConnected: there is none, and why.
    """
    try:
        return RawConnection.connect(url, autocommit=True, connect_timeout=max(_FEWEST_SECONDS, int(seconds)))
    except psycopg.OperationalError as error:
        raise NotConnected(str(error)) from error


class Pool:
    """At most so many connections at once; whoever finds none waits.

    Nothing runs in the background, and nothing is logged: a server that is away is tried again by whoever needs it.

    Args:
        url: the address.
        name: the address as messages name it.
        most: how many connections.
        configure: called with each new one.
    """

    def __init__(self, url: str, name: str, *, most: int, configure: Callable[[RawConnection], None]) -> None:
        self._url = url
        self._name = name
        self._configure = configure
        self._most = most
        self._lock = threading.Lock()
        self._freed = threading.Condition(self._lock)
        self._taken = self._waiting = 0
        self._idle: list[RawConnection] = []
        self._closed = False

    def take(self, seconds: float) -> RawConnection:
        """A connection; a server that is away gets so long to come back.

        Raises:
            BusyError: all connections stayed in use.
            NotConnected: the server did not come back.
        """
        ends = time.monotonic() + seconds
        with self._lock:
            if self._taken >= self._most:
                self._wait(ends)
            self._taken += 1
            while self._idle:
                raw = self._idle.pop()
                if not raw.closed:
                    return raw
        try:
            return self._connected(ends)
        except BaseException:
            self._free()
            raise

    def _wait(self, ends: float) -> None:
        self._waiting += 1
        try:
            while self._taken >= self._most:
                if not self._freed.wait(ends - time.monotonic()):
                    raise BusyError(
                        f"all connections to {self._name} are in use: open the store with more `connections`"
                    )
        finally:
            self._waiting -= 1

    def _free(self, raw: RawConnection | None = None) -> None:
        with self._lock:
            if raw is not None:
                self._idle.append(raw)
            self._taken -= 1
            if self._waiting:
                self._freed.notify()

    def _connected(self, ends: float) -> RawConnection:
        while True:
            left = ends - time.monotonic()
            try:
                raw = connected(self._url, left)
            except NotConnected:
                if left <= 0:
                    raise
                time.sleep(_PAUSE)
            else:
                self._configure(raw)
                return raw

    def give(self, raw: RawConnection) -> None:
        """Back, for the next."""
        if self._closed:
            raw.close()
        self._free(None if raw.closed else raw)

    def close(self) -> None:
        """Close what is idle now, and the others when they come back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
