"""A served embedding model, asked over real HTTP on this machine."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from slowwave.embedders import checked
from slowwave.embedders.openai import BATCH, OpenAICompatibleEmbedder
from slowwave.errors import EmbedderError

Answer = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]


@contextmanager
def served(answer: Answer) -> Iterator[tuple[OpenAICompatibleEmbedder, list[dict[str, Any]]]]:
    """An embedder whose server answers what it is told to, and the requests it saw."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"  # one request a connection: nothing is left open when the server stops

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({"path": self.path, "key": self.headers["Authorization"], **request})
            status, body = answer(request)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    embedder = OpenAICompatibleEmbedder("tiny", api_key="secret", base_url=f"http://127.0.0.1:{server.server_port}/v1")
    try:
        yield embedder, seen
    finally:
        embedder.close()
        server.shutdown()
        thread.join()
        server.server_close()


def vectors(rows: list[list[float]], *, backwards: bool = False) -> dict[str, Any]:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data[::-1] if backwards else data, "model": "tiny", "usage": usage}


def lengths(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    return 200, vectors([[3.0, 4.0 * len(text)] for text in request["input"]], backwards=True)


def test_rows_have_unit_length_and_the_order_of_the_texts() -> None:
    with served(lengths) as (embedder, seen):
        rows = checked(embedder, ["a", "bb"])
    np.testing.assert_allclose(rows, [[0.6, 0.8], [3 / 73**0.5, 8 / 73**0.5]], rtol=1e-6)
    assert rows.dtype == np.float32
    assert seen == [
        {
            "path": "/v1/embeddings",
            "key": "Bearer secret",
            "input": ["a", "bb"],
            "model": "tiny",
            "encoding_format": "float",
        }
    ]


def test_many_texts_are_requested_in_batches() -> None:
    with served(lengths) as (embedder, seen):
        rows = checked(embedder, ["text"] * (BATCH + 1))
    assert len(rows) == BATCH + 1
    assert [len(request["input"]) for request in seen] == [BATCH, 1]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[1.0, 2.0]],
        [[1.0, 2.0]] * 3,
        [[1.0, 2.0], [1.0]],
        [[0.0, 0.0], [1.0, 1.0]],
        [[float("nan"), 1.0], [1.0, 1.0]],
    ],
)
def test_anything_but_one_finite_row_a_text_is_an_error(rows: list[list[float]]) -> None:
    with served(lambda _: (200, vectors(rows))) as (embedder, _), pytest.raises(EmbedderError, match="tiny"):
        embedder.embed(["a", "b"])


def test_a_changed_width_is_an_error() -> None:
    widths = iter([2, 3])
    with served(lambda _: (200, vectors([[1.0] * next(widths)]))) as (embedder, _):
        embedder.embed(["a"])
        with pytest.raises(EmbedderError, match="before, the width was 2"):
            embedder.embed(["a"])


def test_an_error_of_the_server_is_quoted() -> None:
    refusal = {"error": {"message": "no such model"}}
    with (
        served(lambda _: (404, refusal)) as (embedder, _),
        pytest.raises(EmbedderError, match="no such model") as caught,
    ):
        embedder.embed(["a"])
    assert caught.value.__cause__ is not None


def test_the_name_contains_the_server_unless_it_is_the_default() -> None:
    assert OpenAICompatibleEmbedder("small").name == "openai:small"
    assert OpenAICompatibleEmbedder("small", base_url="http://here/v1/").name == "openai:small@http://here/v1"
