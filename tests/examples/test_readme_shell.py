"""The shell lines and the Python programs of README.md work as they are written, in a new folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = re.search(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
PRINTS = re.compile(r"^ *print\(.*\)  # (.+)$", re.MULTILINE)
"""A line whose comment is what it prints."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder whose `bin` has the command `slowwave`."""
    command = tmp_path / "bin" / "slowwave"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m slowwave "$@"\n', encoding="utf-8")
    command.chmod(0o700)
    return tmp_path


def environment(home: Path) -> dict[str, str]:
    """The environment of a new user: without settings, and with the command in the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE", "OPENAI", "XDG"))}
    return {**kept, "HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}


def test_the_shell_lines_work_in_order_in_a_new_folder(home: Path) -> None:
    assert SHELL is not None
    folder = home / "new"
    folder.mkdir()
    printed = {}
    for line in SHELL[1].splitlines():
        done = subprocess.run(
            ["sh", "-c", line], capture_output=True, text=True, check=False, cwd=folder, env=environment(home)
        )
        created = "created a new store at " if line.startswith("slowwave add") else ""
        assert done.returncode == 0, line
        assert done.stderr.startswith(created), line
        assert bool(done.stderr) == bool(created), line
        if line.startswith("slowwave"):
            assert done.stdout.strip(), line
            printed[line.split()[1]] = done.stdout
    verbs = ["add", "remember", "search", "consolidate", "list", "context", "sleep", "undo", "import"]
    assert list(printed) == verbs
    assert "Alice owns the deploy pipeline" in printed["search"]
    assert "October 14" in printed["list"]
    assert "Matteo" in printed["context"]
    assert "consolidate" in printed["undo"]


def test_the_python_blocks_are_one_program_that_prints_what_the_comments_say(home: Path) -> None:
    program = "\n".join(PYTHON)
    expected = PRINTS.findall(program)
    assert len(expected) > len(PYTHON) // 2
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
        env=environment(home),
    )
    assert (done.returncode, done.stderr) == (0, "")
    printed = iter(done.stdout.splitlines())
    for line in expected:
        assert line in printed  # this line follows the one before it


def test_every_page_of_the_documentation_is_in_the_contents_of_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^[\w/*-]+$", index, re.MULTILINE))
    pages = {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in (ROOT / "docs").rglob("*.md")}
    pages -= {"index", *(page for page in pages if page.startswith("adapters/") and "adapters/*" in listed)}
    assert pages <= listed
    assert "](docs/index.md)" in README
