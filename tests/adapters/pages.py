"""Runs the program of an adapter's page word by word, and compares what it prints with what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs" / "adapters"
_PROGRAM = re.compile(r'^```python\n("""(?:.|\n)+?)^```\n+^```text\n((?:.|\n)*?)^```$', re.MULTILINE)
"""A block that begins with a docstring, and the block of its output after it."""


def programs(page: str) -> list[tuple[str, str]]:
    """The programs of docs/adapters/PAGE.md, each with its output."""
    return _PROGRAM.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))


def printed(program: str, folder: Path) -> str:
    """What a program prints in an empty folder, without settings of this user. It must end without an error."""
    script = folder / "program.py"
    script.write_text(program, encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_", "XDG_"))}
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        env={**plain, "HOME": str(folder), "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_page(page: str, folder: Path) -> None:
    """Run the programs of a page in a folder, one after the other; each prints what the page says."""
    found = programs(page)
    assert found, f"docs/adapters/{page}.md has no program with its output"
    for program, output in found:
        assert printed(program, folder) == output
