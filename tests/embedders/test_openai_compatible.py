"""A served embedding model, asked over real HTTP on this machine."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
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


def test_a_width_may_change_between_calls_and_not_within_one() -> None:
    widths = iter([2, 3, 4, 5])
    with served(lambda body: (200, vectors([[1.0] * next(widths)] * len(body["input"])))) as (embedder, _):
        assert [embedder.embed(["a"]).shape[1] for _ in range(2)] == [2, 3]
        with pytest.raises(EmbedderError, match="not rows of numbers"):
            embedder.embed(["a"] * 65)


REFUSED = (413, {"error": {"message": "too large"}})


@pytest.mark.parametrize("most", [1, 5, 41])
def test_a_batch_that_is_too_large_for_the_server_is_split(most: int) -> None:
    def answer(body: Any) -> tuple[int, Any]:  # noqa: ANN401
        rows = [[1.0, float(len(text))] for text in body["input"]]
        return (200, vectors(rows)) if len(rows) <= most else REFUSED

    texts = ["a" * (1 + place) for place in range(42)]
    with served(answer) as (embedder, _):
        rows = checked(embedder, texts)
    assert [round(float(row[1] / row[0])) for row in rows] == [len(text) for text in texts]


def test_the_beginning_of_a_text_that_is_too_long_is_embedded() -> None:
    def answer(body: Any) -> tuple[int, Any]:  # noqa: ANN401
        longest = max(map(len, body["input"]))
        return (200, vectors([[1.0, float(len(text))] for text in body["input"]])) if longest <= 30 else REFUSED

    with served(answer) as (embedder, _):
        rows = checked(embedder, ["a" * 8, "b" * 100, "c" * 9])
    assert [round(float(row[1] / row[0])) for row in rows] == [8, 25, 9]


def test_a_server_that_refuses_everything_or_does_not_answer_is_not_asked_in_parts() -> None:
    for refusal, most in ((REFUSED, 5), ((404, {}), 1)):
        with served(lambda _, refusal=refusal: refusal) as (embedder, asked), pytest.raises(EmbedderError):
            checked(embedder, ["abcdefgh"] * 42)
        assert len(asked) == most


@pytest.mark.parametrize(("error", "calls"), [(ValueError, 4), (TimeoutError, 1)])
def test_a_batch_that_an_embedder_in_process_refuses_is_split(error: type[Exception], calls: int) -> None:
    class Small:
        name = "small"
        asked = 0

        def embed(self, texts: Sequence[str], /) -> "np.ndarray[Any, np.dtype[np.float32]]":
            self.asked += 1
            if len(texts) > 2:
                raise error("too many texts")
            return np.ones((len(texts), 3), dtype=np.float32)

    small = Small()
    if error is TimeoutError:
        with pytest.raises(EmbedderError):
            checked(small, ["a", "b", "c"])
    else:
        assert checked(small, ["a", "b", "c"]).shape == (3, 3)
    assert small.asked <= calls


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
