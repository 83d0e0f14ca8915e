"""S4's own recipe, end to end over HTTP: 129 messages, 193, status, files, a restart, and compacting by hand."""

from pathlib import Path

import pytest

from slowwave import AgentMemory, Message
from slowwave.testing import FrozenClock, OpenAIServer
from slowwave.testing.openai_server import says

ASKED = {
    "{url}#any": {"/v1/chat/completions"},
    "base+{url}#any": {"/v1/completions"},
    "ollama-base:any": {"/api/generate"},
    "none": set(),
}
SUMMARY = "The gardens and the tools were looked after."


@pytest.mark.parametrize("spec", ASKED, ids=["chat", "base model", "base model of Ollama", "offline"])
def test_a_long_conversation_is_summarised_by_any_mind(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FrozenClock()
    with OpenAIServer(says(SUMMARY)) as server:
        monkeypatch.setenv("SLOWWAVE_LLM_URL", server.root)  # where "ollama-base:" finds its server
        llm = None if spec == "none" else spec.format(url=server.url)
        path = tmp_path / "memory.db"
        with AgentMemory.open(path, scope="agent", llm=llm, embedder="none", clock=clock) as memory:
            for number in range(1, 194):
                text = f"Entry {number}: I looked after the gardens and the tools"
                memory.add_message(Message(role="user", content=text, at=clock()), conversation="life")
                clock.advance(seconds=60)
                if number in {129, 193}:
                    assert memory.compact_conversation("life").problems == ()
            assert "summarised up to 129" in memory.command("@memory-status")
            written = memory.export_vault(tmp_path / "vault")
            assert len([name for name in written if "/recent-2026" in name]) == 2
        with AgentMemory.open(path, scope="agent", llm=llm, embedder="none", clock=clock) as memory:
            spans = [(one.span, one.depth) for one in memory.summaries("life")]
            assert spans == [((1, 65), 2), ((1, 65), 1), ((66, 129), 1)], "eras first, each in order"
            assert "nothing to compact" in memory.command("@compact-memories")
            prompt = str(memory.context("gardens", profile="agent", budget_tokens=3000))
            assert "## Recent Past (Summary)" in prompt
            assert "gardens" in prompt
        paths = {received.path for received in server.received}
    assert paths == ASKED[spec]
