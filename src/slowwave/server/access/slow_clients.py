"""Closes connections whose request does not arrive in time, and those over a number, for which uvicorn has no limit."""

from asyncio import Protocol, TimerHandle, Transport
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS_MOST: Final = 500
"""Open connections of a server; a further one is closed at once. The files of a store need some of the descriptors."""
BYTES_A_SECOND: Final = 500
"""The least average speed of a body, once it has taken twice as long as a header may."""


def protocol(seconds: float, connections: int = CONNECTIONS_MOST) -> type[Protocol]:
    """The protocol of connections for `uvicorn.Config(http=...)`. It closes one whose client is too slow.

    Args:
        seconds: how long the header of a request may take, from the opening of the connection or from the first byte
            of a later request; how long no byte of a body may come; and how long the rest of a body may take when the
            request is answered already. A body that takes more than twice as long needs 500 bytes a second on average: otherwise one
            byte now and then would hold a connection for ever.
        connections: how many are open at once.
    """

    class Limited(_Timed):
        limit = seconds
        most = connections

    return Limited


class _Timed(H11Protocol):
    """A connection that is closed when its client does not send what is due within `limit` seconds."""

    limit: float
    most: int

    def __init__(self, *arguments: Any, **keywords: Any) -> None:  # noqa: ANN401 - those of uvicorn
        super().__init__(*arguments, **keywords)
        self._timer: TimerHandle | None = None
        self._begun: float | None = None  # when the body began, without the time in which the server did not read
        self._came = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Wait for the header of the first request."""
        super().connection_made(transport)
        self._start()
        if len(self.connections) > self.most:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of the header or of the body, or for nothing."""
        before = self.conn.their_state
        self._came = self._came + len(data) if before is h11.SEND_BODY else 0
        super().data_received(data)
        if before is h11.SEND_BODY and self.conn.their_state is h11.IDLE:
            self._stop()  # the rest of a body that was answered has come
        self._wait()

    def on_response_complete(self) -> None:
        """Wait for the rest of a request that came with the answered one."""
        self._begun = None
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        state = self.conn.their_state
        if state is not h11.SEND_BODY:
            self._begun = None
        elif self._begun is None:
            self._begun = self.loop.time()
        if state is h11.IDLE:
            if self._timer is None and self.conn.trailing_data[0]:
                self._start()
        elif state is not h11.SEND_BODY:
            self._stop()
        elif self.conn.our_state is not h11.DONE:
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        super().connection_lost(exc)
        self._stop()

    def _start(self) -> None:
        self._stop()
        until = self.loop.time() + self.limit
        if self._begun is not None:
            until = min(until, self._begun + 2 * self.limit + self._came / BYTES_A_SECOND)
        self._timer = self.loop.call_at(until, self._end)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        if self.flow.read_paused:  # more has come than the server has read
            self._begun = self.loop.time()
            self._start()
        else:
            self.transport.close()
