"""Summaries and their windows, contexts of a conversation, and the texts of a history."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Message

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def summarised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a conversation that is long enough to be summarised, and a short one. It is made once, to be copied."""
    path = tmp_path_factory.mktemp("summarised") / "memory.db"
    with AgentMemory.open(path, llm=None, embedder="none") as memory:
        beds = [Message(role="user", content=f"I watered the roses of bed {n}") for n in range(200)]
        memory.add_messages(beds, conversation="garden")
        memory.sleep()
        memory.add_message(Message(role="user", content="I bake bread", speaker="Ann"), conversation="bread")
    return path


@pytest.fixture
def long(summarised: Path, store: Path) -> None:
    """That store as the store of the test."""
    shutil.copyfile(summarised, store)


@pytest.mark.usefixtures("long")
def test_summaries_are_listed_with_their_spans(run: Run) -> None:
    out = run("summaries", "--conversation", "garden").out
    assert "garden · messages 1 to 65 · long-term" in out
    assert "garden · messages 66 to 129 · short-term" in out
    assert [summary["span"] for summary in run("summaries", "--json").json] == [[1, 65], [1, 65], [66, 129]]
    assert "no summaries yet" in run("summaries", "--conversation", "bread").out
    refused = run("summaries", "--conversation", "nope")
    assert (refused.code, "there are bread, garden" in refused.err) == (2, True)


@pytest.mark.usefixtures("long")
def test_status_shows_how_a_conversation_is_summarised(run: Run) -> None:
    out = run("status", "--conversation", "garden").out
    assert "garden: 200 messages, 64 immediate, summarised up to 129" in out
    assert "short-term (memories 66-129)" in out
    assert "no conversation 'nope'" in run("status", "--conversation", "nope").out
    assert "immediate" not in run("status").out


@pytest.mark.usefixtures("long")
def test_undo_of_a_summary_names_the_command_that_restores_it(run: Run) -> None:
    first = next(summary for summary in run("summaries", "--json").json if summary["depth"] == 1)
    (run_id,) = [event["run_id"] for event in run("history", first["id"], "--json").json]
    assert "--cascade" in run("undo", run_id).err
    undone = run("undo", run_id, "--cascade").out
    assert "`slowwave compact --conversation garden`" in undone
    assert run("compact", "--conversation", "garden").code == 0
    assert "in no summary" not in run("status", "--conversation", "garden").out


@pytest.mark.usefixtures("long")
def test_an_unknown_conversation_is_reported_with_the_known_ones(run: Run) -> None:
    refused = run("compact", "--conversation", "nope")
    assert refused.code == 2
    assert "no conversation 'nope': there are bread, garden" in refused.err
    result = run("context", "bread", "--conversation", "nope")
    assert (result.code, "no conversation 'nope'" in result.err) == (0, True)
    assert "no conversation" not in run("context", "bread", "--conversation", "bread").err


@pytest.mark.usefixtures("long")
def test_compact_of_a_short_conversation_explains_that_nothing_is_due(run: Run) -> None:
    out = run("compact", "--conversation", "bread").out
    assert "it has 1 messages, and the latest 64 of a conversation stay as they were said" in " ".join(out.split())
    run("compact", "--conversation", "garden")
    assert "all but the latest 64 messages is summarised" in run("compact", "--conversation", "garden").out


@pytest.mark.usefixtures("long")
def test_chat_prints_messages_and_s4_prints_a_scene(run: Run) -> None:
    lines = run("context", "--conversation", "bread", "--profile", "chat").out.splitlines()
    assert json.loads(lines[-1]) == {"role": "user", "content": "Ann: I bake bread"}
    scene = ("--agent", "Ada", "--about", "A cook.", "--location", "the kitchen", "--exit", "out", "--also-here", "Bob")
    out = run("context", "--profile", "agent", *scene, "--may", "bake").out
    assert out.startswith("You are Ada. A cook.\n\nBASIC COMMANDS:\nbake\n")
    assert out.rstrip().endswith("You are Ada in the kitchen.\nExits: out\nAlso here: Bob\n~Ada>")


def test_a_history_shows_the_text_before_and_after(run: Run) -> None:
    run("add", "Odile owns the ferry")
    fact = run("facts", "--json").json[0]["id"]
    run("update", fact, "Odile sold the ferry")
    run("pin", fact)
    assert "Odile owns the ferry → Odile sold the ferry" in run("history", fact).out
    assert [(event["before"], event["after"]) for event in run("history", fact, "--json").json] == [
        (None, "Odile owns the ferry"),
        ("Odile owns the ferry", "Odile sold the ferry"),
        (None, None),
    ]
