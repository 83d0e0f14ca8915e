"""The profile `graph` beside the official server-memory: the same random calls get the same answers."""

import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, Tool

OFFICIAL = ("node_modules", "@modelcontextprotocol", "server-memory", "dist", "index.js")
NAMES = ["Alice", "Bob", "Acme", "Ana Ñ", "x", "", "a/b", "İstanbul"]
OBSERVATIONS = ["likes tea", "works at Acme", "lives in Lisbon", "", "TEA ROOM", "two\nlines", '"quoted" \\', "茶"]
QUERIES = ["tea", "ALICE", "org", "nothing", "acme", "", "ñ", "LINES", "茶"]


class RandomCalls:
    """Random calls of the nine tools, also with duplicates, unknown names and empty texts."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def call(self) -> tuple[str, dict[str, Any]]:
        """The name of a tool and its arguments."""
        calls: dict[str, tuple[int, Callable[[], dict[str, Any]]]] = {
            "create_entities": (4, lambda: {"entities": self._some(self._entity)}),
            "create_relations": (3, lambda: {"relations": self._some(self._relation)}),
            "add_observations": (3, lambda: {"observations": self._some(lambda: self._of_entity("contents"), least=1)}),
            "delete_entities": (1, lambda: {"entityNames": self._some(self._name)}),
            "delete_observations": (2, lambda: {"deletions": self._some(lambda: self._of_entity("observations"))}),
            "delete_relations": (1, lambda: {"relations": self._some(self._relation)}),
            "read_graph": (2, dict),
            "search_nodes": (3, lambda: {"query": self.chance.choice(QUERIES)}),
            "open_nodes": (3, lambda: {"names": self._some(self._name)}),
        }
        (name,) = self.chance.choices([*calls], [weight for weight, _ in calls.values()])
        return name, calls[name][1]()

    def _some(self, make: Callable[[], Any], least: int = 0) -> list[Any]:
        return [make() for _ in range(self.chance.randint(least, 3))]

    def _name(self) -> str:
        return self.chance.choice(NAMES)

    def _entity(self) -> dict[str, Any]:
        observations = self.chance.choices(OBSERVATIONS, k=self.chance.randint(0, 3))
        return {"name": self._name(), "entityType": self.chance.choice(["person", "org"]), "observations": observations}

    def _relation(self) -> dict[str, str]:
        return {"from": self._name(), "to": self._name(), "relationType": self.chance.choice(["knows", "works at"])}

    def _of_entity(self, field: str) -> dict[str, Any]:
        return {"entityName": self._name(), field: self.chance.choices(OBSERVATIONS, k=self.chance.randint(0, 2))}


def _described(tools: list[Tool]) -> dict[str, Any]:
    return {
        tool.name: (tool.title, tool.description, tool.annotations and tool.annotations.model_dump(exclude={"title"}))
        for tool in tools
    }


def _answer(result: CallToolResult) -> object:
    """What a client reads: the structured answer and its text. The words of errors differ."""
    text = "".join(getattr(content, "text", "") for content in result.content)
    return "error" if result.is_error else (result.structured_content, text)


async def _compare(folder: Path, count: int, seed: int) -> list[str]:
    environment = {**os.environ, "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    script = str(Path(os.environ["SLOWWAVE_FACES"], *OFFICIAL))
    official = StdioServerParameters(command="node", args=[script], env=environment)
    words = ["-m", "slowwave", "mcp", "--profile", "graph", "--store", str(folder / "m.db"), "--embedder", "none"]
    ours = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    calls, different = RandomCalls(seed), []
    async with (
        Client(stdio_client(official), mode="legacy") as first,
        Client(stdio_client(ours), mode="legacy") as second,
    ):
        assert _described((await first.list_tools()).tools) == _described((await second.list_tools()).tools)
        for number in range(count):
            name, arguments = calls.call()
            answers = [await client.call_tool(name, arguments) for client in (first, second)]
            if _answer(answers[0]) != _answer(answers[1]):
                different.append(f"{number} {name} {json.dumps(arguments)}: {answers[0]} {answers[1]}")
    return different


@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.long)])
def test_random_calls_get_the_answers_of_the_official_server(tmp_path: Path, count: int) -> None:
    different = anyio.run(_compare, tmp_path, count, count)
    assert len(different) == 0, different[0]
