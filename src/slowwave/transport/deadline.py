"""A deadline for all socket operations of an HTTP call.

The time-outs of HTTP clients limit the wait for the next bytes. A server that sends one byte a second, of headers, of a
body or of endless `100 Continue` replies, never exceeds them. Here each read and write waits at most until the deadline.
"""

import threading
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import ssl

    from httpcore2 import NetworkBackend, NetworkStream
    from httpx2 import Client

_WRITE_SIZE: Final = 65_536
"""Bytes per write. The deadline is checked between two writes, because a server may read slowly."""


class Deadline(threading.local):
    """The instant at which the call of the current thread ends, by the monotonic clock."""

    end = 0.0

    def start(self, seconds: float) -> None:
        """Start a call that ends after this number of seconds."""
        self.end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds until the end; 0 or less if it has passed."""
        return self.end - time.monotonic()


def bind(client: "Client", deadline: Deadline) -> None:
    """Apply the deadline to all connections of a client, also to those through a proxy of the environment.

    httpcore has an argument for the network backend, but httpx does not pass one.
    """
    transports: set[Any] = {client._transport, *client._mounts.values()} - {None}  # noqa: SLF001 - see above
    for transport in transports:
        pool = transport._pool  # noqa: SLF001 - see above
        pool._network_backend = _Backend(pool._network_backend, deadline)  # noqa: SLF001 - see above


class _Backend:
    """Opens connections; an httpcore NetworkBackend."""

    def __init__(self, inner: "NetworkBackend", deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> "_Stream":  # noqa: ANN401 - passed on
        timeout = _shortened(self._deadline, timeout, "ConnectTimeout")
        return _Stream(self._inner.connect_tcp(host, port, timeout=timeout, **options), self._deadline)

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


class _Stream:
    """One connection; an httpcore NetworkStream."""

    def __init__(self, inner: "NetworkStream", deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        timeout = _shortened(self._deadline, timeout, "ReadTimeout")
        return self._inner.read(max_bytes, timeout=timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _WRITE_SIZE):
            timeout = _shortened(self._deadline, timeout, "WriteTimeout")
            self._inner.write(buffer[start : start + _WRITE_SIZE], timeout=timeout)

    def start_tls(
        self, ssl_context: "ssl.SSLContext", server_hostname: str | None = None, timeout: float | None = None
    ) -> "_Stream":
        timeout = _shortened(self._deadline, timeout, "ConnectTimeout")
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, timeout=timeout), self._deadline)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as httpcore has it
        return self._inner.get_extra_info(info)

    def close(self) -> None:
        self._inner.close()


def _shortened(deadline: Deadline, timeout: float | None, late: str) -> float:
    """The time-out of one operation: at most until the deadline; raises the named error of httpcore once it has passed."""
    remaining = deadline.remaining()
    if remaining <= 0:
        import httpcore2  # noqa: PLC0415 - loaded by the first connection

        error: type[Exception] = getattr(httpcore2, late)
        raise error("the deadline of the call has passed")
    return remaining if timeout is None else min(timeout, remaining)
