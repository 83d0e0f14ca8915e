"""What a request may cost the server: the size of its body, who may send one, and the share of one tenant."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from slowwave.server.access.errors import OverloadedError
from slowwave.server.access.guards import BODY_MOST
from slowwave.server.http.app import routes
from slowwave.server.mem0.app import _routes
from slowwave.server.work.shares import SHARE
from slowwave.server.work.streams import STREAMS_MOST, Streams

LARGE = b'{"text": "' + b"a" * BODY_MOST + b'"}'
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/v1/scopes/acme/notes/imports"),
        ("PUT", "/v1/scopes/acme/notes/f%2Fimports"),
        ("PUT", "/v1/notes/imports"),
        ("POST", "/v1/scopes/acme/facts"),
        ("POST", "/v1/scopes/a%2Fimports/facts"),
        ("POST", "/mem0/v1/memories/"),
        ("PUT", "/mem0/v1/memories/imports/"),
        ("POST", "/memories"),
        ("POST", "/mcp"),
    ],
)
@pytest.mark.parametrize("told", [True, False], ids=["with its length", "in chunks"])
def test_only_the_route_of_imports_takes_a_large_body(server: Any, method: str, path: str, told: bool) -> None:  # noqa: ANN401 - of conftest.py
    content: Any = LARGE if told else iter([LARGE])
    kind = {"content-type": "application/x-www-form-urlencoded"} if path == "/memories" else JSON
    answer = server.client.request(method, path, content=content, headers={**kind, "accept": "application/json"})
    assert answer.status_code == 413, answer.text[:200]
    assert server.store.within("acme").notes() == []


@pytest.mark.parametrize("path", ["/v1/scopes/acme/imports", "/v1/imports"])
def test_a_file_to_import_may_be_larger(server: Any, path: str) -> None:  # noqa: ANN401 - of conftest.py
    line = json.dumps({"role": "user", "content": "word " * 100, "conversation": "c"}) + "\n"
    content = (line * (BODY_MOST // len(line) + 2)).encode()
    header = server.key("acme", "write")
    assert server.client.post(f"{path}?name=a.jsonl&dry_run=true", content=content, headers=header).status_code == 202
    kept = server.client.post(f"{path}?name=a.jsonl", content=content, headers={**header, "Idempotency-Key": "k"})
    assert (kept.status_code, "without an Idempotency-Key" in kept.text) == (413, True)


def _paths() -> Iterator[tuple[str, str]]:
    """Each method of each described route that may have a body."""
    for root, app in (("/v1", routes()), ("/mem0", _routes())):
        for path, methods in app.openapi()["paths"].items():
            for method in methods:
                if method != "get":
                    yield method.upper(), root + path.replace("{scope}", "acme")


def _asked(app: Any, method: str, path: str, headers: dict[str, str]) -> tuple[int, int]:  # noqa: ANN401 - of ASGI
    """The status of the answer to a request, and how often the application asked for its body."""
    reads, status = 0, 0

    async def receive() -> dict[str, Any]:
        nonlocal reads
        reads += 1
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    raw = [(b"host", b"localhost"), *((name.encode(), value.encode()) for name, value in headers.items())]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "headers": raw}
    asyncio.run(app({**scope, "query_string": b"", "http_version": "1.1", "scheme": "http"}, receive, send))
    return status, reads


@pytest.mark.parametrize(("method", "path"), [*_paths()])
def test_the_rights_are_checked_before_a_body_is_read(server: Any, method: str, path: str) -> None:  # noqa: ANN401 - of conftest.py
    path = path.replace("{", "").replace("}", "")
    nothing = server.key("elsewhere" if path.startswith("/v1/scopes") else "acme", "review")
    for headers in (nothing, {**nothing, "idempotency-key": "k"}):
        assert _asked(server.client.app, method, path, {**headers, **JSON}) == (403, 0)
    assert _asked(server.client.app, method, path, {"authorization": "Bearer sw_none", **JSON}) == (401, 0)


def test_a_request_with_two_lengths_is_refused(server: Any) -> None:  # noqa: ANN401 - of conftest.py
    both = {**JSON, "content-length": "4", "transfer-encoding": "chunked"}
    assert _asked(server.client.app, "POST", "/v1/scopes/acme/facts", both) == (400, 0)


def test_one_tenant_does_not_take_all_streams() -> None:
    streams = Streams()
    with ExitStack() as stack:
        for _ in range(STREAMS_MOST // SHARE):
            streams.check_room("acme")
            stack.enter_context(streams.one("acme"))
        with pytest.raises(OverloadedError, match="its share"):
            streams.check_room("acme")
        streams.check_room("beta")
    streams.check_room("acme")
