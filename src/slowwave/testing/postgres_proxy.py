"""A proxy in front of a Postgres server that counts round trips and may delay what it passes on."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from urllib.parse import parse_qs, urlsplit

_CHUNK = 1 << 20
_BACKLOG = 64
_SOON = 5.0


class Proxy:
    """Passes bytes between clients and a server.

    A round trip is a message of a client after an answer of the server: the client has waited for the answer.

    Args:
        address: the address of the server.
        delay: how long each direction holds a message back, in seconds.

    Attributes:
        trips: how many round trips all clients have made.
        url: the address of the proxy.
    """

    def __init__(self, address: str, delay: float = 0.0) -> None:
        parts = urlsplit(address)
        query = parse_qs(parts.query)
        host, port = query.get("host", [parts.hostname or "localhost"])[0], parts.port or 5432
        self._server = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)
        self._delay = delay
        self.trips = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        user = f"{parts.username}@" if parts.username else ""
        self.url = f"postgresql://{user}127.0.0.1:{self._listener.getsockname()[1]}{parts.path}?sslmode=disable"
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def close(self) -> None:
        """End all connections, and accept no further client."""
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_SOON)
        for each in (self._listener, *self._sockets):
            each.close()

    def _start(self, function: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                family = socket.AF_UNIX if isinstance(self._server, str) else socket.AF_INET
                server = socket.socket(family)
                self._sockets += (client, server)
                server.connect(self._server)
                for each in (client, server):
                    with suppress(OSError):
                        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                answered = threading.Event()
                answered.set()
                self._start(self._pass, client, server, answered, True)
                self._start(self._pass, server, client, answered, False)

    def _pass(self, source: socket.socket, target: socket.socket, answered: threading.Event, asks: bool) -> None:
        sent: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
        self._start(self._deliver, sent, source, target)
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                if asks and answered.is_set():
                    answered.clear()
                    self.trips += 1
                elif not asks:
                    answered.set()
                sent.put((time.monotonic() + self._delay, data))
        sent.put((0.0, b""))

    def _deliver(self, sent: "SimpleQueue[tuple[float, bytes]]", source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while (message := sent.get())[1]:
                if (left := message[0] - time.monotonic()) > 0:
                    time.sleep(left)
                target.sendall(message[1])
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(address: str, delay: float = 0.0) -> Iterator[Proxy]:
    """A proxy for the duration of the block."""
    proxy = Proxy(address, delay)
    try:
        yield proxy
    finally:
        proxy.close()
