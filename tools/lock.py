"""Writes requirements.lock: the versions and hashes of everything that the checks install, for every platform.

    python tools/lock.py

It needs a package index, from which it installs `uv` into an environment of its own. `make test` installs exactly these
files: a package that was replaced on the index is refused, and a new version changes nothing until this program is run.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
HEAD = "# Written by tools/lock.py from pyproject.toml.\n"


def requirements() -> list[str]:
    """What pyproject.toml names for building, using and testing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [
        *project["build-system"]["requires"],
        "editables",  # hatchling needs it for an editable installation
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
    ]


def lock(folder: Path) -> str:
    """The lock file of these requirements."""
    subprocess.run([sys.executable, "-m", "venv", folder / "tools"], check=True)
    programs = folder / "tools" / "bin"
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
    wanted = folder / "requirements.in"
    wanted.write_text("\n".join(requirements()), encoding="utf-8")
    # Without the extras in their names, an older pip refuses `psycopg[binary]` once an index has a newer `psycopg`.
    options = ("--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate")
    command = [programs / "uv", "pip", "compile", "--quiet", *options]
    command += ["--no-strip-extras", "--no-emit-index-url", wanted]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
    return HEAD + done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        LOCK.write_text(lock(Path(name)), encoding="utf-8")
