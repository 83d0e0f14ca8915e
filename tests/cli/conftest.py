"""Runs the command line in this process, on a store of the test."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from slowwave import AgentMemory
from slowwave.cli.app import app


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        assert self.out.count("\n") == 1, "one JSON value is one line"
        return json.loads(self.out)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SCOPE", "LLM", "LLM_URL", "EMBEDDER_URL", "CONFIG"):
        monkeypatch.delenv(f"SLOWWAVE_{name}", raising=False)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):  # they make output for a terminal
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLOWWAVE_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("SLOWWAVE_EMBEDDER", "none")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "memory.db"


@pytest.fixture
def empty(store: Path) -> Path:
    """A store without memories."""
    AgentMemory.open(store, embedder="none").close()
    return store


@pytest.fixture
def run(store: Path) -> Callable[..., Outcome]:
    assert store.name == "memory.db"

    def run(*words: str, input: str | None = None) -> Outcome:  # noqa: A002 - as the runner calls it
        result = CliRunner().invoke(app, list(words), input=input)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(code=result.exit_code, out=result.stdout, err=result.stderr)

    return run
