"""The conformance suite and the inspector of the Model Context Protocol, against `slowwave serve`."""

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Node: TypeAlias = Any
"""The fixture `node` in conftest.py."""
SCENARIOS = {
    "2026-07-28": [
        "tools-list",
        "tools-call-error",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
        "server-sse-multiple-streams",
    ],
    "2025-11-25": [
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    ],
}
CONFORMANCE = ("@modelcontextprotocol", "conformance", "dist", "index.js")
INSPECTOR = (".bin", "mcp-inspector")
PATIENT = ("--connect-timeout", "60000")
"""Milliseconds; a busy machine is no failure."""
BASELINE = Path(__file__).parent / "conformance_baseline.yml"
CALLS = {
    "recall": ["question=Who owns the ferry?"],
    "context": ["question=Who owns the ferry?", "budget_tokens=200"],
    "remember": ["fact=Odile owns the ferry", "category=person"],
    "keep": ["conversation=c1", 'messages=[{"role": "user", "content": "I moved to Rome"}]'],
}
"""Calls of the tools that need no id."""


@pytest.mark.parametrize(
    ("version", "scenario"), [(version, one) for version, some in SCENARIOS.items() for one in some]
)
def test_a_scenario_of_the_protocol_passes(served: str, node: Node, version: str, scenario: str) -> None:
    done = node(*CONFORMANCE)("server", "--url", f"{served}/mcp", "--scenario", scenario, "--spec-version", version)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_a_server_without_state_fails_only_what_the_baseline_names(served: str, node: Node) -> None:
    words = ["--scenario", "server-stateless", "--spec-version", "2026-07-28", "--expected-failures", str(BASELINE)]
    done = node(*CONFORMANCE)("server", "--url", f"{served}/mcp", *words)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_the_inspector_finds_no_fault_in_the_schemas(served: str, node: Node) -> None:
    done = node(*INSPECTOR)("--cli", f"{served}/mcp", "--method", "tools/list", "--strict", *PATIENT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert len(json.loads(done.stdout)["tools"]) == 8


def test_the_inspector_calls_every_tool(served: str, node: Node) -> None:
    def call(name: str, *arguments: str) -> dict[str, Any]:
        words = [word for argument in arguments for word in ("--tool-arg", argument)]
        done = node(*INSPECTOR)(
            "--cli", f"{served}/mcp", "--method", "tools/call", "--tool-name", name, *PATIENT, *words
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
        answer = json.loads(done.stdout)["structuredContent"]
        assert isinstance(answer, dict)
        return answer

    answers = {name: call(name, *arguments) for name, arguments in CALLS.items()}
    fact = answers["remember"]["id"]
    assert call("explain", f"id={fact}")["text"] == "Odile owns the ferry"
    assert call("correct", f"id={fact}", "text=Odile sold the ferry")["outcome"] == "UPDATE"
    forgotten = call("forget", f"id={fact}")
    assert forgotten["outcome"] == "DELETE"
    assert call("undo", f"run={forgotten['run']}")["run"]


def test_an_expected_error_is_an_error_for_the_inspector(served: str, node: Node) -> None:
    words = ["--method", "tools/call", "--tool-name", "explain", "--tool-arg", "id=nothing"]
    assert node(*INSPECTOR)("--cli", f"{served}/mcp", *PATIENT, *words).returncode == 5
