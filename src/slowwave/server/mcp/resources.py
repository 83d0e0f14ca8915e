"""The resources and the prompt of the MCP server: what a person attaches to a conversation by hand."""

from collections.abc import Callable
from typing import Final, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR
from pydantic import BaseModel

from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.policy.guard.fence import NOTICE, escape
from slowwave.policy.guard.labels import label
from slowwave.server.mcp import answers
from slowwave.server.mcp.problems import sentence
from slowwave.server.mcp.tools import OpenMemory

_Content = TypeVar("_Content")
CORE_MOST: Final = 20
"""Facts in the resource `slowwave://core`."""


class ScopeStatus(BaseModel):
    """The counts of a scope."""

    scope: str
    counts: dict[str, dict[str, int]]
    conversations: int
    unread: int
    waiting: int
    due: int
    last_sleep: str | None


def add_resources(server: MCPServer, memory: OpenMemory) -> None:
    """Register `slowwave://core`, `slowwave://status` and `slowwave://memory/{id}`."""

    @server.resource("slowwave://core", name="core", title="Core memory", mime_type="text/markdown")
    def core() -> str:
        """The most important facts, strongest first."""
        facts = _read(lambda: memory().core(CORE_MOST))
        lines = (f"- {label(fact.trust)}{escape(fact.text)}" for fact in facts)
        return "\n".join((NOTICE, "", *lines)) if facts else "Nothing is known yet."

    @server.resource("slowwave://status", name="status", title="State of the memory", mime_type="application/json")
    def status() -> str:
        """How much is stored in this scope, and what is due."""
        now = _read(lambda: memory().status())
        counts: dict[str, dict[str, int]] = {}
        for (kind, phase), number in now.counts.items():
            counts.setdefault(kind, {})[phase] = number
        return ScopeStatus(
            scope=now.scope,
            counts=counts,
            conversations=now.conversations,
            unread=now.unread,
            waiting=now.waiting,
            due=now.due,
            last_sleep=now.last_sleep.isoformat(timespec="seconds") if now.last_sleep else None,
        ).model_dump_json()

    @server.resource("slowwave://memory/{id}", name="memory", title="One memory", mime_type="application/json")
    def one(id: str) -> str:  # noqa: A002 - the name in the address
        """One memory whole: its text, sources and history."""
        return answers.explained(_read(lambda: memory().explain(id)), whole=True).model_dump_json()


def add_prompt(server: MCPServer, memory: OpenMemory) -> None:
    """Register the prompt `context`."""

    @server.prompt(title="What is known")
    def context(question: str) -> str:
        """What memory knows about a question, to put before a model."""
        try:
            built = memory().context(question)
        except SlowwaveError as error:
            raise MCPError(INTERNAL_ERROR, sentence(error)) from error
        return str(built) if built.sections else "Nothing is known about it."


def _read(read: Callable[[], _Content]) -> _Content:
    """The result of a read, or an error of a resource."""
    try:
        return read()
    except NotFoundError as error:
        raise ResourceNotFoundError("there is no memory of this id") from error
    except SlowwaveError as error:
        raise ResourceError(sentence(error)) from error
