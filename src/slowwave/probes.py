"""Answers the probes of an orchestrator over HTTP: is the process alive, and can it work?

`/healthz` answers 200 while the process works, and 503 when its main loop has stopped. `/readyz` answers 200 when the store
can be reached and has a schema that fits, and 503 with the reasons otherwise. The answers are JSON and name no scope.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

from slowwave.errors import InputError, SlowwaveError

LAST_PORT: Final = 65_535


class Answer(NamedTuple):
    """The status code and the body of an answer."""

    code: int
    body: dict[str, Any]


class Heartbeat:
    """The time at which the main loop of a process was last alive.

    Args:
        most: seconds without a beat after which the process counts as stopped.
    """

    def __init__(self, most: float) -> None:
        self._most = most
        self._last = time.monotonic()

    def beat(self) -> None:
        """Record that the main loop is alive."""
        self._last = time.monotonic()

    def healthy(self) -> Answer:
        """The answer to `/healthz`."""
        silent = time.monotonic() - self._last
        alive = silent <= self._most
        return Answer(
            200 if alive else 503, {"status": "ok" if alive else "stopped", "silent_seconds": round(silent, 1)}
        )


def readiness(problems: Callable[[], Sequence[str]]) -> Answer:
    """The answer to `/readyz`, also for another HTTP server: 200, or 503 with the reasons.

    Args:
        problems: returns why requests cannot be served, such as `Slowwave.ready`.
    """
    try:
        reasons = list(problems())
    except SlowwaveError as error:
        reasons = [f"{type(error).__name__}: the store cannot be used"]  # a message may name an address
    return Answer(503 if reasons else 200, {"status": "not ready" if reasons else "ok", "reasons": reasons})


@contextmanager
def serve(
    port: int, healthy: Callable[[], Answer], problems: Callable[[], Sequence[str]], host: str = ""
) -> Iterator[int]:
    """Answer `/healthz` and `/readyz` on a thread during the block.

    Args:
        port: the port; 0: any free one.
        healthy: the answer to `/healthz`.
        problems: why the process is not ready; called for each `/readyz`.
        host: the address to listen at; empty: all.

    Yields:
        The port.

    Raises:
        InputError: the port is out of range or in use.
    """
    routes: dict[str, Callable[[], Answer]] = {"/healthz": healthy, "/readyz": lambda: readiness(problems)}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            route = routes.get(self.path.partition("?")[0])
            answer = Answer(404, {"status": "no such page"}) if route is None else route()
            body = json.dumps(answer.body).encode()
            self.send_response(answer.code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:  # noqa: ANN401 - of the base class
            """Write no line for each probe."""

    if not 0 <= port <= LAST_PORT:
        raise InputError(f"{port} is not a port: take 0 to {LAST_PORT}")
    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError as error:
        raise InputError(f"the port {port} cannot be used ({error.strerror}): take another one") from error
    thread = threading.Thread(target=server.serve_forever, name="slowwave-probes", daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
