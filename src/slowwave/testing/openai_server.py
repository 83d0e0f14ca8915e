"""An OpenAI-compatible HTTP server on the loopback interface that answers, fails and stalls by a script."""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

WIDTH: Final = 16
"""The width of its embeddings, which are sums of a vector for each word's hash."""
_HTML: Final = "<html><head><style>p {}</style></head><body><h1>Bad gateway</h1><p>nginx</p></body></html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One received request."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One response.

    Args:
        text: what the model says, in the form of the endpoint that was asked; None for `body` as it is.
        body: the whole body instead.
        status: the HTTP status.
        headers: further headers.
        delay: seconds before anything is sent.
        drip: seconds between one byte of the body and the next.
        cut: whether the connection breaks in the middle of the body.
        refusal: whether the text is given as a refusal.
    """

    text: str | None = None
    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0
    cut: bool = False
    refusal: bool = False


Behaviour = Served | Callable[[Received], Served]


def says(text: str) -> Served:
    """An answer of the model."""
    return Served(text=text)


def fails(status: int, message: str = "try again later", *, retry_after: str | None = None, code: str = "") -> Served:
    """An error in the format of OpenAI."""
    headers = {"Retry-After": retry_after} if retry_after is not None else {}
    return Served(status=status, body=json.dumps({"error": {"message": message, "code": code}}), headers=headers)


def shows_html(status: int = 502) -> Served:
    """The error page of a proxy."""
    return Served(status=status, body=_HTML, headers={"Content-Type": "text/html"})


def breaks_off(text: str) -> Served:
    """Half of an answer, then nothing."""
    return Served(text=text, cut=True)


def stalls(seconds: float, text: str = "too late") -> Served:
    """An answer after a delay."""
    return Served(text=text, delay=seconds)


def drips(seconds: float, text: str = "too slow") -> Served:
    """An answer byte by byte."""
    return Served(text=text, drip=seconds)


def refuses(text: str = "I can't help with that.") -> Served:
    """A refusal of the model."""
    return Served(text=text, refusal=True)


def takes_no_schema(text: str) -> Callable[[Received], Served]:
    """A server that answers 400 to a request with a schema, and otherwise as usual."""
    refused = fails(400, "'response_format' of type 'json_schema' is not supported")
    return lambda received: refused if "response_format" in received.body else says(text)


class OpenAIServer:
    """Serves /v1/chat/completions, /v1/completions, /v1/embeddings and /api/generate from a script, and /v1/models.

        with OpenAIServer(fails(429, retry_after="1"), says("hello")) as server:
            OpenAICompatible("any", server.url).complete(messages=[...])

    Args:
        script: what to do, request by request; the last behaviour stays. An empty script says nothing at all.
        models: the names that /v1/models lists, which is no part of the script; None: 404.
    """

    def __init__(self, *script: Behaviour, models: Sequence[str] | None = None) -> None:
        self.received: list[Received] = []
        self._models = models
        self._script: deque[Behaviour] = deque(script or (says(""),))
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._http = _Server(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> Self:
        """Serve until the end of the block."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving and abort pending answers."""
        self._ended.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def root(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL of its OpenAI API."""
        return f"{self.root}/v1"

    def list_models(self, received: Received) -> Served:
        """The response to a GET request."""
        with self._lock:
            self.received.append(received)
        if self._models is None or received.path != "/v1/models":
            return fails(404, f"no such path: {received.path}")
        return Served(body=json.dumps({"object": "list", "data": [{"id": name} for name in self._models]}))

    def respond(self, received: Received) -> Served:
        """The response of the next behaviour of the script to this request."""
        with self._lock:
            self.received.append(received)
            behaviour = self._script.popleft() if len(self._script) > 1 else self._script[0]
        return behaviour if isinstance(behaviour, Served) else behaviour(received)

    def pause(self, seconds: float) -> bool:
        """Wait, at most until the server stops; returns whether it still serves."""
        return not self._ended.wait(seconds) if seconds else not self._ended.is_set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: OpenAIServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the standard library has it
        """Ignore errors of connections that clients close, which tests do on purpose."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        served = self.server.owner.list_models(Received(path=self.path, headers=headers, body={}))
        self._send(served, served.body.encode())

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        received = Received(path=self.path, headers={k.lower(): v for k, v in self.headers.items()}, body=body)
        served = self.server.owner.respond(received)
        write = _BODIES.get(self.path.split("?")[0])
        if write is None:
            served = fails(404, f"no such path: {self.path}")
        sent = served.body if served.text is None or write is None else json.dumps(write(received, served))
        if self.server.owner.pause(served.delay):
            self._send(served, sent.encode("utf-8", "replace"))

    def _send(self, served: Served, body: bytes) -> None:
        self.send_response(served.status)
        for name, value in {
            "Content-Type": "application/json",
            **served.headers,
            "Content-Length": str(len(body)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        body = body[: len(body) // 2] if served.cut else body
        if not served.drip:
            self.wfile.write(body)
            return
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if not self.server.owner.pause(served.drip):
                return

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _chat(received: Received, served: Served) -> dict[str, Any]:
    message = {"role": "assistant", "content": served.text, "refusal": None}
    if served.refusal:
        message |= {"content": None, "refusal": served.text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"object": "chat.completion", "model": received.body.get("model"), "choices": [choice], **_usage(served)}


def _completion(received: Received, served: Served) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "text": served.text}
    return {"object": "text_completion", "model": received.body.get("model"), "choices": [choice], **_usage(served)}


def _generate(received: Received, served: Served) -> dict[str, Any]:
    done = {"done": True, "prompt_eval_count": 11, "eval_count": len(served.text or "")}
    return {"model": received.body.get("model"), "response": served.text, **done}


def _embeddings(received: Received, _: Served) -> dict[str, Any]:
    texts = received.body.get("input", [])
    texts = [texts] if isinstance(texts, str) else texts
    rows = [{"object": "embedding", "index": place, "embedding": _vector(text)} for place, text in enumerate(texts)]
    return {
        "object": "list",
        "model": received.body.get("model"),
        "data": rows,
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


def _vector(text: str) -> list[float]:
    hashes = [
        blake2b(word.encode("utf-8", "replace"), digest_size=WIDTH).digest() for word in text.casefold().split() or [""]
    ]
    return [sum(one[place] - 127.5 for one in hashes) for place in range(WIDTH)]


def _usage(served: Served) -> dict[str, Any]:
    said = len(served.text or "")
    return {"usage": {"prompt_tokens": 11, "completion_tokens": said, "total_tokens": 11 + said}}


_BODIES: Final[Mapping[str, Callable[[Received, Served], dict[str, Any]]]] = {
    "/v1/chat/completions": _chat,
    "/v1/completions": _completion,
    "/v1/embeddings": _embeddings,
    "/api/generate": _generate,
}
