"""A server on this machine with scripted answers, for the real clients of OpenAI and Anthropic."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Reply = Mapping[str, Any] | Sequence[Mapping[str, Any]] | int
"""A JSON object; or the events of a stream; or the status of an error."""


class Loopback:
    """What the server was asked, and what it will answer; the last reply is repeated."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked: list[dict[str, Any]] = []
        self.url = ""

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A running server."""
    state = Loopback()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.asked.append({"path": self.path, **body})
            reply = state.next_reply()
            if isinstance(reply, int):
                self._send(reply, "application/json", b'{"error": {"type": "api_error", "message": "down"}}')
            elif isinstance(reply, Mapping):
                self._send(200, "application/json", json.dumps(reply).encode())
            else:
                lines = (f"event: {event.get('type', 'x')}\ndata: {json.dumps(event)}\n\n" for event in reply)
                named = any("type" in event for event in reply)
                text = "".join(lines if named else (f"data: {json.dumps(event)}\n\n" for event in reply))
                self._send(200, "text/event-stream", (text if named else f"{text}data: [DONE]\n\n").encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
