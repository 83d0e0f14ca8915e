"""Memories with a local model server and a local embedder server, configured by environment variables."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2  # noqa: F401 - loading it takes as long as the deadlines of the tests
import pytest
from tests.waiting import LONGEST

from slowwave import AgentMemory, Message

KEY = "sk-very-secret-0123456789"
SAID = "The auth service uses Argon2 with a 12-byte salt."
LIMIT = LONGEST
"""Seconds after which a call counts as blocked; the deadlines of the tests are far shorter."""

Ask = Callable[..., str]
Within = Callable[[Callable[[], Any]], Any]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No setting of this machine; deadlines of a third of a second."""
    for kind in ("LLM", "EMBEDDER"):
        for name in ("", "_URL", "_KEY"):
            monkeypatch.delenv(f"SLOWWAVE_{kind}{name}", raising=False)
        monkeypatch.setenv(f"SLOWWAVE_{kind}_SECONDS", "0.3")
    for name in ("API_KEY", "ADMIN_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
    monkeypatch.delenv("SLOWWAVE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return monkeypatch


@pytest.fixture
def unhurried(environment: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The same with deadlines that no server exceeds which answers at all."""
    for kind in ("LLM", "EMBEDDER"):
        environment.setenv(f"SLOWWAVE_{kind}_SECONDS", str(LIMIT))
    return environment


@pytest.fixture
def within() -> Iterator[Within]:
    """Runs a call on a thread and returns what it returns; a call that takes longer than LIMIT fails the test."""
    threads: list[threading.Thread] = []

    def within(call: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the call returns
        results: list[Any] = []
        thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
        threads.append(thread)
        thread.start()
        thread.join(LIMIT)
        assert not thread.is_alive(), f"blocked for more than {LIMIT:g} seconds"
        return results[0]

    yield within
    for thread in threads:
        thread.join(LIMIT)


@pytest.fixture
def ask(tmp_path: Path, environment: pytest.MonkeyPatch) -> Ask:
    """Calls the model ("llm") or the embedder ("embedder") at a URL, and returns everything that is shown of it.

    The embedder is called by storing a message, the model by consolidating it.
    """

    def ask(kind: str, url: str, key: str | None = None) -> str:
        environment.setenv(f"SLOWWAVE_{kind.upper()}_URL", url)
        if key is not None:
            environment.setenv(f"SLOWWAVE_{kind.upper()}_KEY", key)
        chosen: dict[str, Any] = {kind: "openai:tiny"}
        options = {"llm": "none", "embedder": "none", **chosen}
        with AgentMemory.open(tmp_path / f"memory-{len(list(tmp_path.iterdir()))}.db", **options) as memory:
            receipt = memory.add_messages([Message(role="user", content=SAID)], conversation="c")
            result = memory.consolidate("c", force=True) if kind == "llm" else None
            assert [hit.text for hit in memory.search("which salt does the auth service use?")] == [SAID]
            shown = [receipt, receipt.problems, result, result and result.problems, memory.status(), memory.runs()]
            return "\n".join(map(str, [*shown, memory.ports, memory.cost()]))

    return ask
