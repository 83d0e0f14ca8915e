"""`slowwave serve` closes connections whose request does not arrive, and only those."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.ports import free_port
from tests.waiting import LONGEST, until

from slowwave.server.access.slow_clients import protocol

LIMIT = 2
"""Seconds of --request-seconds."""
POST = "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n[{{"
GET = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """The port of a server, and the file of its log."""
    folder = tmp_path_factory.mktemp("served")
    words = ["serve", "--store", str(folder / "m.db"), "--embedder", "none", "--llm", "none"]
    command = [sys.executable, "-m", "slowwave", *words, "--request-seconds", str(LIMIT), "--port"]
    with (
        free_port() as port,
        (folder / "log").open("w") as log,
        subprocess.Popen([*command, str(port)], stdout=log, stderr=log) as server,
    ):
        try:
            until(lambda: _answers(port))
            yield port, folder / "log"
        finally:
            server.kill()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def _end(port: int, beginning: str, more: str = "") -> tuple[bytes, float]:
    """What comes until the server closes a connection that sends a beginning, then `more` four times a limit; and when."""
    begun, got = time.monotonic(), b""
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.settimeout(LIMIT / 4)
        line.sendall(beginning.encode())
        while time.monotonic() - begun < LONGEST:
            try:
                came = line.recv(4096)
            except TimeoutError:
                line.sendall(more.encode())
                continue
            except ConnectionResetError:
                came = b""
            if not came:
                return got, time.monotonic() - begun
            got += came
    raise AssertionError("the connection was not closed")


@pytest.mark.parametrize(
    ("beginning", "more"),
    [
        ("", ""),
        ("GET / HT", ""),
        ("GET / HTTP/1.1\r\nX-Long: ", "x"),
        (POST.format("/v1/scopes/a/messages"), ""),
        (POST.format("/v1/scopes/a/imports?name=a.jsonl"), ""),
        (POST.format("/mem0/v1/memories/"), ""),
    ],
    ids=["nothing", "header", "slow header", "body", "body of an import", "body for mem0"],
)
def test_a_request_that_does_not_arrive_is_ended(served: tuple[int, Path], beginning: str, more: str) -> None:
    port, log = served
    got, seconds = _end(port, beginning, more)
    assert got == b""
    assert seconds >= LIMIT
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize("path", ["/v1/scopes/a/messages", "/v1/scopes/a/imports?name=a.jsonl", "/mem0/v1/memories/"])
def test_a_body_that_trickles_is_ended(served: tuple[int, Path], path: str) -> None:
    got, seconds = _end(served[0], POST.format(path).replace("Length: 50", "Length: 4000000"), "x")
    assert got == b""
    assert 2 * LIMIT <= seconds < 4 * LIMIT + 1


def test_a_connection_over_the_limit_is_closed_at_once_and_the_others_go_on() -> None:
    async def alive(_: Any, __: Any, send: Any) -> None:  # noqa: ANN401 - of ASGI
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    with free_port() as port, ExitStack() as stack:
        config = uvicorn.Config(
            alive, port=port, http=protocol(LONGEST, connections=2), log_level="error", lifespan="off"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            until(lambda: server.started)
            first, second = (stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(2))
            with socket.create_connection(("127.0.0.1", port)) as third:
                third.settimeout(LONGEST)
                with suppress(ConnectionResetError):
                    assert third.recv(1) == b""
            for line in (first, second):
                line.settimeout(LONGEST)
                line.sendall(GET.encode())
                assert line.recv(12) == b"HTTP/1.1 200"
        finally:
            server.should_exit = True
            thread.join(LONGEST)


def test_the_rest_of_a_body_that_is_not_read_has_the_limit_too(served: tuple[int, Path]) -> None:
    got, _ = _end(served[0], POST.format("/none"), " ")
    assert got.startswith(b"HTTP/1.1 404")


def test_a_later_request_of_a_connection_has_the_limit_too(served: tuple[int, Path]) -> None:
    got, _ = _end(served[0], GET, "x")
    assert got.startswith(b"HTTP/1.1 200")


def test_a_request_that_came_with_an_earlier_one_has_the_limit_too(served: tuple[int, Path]) -> None:
    got, _ = _end(served[0], GET + POST.format("/v1/scopes/a/messages"))
    assert got.startswith(b"HTTP/1.1 200")
    assert got.count(b"HTTP/1.1") == 1


def test_the_limit_of_a_body_does_not_end_the_next_request(served: tuple[int, Path]) -> None:
    with socket.create_connection(("127.0.0.1", served[0])) as line:
        line.settimeout(LONGEST)
        line.sendall(POST.format("/none").encode())
        assert line.recv(12) == b"HTTP/1.1 404"
        time.sleep(0.6 * LIMIT)
        line.sendall(b" " * 48 + GET[:20].encode())
        time.sleep(0.6 * LIMIT)
        line.sendall(GET[20:].encode())
        got = b""
        while b"HTTP/1.1 200" not in got and (came := line.recv(4096)):
            got += came
        assert b"HTTP/1.1 200" in got


def test_a_body_that_comes_slowly_and_an_answer_that_goes_on_are_not_ended(served: tuple[int, Path]) -> None:
    body = b'{"messages": [{"role": "user", "content": "tea"}], "conversation": "c"}'
    head = f"POST /v1/scopes/a/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with (
        socket.create_connection(("127.0.0.1", served[0])) as slow,
        socket.create_connection(("127.0.0.1", served[0])) as stream,
    ):
        stream.sendall(f"GET /v1/scopes/a/events?seconds={2 * LIMIT} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        slow.sendall(head.encode())
        for place in range(0, len(body), 5):
            time.sleep(LIMIT / 10)
            slow.sendall(body[place : place + 5])
        slow.settimeout(LONGEST)
        stream.settimeout(LONGEST)
        assert slow.recv(12).startswith(b"HTTP/1.1 20")
        text = b""
        while b"event: end" not in text:
            came = stream.recv(4096)
            assert came, text
            text += came
