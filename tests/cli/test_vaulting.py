"""The commands compact, vault and context --explain."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from slowwave import AgentMemory, Message
from slowwave.cli.app import app


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "memory.db")
    with AgentMemory.open(path, scope="default", llm=None, embedder="none") as memory:
        said = [Message(role="user", content=f"I watered the roses of bed {n}") for n in range(80)]
        memory.add_messages(said, conversation="garden")
        memory.add("Alice owns the deploy pipeline", category="person")
    return path


def _run(store: str, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(
        app, ["--store", store, "--scope", "default", "--llm", "none", "--embedder", "none", *words]
    )
    return done.exit_code, done.output


def test_compact_summarises_now_and_says_so(store: str) -> None:
    code, said = _run(store, "compact")
    assert (code, "compacted garden: 1 short-term" in said) == (0, True)
    assert "nothing to compact" in _run(store, "compact", "--conversation", "garden")[1]
    assert json.loads(_run(store, "compact", "--json")[1])["summaries"] == 0


def test_a_vault_goes_out_and_comes_back(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    code, said = _run(store, "vault", "export", str(folder))
    assert (code, "pages written" in said) == (0, True)
    assert json.loads(_run(store, "vault", "export", str(folder), "--json")[1]) == []
    page = folder / "facts/person.md"
    page.write_text(page.read_text().replace("Alice", "Alice Costa"))
    assert "would change 1 facts" in _run(store, "vault", "import", str(folder))[1]
    assert "changed 1 facts" in _run(store, "vault", "import", str(folder), "--apply")[1]
    assert "changed 0 facts" in _run(store, "vault", "sync", str(folder))[1]
    assert _run(store, "vault", "import", str(tmp_path / "none"))[0] == 2


def test_context_explains_itself(store: str) -> None:
    code, said = _run(store, "context", "who owns deploys?", "--explain")
    assert code == 0
    assert "person fact" in said
    assert "tokens" in said
    assert "~Agent>" in _run(store, "context", "who owns deploys?", "--profile", "s4")[1]
