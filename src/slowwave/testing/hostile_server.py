"""A TCP server on the loopback interface that reads a request and then sends the bytes of a script, HTTP or not."""

import socket
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Self

Script = Callable[[bytes], Iterable[bytes]]
"""Takes the bytes of a request and yields the pieces to send."""

MEGABYTE: Final = 1_000_000
_JSON: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


class HostileServer:
    """Counts the bytes that it sent and stores the requests; each connection serves one request.

        with HostileServer(drip_headers) as server:
            ...

    Args:
        script: the pieces to send.
        pause: seconds between two pieces.
    """

    def __init__(self, script: Script, pause: float = 0.0) -> None:
        self.received: list[bytes] = []
        self.sent = 0
        self._script, self._pause = script, pause
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        """Serve until the end of the block."""
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections and wait for their threads."""
        self._ended.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """The base URL of its simulated API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(lambda connection=connection: self._serve(connection))  # type: ignore[misc]

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(0.05)
            try:
                request = self._request(connection)
                self.received.append(request)
                if not _whole(request):
                    return  # the client has closed the connection, or the server ends
                for piece in self._script(request):
                    self._send(connection, piece)
                    if self._ended.wait(self._pause):
                        return
            except OSError:
                return  # the client has closed the connection

    def _request(self, connection: socket.socket) -> bytes:
        request = b""
        while not _whole(request):
            try:
                piece = connection.recv(65_536)
            except TimeoutError:
                if self._ended.is_set():
                    break  # no more than this was sent
                continue
            if not piece:
                break
            request += piece
        return request

    def _send(self, connection: socket.socket, piece: bytes) -> None:
        view = memoryview(piece)
        while view and not self._ended.is_set():
            try:
                sent = connection.send(view)
            except TimeoutError:
                continue
            self.sent += sent
            view = view[sent:]


def _whole(request: bytes) -> bool:
    head, end, body = request.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(end) and len(body) >= int(lengths[0] if lengths else 0)


def silence(_: bytes) -> Iterator[bytes]:
    """Sends nothing, without end."""
    while True:
        yield b""


def drip_headers(_: bytes) -> Iterator[bytes]:
    """Sends a header byte by byte, without end."""
    yield b"HTTP/1.1 200 OK\r\nX-Drip: "
    while True:
        yield b"x"


def endless_continue(_: bytes) -> Iterator[bytes]:
    """Sends interim replies without end."""
    while True:
        yield b"HTTP/1.1 100 Continue\r\n\r\n"


def drip_body(_: bytes) -> Iterator[bytes]:
    """Sends a body byte by byte, without end."""
    yield _JSON + b"Content-Length: 1000000\r\n\r\n"
    while True:
        yield b" "


def flood(megabytes: int) -> Script:
    """A chunked body of so many megabytes."""

    def script(_: bytes) -> Iterator[bytes]:
        yield _JSON + b"Transfer-Encoding: chunked\r\n\r\n"
        for _number in range(megabytes):
            yield b"%x\r\n%b\r\n" % (MEGABYTE, b" " * MEGABYTE)
        yield b"0\r\n\r\n"

    return script


def bomb(megabytes: int) -> Script:
    """A small compressed body that unpacks to so many megabytes."""
    packer = zlib.compressobj(wbits=31)
    packed = b"".join(packer.compress(b" " * MEGABYTE) for _ in range(megabytes)) + packer.flush()
    head = _JSON + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    return lambda _: [head, packed]


def echo(status: str, body: str = '{{"error": {{"message": "refused: {0}"}}}}', header: str = "X-Echo") -> Script:
    """Sends the Authorization header of the request back in the body, in a header and in the status line.

    Args:
        status: the number and the reason.
        body: the body's format.
        header: the name of the header.
    """

    def script(request: bytes) -> Iterator[bytes]:
        lines = request.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        value = next(line.partition(": ")[2] for line in lines if line.lower().startswith("authorization:"))
        sent = body.format(value).encode()
        yield (
            f"HTTP/1.1 {status} {value}\r\n{header}: {value}\r\nConnection: close\r\nContent-Length: {len(sent)}\r\n\r\n".encode()
            + sent
        )

    return script
