"""An application with a store that is opened, and used, before its server forks: for gunicorn and for uvicorn."""

import json
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

from slowwave import Config, Message, Slowwave

TENANTS = ("acme", "bolt", "crux", "dune")
ROWS = 5
STORE = Slowwave.open(os.environ["WEB_STORE"], llm=None, embedder="none", config=Config(connections=4))


def fill() -> None:
    """Store messages that name their tenant, once."""
    for name in TENANTS:
        memory = STORE.within(name)
        if not memory.conversations():
            memory.add_messages(
                [Message(role="user", content=f"The tenant {name} keeps ledger {n}") for n in range(2 * ROWS)],
                conversation="c",
            )
        memory.search("Which tenant keeps the ledger?")  # the connection and the indexes are in use before the fork


def answer(query: str) -> tuple[int, Any]:
    """The status and the value of a request."""
    asked = {name: values[0] for name, values in parse_qs(query).items()}
    memory = STORE.within(asked["tenant"])
    if text := asked.get("add"):
        memory.add_messages([Message(role="user", content=text)], conversation="c")
    return 200, [hit.text for hit in memory.search("Which tenant keeps the ledger?", top_k=ROWS)]


def wsgi(environment: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
    """The application for gunicorn."""
    status, value = answer(environment["QUERY_STRING"])
    start(f"{status} OK", [("Content-Type", "application/json")])
    return [json.dumps(value).encode()]


async def asgi(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """The application for uvicorn, whose calls run in threads."""
    import asyncio  # noqa: PLC0415 - of this application only

    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    status, value = await asyncio.to_thread(answer, scope["query_string"].decode())
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(value).encode()})


fill()
