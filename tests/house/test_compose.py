"""The compose file is well formed, what it runs exists, and its roles work on a server in the order that it has them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest

from slowwave import AgentMemory, Message, Slowwave
from slowwave.cli.app import app
from slowwave.settings import read
from slowwave.testing.postgres import PostgresServer, postgres_server
from slowwave.worker import Worker

ROOT = Path(__file__).parents[2]
FILE = ROOT / "compose.yaml"
ROLES = ROOT / "examples" / "roles.sql"
UNIT = ROOT / "examples" / "slowwave.service"
PASSWORDS = {"POSTGRES_PASSWORD", "OWNER_PASSWORD", "APP_PASSWORD", "WORKER_PASSWORD"}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="no YAML reader here: pip install pyyaml")
    whole = yaml.safe_load(FILE.read_text("utf-8"))
    assert set(whole) == {"services", "volumes"}
    found: dict[str, Any] = whole["services"]
    for service in found.values():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in whole["volumes"] or (ROOT / source).is_file()
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
    commands = re.findall(r"docker compose run --rm \w+ (slowwave .*)", FILE.read_text("utf-8"))
    assert len(commands) > 2
    assert all(_understood(line.split()) for line in commands)
    assert all(_understood(line.split()) for line in _of_the_owner(services))


def test_the_command_that_the_server_runs_exists(services: dict[str, Any]) -> None:
    assert _understood(services["serve"]["command"])
    (unit,) = re.findall(r"^ExecStart=/opt/slowwave/bin/(.*)$", UNIT.read_text("utf-8"), re.MULTILINE)
    assert _understood(unit.split())


def _of_the_owner(services: dict[str, Any]) -> list[str]:
    """The commands of the owner, of which the first that succeeds is the last."""
    shell, option, line = services["owner"]["command"]
    assert (shell, option) == ("sh", "-c")
    return str(line).split(" || ")


@pytest.mark.parametrize(("service", "login"), [("owner", "owner"), ("worker", "worker"), ("serve", "app")])
def test_each_service_has_a_login_and_settings_that_exist(services: dict[str, Any], service: str, login: str) -> None:
    given = services[service]["environment"]
    known = read({name: str(value) for name, value in given.items()} | {"SLOWWAVE_LLM": "", "SLOWWAVE_LLM_URL": ""})
    assert known.store == given["SLOWWAVE_STORE"] == f"postgresql://{login}:${{{login.upper()}_PASSWORD}}@db/memory"
    assert f"CREATE ROLE {login} LOGIN PASSWORD :'{login}_password' IN ROLE slowwave_app;" in ROLES.read_text("utf-8")
    assert known.llm is None
    assert {name for name in given if name.startswith("SLOWWAVE_")} <= {
        "SLOWWAVE_STORE",
        "SLOWWAVE_LLM",
        "SLOWWAVE_LLM_URL",
        "SLOWWAVE_LLM_KEY",
    }


@pytest.mark.parametrize(("service", "port"), [("worker", 8080), ("serve", 8765)])
def test_each_running_service_has_a_check_of_its_health_that_can_fail(
    services: dict[str, Any], service: str, port: int
) -> None:
    kind, _, option, code = services[service]["healthcheck"]["test"]
    assert (kind, option) == ("CMD", "-c")
    assert f"http://127.0.0.1:{port}/healthz" in code
    done = subprocess.run([sys.executable, option, code.replace(f":{port}/", ":1/")], check=False, capture_output=True)
    assert done.returncode == 1
    assert b"Connection refused" in done.stderr


def test_the_schema_is_made_by_its_owner_before_anything_uses_it(services: dict[str, Any]) -> None:
    assert services["owner"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    for name in ("worker", "serve"):
        assert services[name]["depends_on"] == {"owner": {"condition": "service_completed_successfully"}}
    assert any(
        volume.startswith("./examples/roles.sql:/docker-entrypoint-initdb.d/") for volume in services["db"]["volumes"]
    )


def _statements(sql: str) -> set[str]:
    """The SQL statements of a script, without passwords and comments."""
    without = re.sub(r"--.*", "", re.sub(r"PASSWORD \S+", "PASSWORD", sql))
    text = re.sub(r"^\\.*", ";", without, flags=re.MULTILINE)
    return {" ".join(statement.split()) for statement in text.split(";") if statement.strip()}


def test_the_page_for_operators_has_the_statements_of_the_script() -> None:
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    (block,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    script, _, in_the_database = ROLES.read_text("utf-8").partition("\\connect memory")
    of_page = {one.replace(", backup", "") for one in _statements(block) if not one.startswith("CREATE ROLE backup")}
    assert of_page == _statements(script)
    rights = [one for one in _statements(in_the_database) if one.startswith("ALTER DEFAULT PRIVILEGES")]
    assert len(rights) == 2
    assert all(one in page for one in rights)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of its own: roles belong to the whole server."""
    with postgres_server(in_ram=True) as running:
        yield running


@pytest.fixture(scope="module")
def addresses(server: PostgresServer, services: dict[str, Any]) -> dict[str, str]:
    """The addresses of the logins, after what the container of the database and the owner do at their first start."""
    environment = {**os.environ, **{name: f"{name.lower()}1" for name in PASSWORDS}}
    run = [server.program("psql"), server.url, "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={ROLES}"]
    subprocess.run(run, check=True, env=environment, capture_output=True)
    memory = server.address("memory")
    found = {name: memory.replace("postgres:", f"{name}:", 1) for name in ("owner", "app", "worker")}
    assert len(set(found.values())) == len(found)
    for _ in "first start", "second start":
        codes = []
        for line in _of_the_owner(services):
            words = [sys.executable, "-m", *line.split(), "--store", found["owner"]]
            codes.append(subprocess.run(words, check=False, capture_output=True).returncode)
            if not codes[-1]:
                break
        assert codes[-1] == 0
    return found


def test_the_script_sets_the_passwords_and_admits_nobody_else(
    server: PostgresServer, addresses: dict[str, str]
) -> None:
    with psycopg.connect(server.url, autocommit=True) as db:
        names = db.execute("SELECT rolname FROM pg_authid WHERE rolpassword LIKE 'SCRAM%' ORDER BY 1").fetchall()
        assert [name for (name,) in names] == sorted(addresses)
        db.execute("CREATE ROLE stranger LOGIN")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(addresses["app"].replace("app:", "stranger:", 1))


def test_the_roles_work_in_the_order_of_the_compose_file(addresses: dict[str, str]) -> None:
    with AgentMemory.open(addresses["app"], scope="acme/alice", llm=None, embedder="none") as memory:
        memory.add_messages([Message(role="user", content="I am allergic to pollen.")], "c")
        assert memory.search("allergic to what?")
    with (
        AgentMemory.open(addresses["worker"], scope="worker", llm=None, embedder="none") as memory,
        Worker(memory, addresses["worker"]) as worker,
    ):
        worker.look()
    run = [sys.executable, "-m", "slowwave", "doctor", "--json", "--store", addresses["app"]]
    checks = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    assert [check for check in checks if not check["ok"]] == []
    (queue,) = (check["found"] for check in checks if check["check"] == "workers")
    assert "waiting" in queue
    assert "GRANT" not in queue
    with Slowwave.open(addresses["owner"], llm=None, embedder="none") as store:
        assert store.within("acme", "alice").erase(scope=True).verified
        assert store.prove_erased().pending == 0


def test_the_extra_that_the_worker_installs_exists(services: dict[str, Any]) -> None:
    built = "".join(service["build"]["dockerfile_inline"] for service in services.values() if "build" in service)
    extras = [extra for found in re.findall(r"\[([\w,]+)\]", built) for extra in found.split(",")]
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert extras
    assert all(re.search(rf"^{extra} = \[", text, re.MULTILINE) for extra in extras)


def test_nothing_listens_beyond_this_machine_and_no_password_is_written_down(services: dict[str, Any]) -> None:
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service.get("ports", ()))
    assert set(services["db"]["environment"]) == PASSWORDS
    assert all(value.startswith(f"${{{name}:?") for name, value in services["db"]["environment"].items())


def test_the_page_on_scaling_contains_the_same_commands() -> None:
    page = (ROOT / "docs" / "scaling.md").read_text("utf-8")
    for line in re.findall(r"^#     (.*docker compose .*)$", FILE.read_text("utf-8"), re.MULTILINE):
        assert line in page
