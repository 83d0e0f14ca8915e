"""Checks of the adapters, each in an environment with its framework, which `make test-adapters` builds.

`SLOWWAVE_ADAPTER_STORE=postgres make test-adapters` runs them on memories in a Postgres server.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.loopback import Loopback, loopback

from slowwave import AgentMemory
from slowwave.testing.postgres import PostgresServer, postgres_server

NAME = os.environ.get("SLOWWAVE_ADAPTER", "")
"""The module of the adapter whose framework is installed; empty outside of `make test-adapters`."""
ON_POSTGRES = os.environ.get("SLOWWAVE_ADAPTER_STORE") == "postgres"
_own = f"test_{NAME}" if NAME else "no test"
collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*.py") if not path.stem.startswith(_own)]
collect_ignore += [
    "langgraph_shims.py"
]  # imports the framework, and is copied into the folder of the framework's tests


@pytest.fixture(scope="session")
def server_of_databases() -> Iterator[PostgresServer]:
    """A Postgres server."""
    with postgres_server(in_ram=True) as running:
        yield running


@pytest.fixture
def database(server_of_databases: PostgresServer) -> Iterator[str]:
    """The address of a database that is one test's alone."""
    with server_of_databases.dropping():
        yield server_of_databases.database()


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """Where the memory of a test is."""
    return str(request.getfixturevalue("database")) if ON_POSTGRES else ":memory:"


@pytest.fixture
def embedder() -> str | None:
    """The embedder of the memory. Tests whose questions have other words than what they find set "static"."""
    return None


@pytest.fixture
def memory(address: str, embedder: str | None) -> Iterator[AgentMemory]:
    """An empty memory."""
    with AgentMemory.open(address, llm=None, embedder=embedder) as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A server with scripted answers, for clients of OpenAI and Anthropic."""
    with loopback() as running:
        yield running
