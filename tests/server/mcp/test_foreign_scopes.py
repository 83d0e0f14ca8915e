"""No argument of a tool or a resource reaches the memory of another scope."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest
from mcp import Client, MCPError

from slowwave import AgentMemory, Receipt, Slowwave
from slowwave.server.mcp import build_memory_server

Caller: TypeAlias = Any
"""The class of that name in conftest.py, which tests cannot import."""
Scopes: TypeAlias = "tuple[AgentMemory, AgentMemory, dict[str, Receipt]]"
CANARY = "canary-7431"
HOSTILE = [
    "acme/bob",
    "../bob",
    "acme/alice/../bob",
    "acme%2Fbob",
    "acme",
    "*",
    "%",
    "' OR 1=1 --",
    "acme/alice' UNION SELECT text FROM memory --",
    "acme/bob/" + "x" * 40,
    "{scope}",
    CANARY,
]


@pytest.fixture
def alice_and_bob() -> Iterator[Scopes]:
    with Slowwave.open(":memory:", llm=None, embedder="none") as store:
        bob = store.within("acme", "bob")
        known = {
            "fact": bob.add(f"The code of the safe is {CANARY}"),
            "message": bob.add_messages([{"role": "user", "content": f"It is {CANARY}", "id": "m1"}], "c1"),
            "note": bob.note("plan", CANARY),
        }
        bob.core()
        yield store.within("acme", "alice"), bob, known


def test_no_tool_shows_or_changes_the_memory_of_another_scope(alice_and_bob: Scopes, call: Caller) -> None:
    alice, bob, known = alice_and_bob
    asking = type(call)(build_memory_server(alice))
    before = _everything(bob)
    ids = [memory_id for receipt in known.values() for memory_id in receipt.ids]
    runs = [receipt.run_id for receipt in known.values()]
    said = [{"role": "user", "content": "tea", "id": "m1"}]
    calls: list[tuple[str, dict[str, Any]]] = []
    for text in [*HOSTILE, *ids, *runs]:
        calls += [
            ("recall", {"question": f"code of the safe {text}", "deep": deep, "top_k": 50}) for deep in (False, True)
        ]
        calls += [
            ("context", {"question": f"code of the safe {text}", "budget_tokens": 4000}),
            ("explain", {"id": text[:64]}),
            ("correct", {"id": text[:64], "text": "tea"}),
            ("forget", {"id": text[:64]}),
            ("undo", {"run": text[:64]}),
            ("keep", {"messages": said, "conversation": text}),
            ("remember", {"fact": "Alice drinks tea", "subject": text, "category": "other"}),
        ]
        calls += [(name, {"question": "safe", extra: text}) for name in ("recall", "context") for extra in EXTRA]

    async def all_calls(client: Client) -> list[str]:
        answers = [await client.call_tool(name, arguments) for name, arguments in calls]
        return [json.dumps([one.model_dump(mode="json") for one in answer.content]) for answer in answers]

    seen = asking.ask(all_calls)
    shown = [text for (_, arguments), text in zip(calls, seen, strict=True) if CANARY in text]
    shown = [text for text in shown if f"It is {CANARY}" in text or f"safe is {CANARY}" in text]
    assert shown == []
    assert _everything(bob) == before


EXTRA = ("scope", "scopes", "user", "user_id", "inherit", "conversation", "folder", "store")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_resource_shows_the_memory_of_another_scope(alice_and_bob: Scopes, call: Caller, text: str) -> None:
    alice, _, known = alice_and_bob
    asking = type(call)(build_memory_server(alice))

    async def read(client: Client) -> list[str]:
        found = []
        for uri in (f"slowwave://memory/{text}", f"slowwave://memory/{known['fact'].ids[0]}", f"slowwave://{text}"):
            try:
                found += [str(one) for one in (await client.read_resource(uri)).contents]
            except (MCPError, ValueError) as error:
                found.append(str(error))
        return found

    assert not any(f"safe is {CANARY}" in answer for answer in asking.ask(read))


def _everything(memory: AgentMemory) -> list[tuple[str, str, int]]:
    everything = memory.get_all(kinds=["message", "semantic", "note"], phases=["active", "core", "cold", "retracted"])
    return [(one.text, one.phase, one.version) for one in everything]
