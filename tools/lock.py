"""Writes the versions and hashes of everything that the checks install, for every platform, as requirements.lock.

The model of the extra `minilm`, which the checks do without, is in requirements-minilm.lock: the package alone, because it
asks for PyTorch, which is not used.

    python tools/lock.py

It needs a package index, from which it installs `uv` into an environment of its own. `make test` installs exactly these
files: a package that was replaced on the index is refused, and a new version changes nothing until this program is run.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK, MODEL_LOCK = ROOT / "requirements.lock", ROOT / "requirements-minilm.lock"
HEAD = "# Written by tools/lock.py from pyproject.toml.\n"


def requirements(project: dict[str, Any]) -> list[str]:
    """What pyproject.toml names for building, using and testing."""
    return [
        *project["build-system"]["requires"],
        "editables",  # hatchling needs it for an editable installation
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
    ]


def lock(folder: Path, wanted_ones: Iterable[str], *more: str) -> str:
    """The lock file of these requirements. The folder has an environment `tools` with uv."""
    programs = folder / "tools" / "bin"
    wanted = folder / "requirements.in"
    wanted.write_text("\n".join(wanted_ones), encoding="utf-8")
    # Without the extras in their names, an older pip refuses `psycopg[binary]` once an index has a newer `psycopg`.
    options = ("--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate")
    command = [programs / "uv", "pip", "compile", "--quiet", *options]
    command += ["--no-strip-extras", "--no-emit-index-url", *more, wanted]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
    return HEAD + done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        place, project = Path(name), tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        subprocess.run([sys.executable, "-m", "venv", place / "tools"], check=True)
        subprocess.run([place / "tools" / "bin" / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
        LOCK.write_text(lock(place, requirements(project)), encoding="utf-8")
        (model, _) = project["project"]["optional-dependencies"]["minilm"]
        MODEL_LOCK.write_text(lock(place, [model], "--no-deps"), encoding="utf-8")
