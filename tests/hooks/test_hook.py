"""Events of coding agents, as the real programs sent them, with the texts and paths replaced."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory
from slowwave.hooks.events import HookEvent, parse_event
from slowwave.hooks.hook import handle, unread_conversations

RECORDED = json.loads((Path(__file__).parent / "recorded_events.json").read_text(encoding="utf-8"))
"""By agent, the events of two sessions in their order."""


@pytest.fixture
def memory() -> Iterator[AgentMemory]:
    with AgentMemory.open(":memory:", scope="alice/code/harbour", llm=None, embedder="none") as opened:
        yield opened


def _event(name: str, **fields: Any) -> HookEvent:  # noqa: ANN401 - fields of an event
    return parse_event(json.dumps({"hook_event_name": name, "session_id": "s1", "cwd": "/", **fields}))


def _told(answer: str) -> str:
    return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""


@pytest.mark.parametrize("agent", sorted(RECORDED))
def test_what_is_said_in_one_session_is_told_in_the_next(memory: AgentMemory, agent: str) -> None:
    answers: dict[tuple[str, str], str] = {}
    for recorded in RECORDED[agent]:
        event = parse_event(json.dumps(recorded))
        answers[event.session, event.name] = _told(handle(event, memory))
    first, second = dict.fromkeys(parse_event(json.dumps(one)).session for one in RECORDED[agent])
    assert answers[first, "UserPromptSubmit"] == ""
    assert "sails on Mondays" in answers[second, "UserPromptSubmit"]
    assert [len(memory.messages(f"agent/{session}")) for session in (first, second)] == [2, 2]


@pytest.mark.parametrize("agent", sorted(RECORDED))
def test_a_repeated_event_stores_nothing_again(memory: AgentMemory, agent: str) -> None:
    for recorded in [*RECORDED[agent], *RECORDED[agent]]:
        handle(parse_event(json.dumps(recorded)), memory)
    assert memory.status().counts["message", "active"] == 4


@pytest.mark.parametrize("prompt", ["hi", "ok", "thanks", "go on", "run the tests again please", "What is the time?"])
def test_a_prompt_to_which_nothing_is_related_gets_nothing(memory: AgentMemory, prompt: str) -> None:
    memory.add("Alice owns the ferry and the boat house at the old harbour")
    memory.add_message({"role": "user", "content": "The ferry sails on Mondays."}, "agent/s0")
    assert handle(_event("UserPromptSubmit", prompt=prompt), memory) == ""


def test_a_prompt_does_not_get_what_its_own_session_said(memory: AgentMemory) -> None:
    handle(_event("UserPromptSubmit", prompt="The ferry sails on Mondays.", prompt_id="p1"), memory)
    question = _event("UserPromptSubmit", prompt="When does the ferry sail?", prompt_id="p2")
    assert handle(question, memory) == ""


def test_what_the_user_says_is_the_users_and_what_the_agent_says_is_not(memory: AgentMemory) -> None:
    handle(_event("UserPromptSubmit", prompt="I own the ferry.", prompt_id="p1"), memory)
    handle(_event("Stop", last_assistant_message="Noted.", prompt_id="p1"), memory)
    assert {message.text: message.trust for message in memory.get_all(kinds=["message"])} == {
        "I own the ferry.": "user",
        "Noted.": "assistant",
    }


def test_each_differing_reply_of_a_turn_is_stored_once(memory: AgentMemory) -> None:
    for reply in ("First.", "Second.", "First.", "Second."):
        handle(_event("Stop", last_assistant_message=reply, prompt_id="p1"), memory)
    assert [message.content for message in memory.messages("agent/s1")] == ["First.", "Second."]


def test_recalled_blocks_and_secrets_are_not_stored(memory: AgentMemory) -> None:
    memory.add("Alice owns the ferry")
    block = str(memory.context("Who owns the ferry?"))
    key = "sk-ant-" + "a1B2" * 10
    handle(_event("UserPromptSubmit", prompt=f"{block}\nUse the key {key} for the ferry.", prompt_id="p1"), memory)
    (message,) = memory.messages("agent/s1")
    assert key not in message.content
    assert "memory" not in message.content
    assert "for the ferry" in message.content


def test_the_end_of_a_session_names_its_unread_conversation(memory: AgentMemory) -> None:
    end = _event("SessionEnd", reason="prompt_input_exit")
    assert unread_conversations(end, memory) == []
    handle(_event("UserPromptSubmit", prompt="My sister Odile owns the ferry.", prompt_id="p1"), memory)
    handle(_event("UserPromptSubmit", session_id="s2", prompt="My brother sails.", prompt_id="p2"), memory)
    assert handle(end, memory) == ""
    assert memory.get_all() == []  # the agent does not wait for the extraction of facts
    assert unread_conversations(end, memory) == ["agent/s1"]
    assert unread_conversations(_event("PreCompact"), memory) == ["agent/s1"]
    assert unread_conversations(_event("Stop"), memory) == []
    assert sorted(unread_conversations(_event("SessionStart"), memory)) == ["agent/s1", "agent/s2"]
    memory.end_conversation("agent/s1")
    assert unread_conversations(end, memory) == []


def test_a_session_begins_with_what_is_known_unless_it_continues(memory: AgentMemory) -> None:
    memory.pin(memory.add("Alice owns the ferry").ids[0])
    assert "Alice owns the ferry" in _told(handle(_event("SessionStart", source="startup"), memory))
    assert handle(_event("SessionStart", source="resume"), memory) == ""


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", "{}", '{"hook_event_name": 3, "session_id": "s"}', "[" * 100_000, '{"a": "\\ud800"']
)
def test_a_broken_event_is_reported_and_stops_nothing(tmp_path: Path, text: str) -> None:
    from click.testing import CliRunner  # noqa: PLC0415 - one use

    from slowwave.cli.app import app  # noqa: PLC0415 - as above

    done = CliRunner().invoke(app, ["hook", "--store", str(tmp_path / "m.db")], input=text)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("slowwave: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["--bogus"], ["--store"], ["--store", "/nowhere/m.db"], ["--scope", "a//b"], ["--llm", "nobody:x"]]
)
def test_wrong_settings_are_reported_and_stop_nothing(tmp_path: Path, words: list[str]) -> None:
    from click.testing import CliRunner  # noqa: PLC0415 - one use

    from slowwave.cli.app import app  # noqa: PLC0415 - as above

    event = json.dumps({"hook_event_name": "Stop", "session_id": "s", "cwd": str(tmp_path)})
    store = ["--store", str(tmp_path / "m.db")] if words[0] in {"--scope", "--llm"} else []
    done = CliRunner().invoke(app, ["hook", *store, *words], input=event)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("slowwave: ")


def test_a_switched_off_folder_stores_nothing(tmp_path: Path) -> None:
    from click.testing import CliRunner  # noqa: PLC0415 - one use

    from slowwave.cli.app import app  # noqa: PLC0415 - as above

    event = json.dumps(
        {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": "I own it."}
    )
    store = tmp_path / "m.db"
    (tmp_path / ".no-slowwave").touch()
    assert CliRunner().invoke(app, ["hook", "--store", str(store)], input=event).exit_code == 0
    assert not store.exists()
    (tmp_path / ".no-slowwave").unlink()
    CliRunner().invoke(app, ["hook", "--store", str(store)], input=event)
    assert store.exists()


def test_facts_are_extracted_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner  # noqa: PLC0415 - one use

    from slowwave.cli.app import app  # noqa: PLC0415 - as above

    started: list[list[str]] = []
    store = ["--store", str(tmp_path / "m.db"), "--llm", "none", "--embedder", "none"]

    def fire(name: str, session: str) -> None:
        event = {"hook_event_name": name, "session_id": session, "cwd": str(tmp_path), "prompt": "My sister sails."}
        with monkeypatch.context() as patched:
            patched.setattr(subprocess, "Popen", lambda words, **_: started.append(words))
            assert CliRunner().invoke(app, ["hook", *store], input=json.dumps(event)).exit_code == 0

    fire("SessionStart", "s1")
    fire("UserPromptSubmit", "s1")
    assert started == []
    fire("SessionStart", "s2")
    (words,) = started
    assert words[1:5] == ["-m", "slowwave", "consolidate", "--all"]  # of a session that ended without an event
    fire("SessionEnd", "s1")
    assert started[1][1:6] == ["-m", "slowwave", "consolidate", "--conversation", "agent/s1"]
    subprocess.run(started[1], check=True, capture_output=True)
    fire("SessionStart", "s3")
    fire("SessionEnd", "s1")
    assert len(started) == 2


@pytest.mark.parametrize("name", ["UserPromptSubmit", "Stop"])
def test_a_hook_loads_no_server_and_nothing_that_distils(tmp_path: Path, name: str) -> None:
    texts = {"prompt": "Who owns the ferry?", "last_assistant_message": "Odile owns the ferry at the old harbour."}
    event = json.dumps({"hook_event_name": name, "session_id": "s", "cwd": str(tmp_path), **texts})
    program = (
        "import sys; from slowwave.cli.app import app; "
        f"app(['hook', '--store', {str(tmp_path / 'm.db')!r}, '--embedder', 'none'], standalone_mode=False); "
        "sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=event, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "slowwave.hooks.hook" in loaded
    assert not loaded & {
        "mcp",
        "fastapi",
        "starlette",
        "uvicorn",
        "pydantic",
        "jinja2",
        "asyncio",
        "slowwave.server",
        "slowwave.minds.offline.distil",
        "slowwave.pipelines.ingest.distil",
        "slowwave.pipelines.sleep.stage",
        "slowwave.policy.text.dates",
        "slowwave.model.mind",
        "rapidfuzz",
        "tomllib",
        "numpy.ma",
    }
