"""The composition root builds the ports from arguments and settings."""

from datetime import UTC
from pathlib import Path

import pytest

from slowwave import AgentMemory
from slowwave.composition import build_ports
from slowwave.errors import InputError
from slowwave.model.config import Config
from slowwave.testing import ScriptedLLM


def test_the_defaults_are_rules_a_static_embedder_and_utc(tmp_path: Path) -> None:
    ports = build_ports(str(tmp_path / "m.db"), "acme/alice")
    assert (ports.mind.name, ports.config, ports.scopes) == ("offline", Config(), ("acme/alice",))
    assert ports.embedder is not None
    assert ports.embed(["hello there"]).shape[0] == 1
    assert ports.now().tzinfo is UTC
    ports.store.close()


def test_none_as_model_in_the_settings_means_the_offline_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM", "none")
    with AgentMemory.open(tmp_path / "m.db", embedder="none") as memory:
        assert memory.ports.mind.name == "offline"


def test_inherit_adds_the_parent_scopes_nearest_first(tmp_path: Path) -> None:
    ports = build_ports(str(tmp_path / "m.db"), "acme/team/alice", inherit=True, embedder="none")
    assert ports.scopes == ("acme/team/alice", "acme/team", "acme")
    ports.store.close()


def test_without_an_embedder_vectors_have_width_zero(tmp_path: Path) -> None:
    ports = build_ports(str(tmp_path / "m.db"), "t", llm=ScriptedLLM(), embedder="none")
    assert ports.embed(["hello", "there"]).shape == (2, 0)
    assert ports.mind.name == "scripted"
    ports.store.close()


def test_a_clock_without_time_zone_is_refused(tmp_path: Path) -> None:
    from datetime import datetime  # noqa: PLC0415 - only here, where it is wrong on purpose

    ports = build_ports(str(tmp_path / "m.db"), "t", embedder="none", clock=lambda: datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(InputError, match="no time zone"):
        ports.now()
    ports.store.close()
