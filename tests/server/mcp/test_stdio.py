"""`slowwave mcp`: the protocol over the streams of a process."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.types import INVALID_PARAMS
from tests.waiting import LONGEST

from slowwave import AgentMemory

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@dataclass(frozen=True)
class Talk:
    answers: list[dict[str, Any]]
    rest: str
    errors: str


def talk(store: Path, requests: list[tuple[str, Any]]) -> Talk:
    """The answers of a server to the methods with their parameters, and what else it wrote."""
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    messages += [
        {"jsonrpc": "2.0", "id": n, "method": name, "params": value} for n, (name, value) in enumerate(requests, 1)
    ]
    words = ["-m", "slowwave", "mcp", "--store", str(store), "--embedder", "none"]
    with subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        answers = []
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest, errors = process.stdout.read(), process.stderr.read()
        assert process.wait(LONGEST) == 0
    assert [answer["id"] for answer in answers] == [*range(len(requests) + 1)]
    return Talk(answers=answers[1:], rest=rest, errors=errors)


def test_stdout_carries_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    request = {"name": "remember", "arguments": {"fact": "Odile owns the ferry"}}
    said = talk(tmp_path / "m.db", [("tools/call", request)])
    assert said.answers[0]["result"]["structuredContent"]["outcome"] == "ADD"
    assert said.rest == ""


def test_requests_that_cannot_be_served_are_one_sentence_each_and_are_not_logged(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    AgentMemory.open(store, embedder="none").close()
    no_context = "there is no prompt 'contexts': this server has context"
    wrong = "the prompt `context` takes question"
    invalid = "Invalid request parameters"
    wanted: list[tuple[str, Any, str]] = [
        ("prompts/get", {"name": "contexts", "arguments": {"question": "tea"}}, no_context),
        ("prompts/get", {"name": "context"}, wrong),
        ("prompts/get", {"name": "context", "arguments": {"question": "tea", "budget": "9"}}, wrong),
        ("prompts/get", {"name": "context", "arguments": {"question": 3}}, invalid),
        ("resources/read", {"uri": "slowwave://cores"}, "Unknown resource: slowwave://cores"),
        ("resources/read", {"uri": "slowwave://memory/none"}, "there is no memory of this id"),
        ("resources/read", {"uri": 5}, invalid),
        ("tools/call", {"arguments": {}}, invalid),
        ("tools/call", {"name": "recall", "arguments": []}, invalid),
    ]
    said = talk(store, [(method, parameters) for method, parameters, _ in wanted])
    assert [answer["error"]["message"] for answer in said.answers] == [problem for _, _, problem in wanted]
    assert {answer["error"]["code"] for answer in said.answers} == {INVALID_PARAMS}
    assert said.errors == ""


def test_an_import_needs_the_profile_that_reads_it(tmp_path: Path) -> None:
    words = ["-m", "slowwave", "mcp", "--import", str(tmp_path / "memory.jsonl")]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, "--profile graph" in done.stderr) == (2, True)
