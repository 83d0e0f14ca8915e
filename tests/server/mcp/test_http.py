"""MCP over HTTP: each request has the memory and the rights of its key."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from slowwave import AgentMemory, InputError, Slowwave
from slowwave.server.mcp import Opened, build_http_app

URL = "http://localhost/mcp"
KEYS = {"Bearer alice": ("alice", True), "Bearer bob": ("bob", True), "Bearer eve": ("alice", False)}


def _app(store: Slowwave) -> Starlette:
    def admit(authorization: str | None, scope: str | None) -> Opened:
        if authorization not in KEYS:
            raise InputError("a key is needed")
        name, may_write = KEYS[authorization]
        if scope not in {None, name}:
            raise InputError("this key does not open the scope")
        return Opened(memory=store.within(name), may_write=may_write)

    return build_http_app(admit, lambda error: PlainTextResponse(str(error), status_code=401))


@asynccontextmanager
async def _connected(app: Starlette, key: str, url: str = URL) -> AsyncIterator[Client]:
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, headers={"Authorization": key}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def _call(store: Slowwave, key: str, name: str, **arguments: object) -> CallToolResult:
    async def run() -> CallToolResult:
        async with _connected(_app(store), key) as client:
            result = await client.call_tool(name, arguments)
            assert isinstance(result, CallToolResult)
            return result

    return anyio.run(run)


@pytest.fixture
def store() -> Any:  # noqa: ANN401 - a generator fixture
    with Slowwave.open(":memory:", llm=None, embedder="none") as opened:
        yield opened


def test_each_key_has_the_memory_of_its_scope(store: Slowwave) -> None:
    remembered = _call(store, "Bearer alice", "remember", fact="Odile owns the ferry")
    assert remembered.structured_content is not None
    hits: Callable[[str], Any] = lambda key: (  # noqa: E731 - one line
        _call(store, key, "recall", question="Who owns the ferry?").structured_content
    )
    assert [hit["text"] for hit in hits("Bearer alice")["hits"]] == ["Odile owns the ferry"]
    assert [hit["text"] for hit in hits("Bearer eve")["hits"]] == ["Odile owns the ferry"]
    assert hits("Bearer bob") == {"hits": []}
    assert _call(store, "Bearer bob", "explain", id=remembered.structured_content["id"]).is_error


def test_a_key_without_the_right_to_write_writes_nothing(store: Slowwave) -> None:
    for name, arguments in (
        ("remember", {"fact": "Odile owns the ferry"}),
        ("keep", {"messages": [{"role": "user", "content": "tea"}], "conversation": "c"}),
        ("correct", {"id": "x", "text": "tea"}),
        ("forget", {"id": "x"}),
        ("undo", {"run": "x"}),
    ):
        refused = _call(store, "Bearer eve", name, **arguments)
        assert refused.is_error
        assert "may read and not write" in refused.content[0].text  # type: ignore[union-attr]  # a text
    assert _memory(store).get_all(kinds=["message", "semantic"]) == []


@pytest.mark.parametrize(
    ("key", "query"), [("", ""), ("Bearer mallory", ""), ("Bearer bob", "?scope=alice"), ("Bearer bob", "?scope=../x")]
)
def test_a_request_that_is_not_admitted_never_reaches_the_protocol(store: Slowwave, key: str, query: str) -> None:
    app = _app(store)

    async def post() -> int:
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers={"Authorization": key}) as http,
        ):
            ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
            return (await http.post(URL + query, json=ask)).status_code

    assert anyio.run(post) == 401


def _memory(store: Slowwave) -> AgentMemory:
    return store.within("alice")
