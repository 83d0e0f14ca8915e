"""A proxy in front of a Postgres server that counts round trips and may delay what it passes on."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

_CHUNK = 1 << 20
_BACKLOG = 64


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
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no further client."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                family = socket.AF_UNIX if isinstance(self._server, str) else socket.AF_INET
                server = socket.socket(family)
                server.connect(self._server)
                for each in (client, server):
                    with suppress(OSError):
                        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                answered = threading.Event()
                answered.set()
                threading.Thread(target=self._pass, args=(client, server, answered, True), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, answered, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, answered: threading.Event, asks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                if asks and answered.is_set():
                    answered.clear()
                    self.trips += 1
                elif not asks:
                    answered.set()
                if self._delay:
                    time.sleep(self._delay)
                target.sendall(data)
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
