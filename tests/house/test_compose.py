"""The compose file is well formed, and what it runs is what the command line and the settings know."""

import re
from pathlib import Path
from typing import Any

import click
import pytest

from slowwave.cli.app import app
from slowwave.settings import read

ROOT = Path(__file__).parents[2]
FILE = ROOT / "compose.yaml"
UNIT = ROOT / "examples" / "slowwave.service"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="no YAML reader here: pip install pyyaml")
    whole = yaml.safe_load(FILE.read_text("utf-8"))
    assert set(whole) == {"services", "volumes"}
    found: dict[str, Any] = whole["services"]
    for service in found.values():
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in whole["volumes"]
        assert set(service.get("depends_on", ())) <= set(found)
        assert ("image" in service) != ("build" in service)
    return found


def _understood(words: list[str]) -> bool:
    """Whether the command line accepts these words."""
    program, name, *arguments = words
    command = app.get_command(click.Context(app), name)
    return program == app.name and command is not None and bool(command.make_context(name, arguments).params)


def test_the_command_that_the_worker_runs_exists(services: dict[str, Any]) -> None:
    assert _understood(services["worker"]["command"])
    commands = re.findall(r"docker compose run --rm worker (slowwave .*)", FILE.read_text("utf-8"))
    assert commands
    assert all(_understood(line.split()) for line in commands)


def test_the_command_that_the_server_runs_exists(services: dict[str, Any]) -> None:
    assert _understood(services["serve"]["command"])
    (unit,) = re.findall(r"^ExecStart=/opt/slowwave/bin/(.*)$", UNIT.read_text("utf-8"), re.MULTILINE)
    assert _understood(unit.split())


def test_the_settings_that_the_worker_uses_exist(services: dict[str, Any]) -> None:
    given = services["worker"]["environment"]
    known = read({name: str(value) for name, value in given.items()} | {"SLOWWAVE_LLM": "", "SLOWWAVE_LLM_URL": ""})
    assert known.store == given["SLOWWAVE_STORE"]
    assert known.llm is None
    assert {name for name in given if name.startswith("SLOWWAVE_")} <= {
        "SLOWWAVE_STORE",
        "SLOWWAVE_LLM",
        "SLOWWAVE_LLM_URL",
        "SLOWWAVE_LLM_KEY",
    }
    database = services["db"]["environment"]
    assert f"//{database['POSTGRES_USER']}:" in known.store
    assert known.store.endswith(f"@db/{database['POSTGRES_DB']}")


def test_the_extra_that_the_worker_installs_exists(services: dict[str, Any]) -> None:
    built = "".join(service["build"]["dockerfile_inline"] for service in services.values() if "build" in service)
    extras = [extra for found in re.findall(r"\[([\w,]+)\]", built) for extra in found.split(",")]
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert extras
    assert all(re.search(rf"^{extra} = \[", text, re.MULTILINE) for extra in extras)


def test_nothing_listens_beyond_this_machine_and_no_password_is_written_down(services: dict[str, Any]) -> None:
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service.get("ports", ()))
    assert services["db"]["environment"]["POSTGRES_PASSWORD"].startswith("${")


def test_the_page_on_scaling_contains_the_same_commands() -> None:
    page = (ROOT / "docs" / "scaling.md").read_text("utf-8")
    for line in re.findall(r"^#     (.*docker compose .*)$", FILE.read_text("utf-8"), re.MULTILINE):
        assert line in page
