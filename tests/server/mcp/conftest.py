"""A client of the `mcp` package in the same process as the server."""

from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from slowwave import AgentMemory
from slowwave.server.mcp import MemoryServer, build_memory_server


class Caller:
    """Calls a server, each call over a connection of its own."""

    def __init__(self, server: MemoryServer) -> None:
        self.server = server

    def ask(self, request: Callable[[Client], Any]) -> Any:  # noqa: ANN401 - the answer of any request
        async def connected() -> Any:  # noqa: ANN401 - as above
            async with Client(self.server) as client:
                return await request(client)

        return anyio.run(connected)

    def result(self, name: str, **arguments: Any) -> CallToolResult:  # noqa: ANN401 - arguments of any tool
        found = self.ask(lambda client: client.call_tool(name, arguments))
        assert isinstance(found, CallToolResult)
        return found

    def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
        """The structured answer of a tool."""
        result = self.result(name, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.structured_content

    def error(self, name: str, **arguments: Any) -> str:  # noqa: ANN401 - as above
        """The error of a tool."""
        result = self.result(name, **arguments)
        assert result.is_error, result.structured_content
        (content,) = result.content
        assert isinstance(content, TextContent)
        return content.text


@pytest.fixture
def memory() -> Iterator[AgentMemory]:
    with AgentMemory.open(":memory:", scope="acme/alice", llm=None, embedder="none") as opened:
        yield opened


@pytest.fixture
def call(memory: AgentMemory) -> Caller:
    return Caller(build_memory_server(memory))
