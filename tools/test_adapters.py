"""Checks each adapter in an environment of its own: types, own tests, and the tests of the framework itself.

The arguments are names of modules in slowwave.adapters; default all. It needs a package index, installs with uv, and
prints for each adapter the version of its framework and the seconds. The environments stay in .venv-adapters.
"""

import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from slowwave.adapters import EXTRAS

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".venv-adapters"
UV = Path(sys.executable).with_name("uv")


def framework(extra: str) -> str:
    """The package that an extra installs first."""
    return Requirement(settings()["project"]["optional-dependencies"][extra][0]).name


def settings() -> dict[str, Any]:
    """The content of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def prepared(module: str) -> Path:
    """The Python of the environment of an adapter, which is made or brought up to date."""
    environment = ENVIRONMENTS / module
    python = environment / "bin" / "python"
    if not python.exists():
        run(UV, "venv", "--quiet", "--seed", "--python", sys.executable, environment)
    groups = {"adapters", f"adapters-{EXTRAS[module]}"} & set(settings()["dependency-groups"])
    chosen = [word for group in sorted(groups) for word in ("--group", group)]
    run(UV, "pip", "install", "--quiet", "--python", python, "--editable", f".[{EXTRAS[module]}]", *chosen)
    return python


def run(*command: object, **environment: str) -> None:
    """Run a command in the project's folder; end this program if it fails."""
    words = [str(word) for word in command]
    if subprocess.run(words, check=False, cwd=ROOT, env={**os.environ, **environment}).returncode:
        raise SystemExit(f"failed: {' '.join(words)}")


def check(module: str) -> None:
    """All checks of one adapter."""
    begun = time.monotonic()
    python = prepared(module)
    run(python, "-m", "mypy", ROOT / "src" / "slowwave" / "adapters" / f"{module}.py")
    folder = ROOT / "tests" / "adapters"
    tests = sorted(folder.glob(f"test_{module}*.py"))
    asyncio = ("--asyncio-mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")
    run(python, "-m", "pytest", "-q", *asyncio, f"--confcutdir={folder}", *tests, SLOWWAVE_ADAPTER=module)
    package = framework(EXTRAS[module])
    version = subprocess.check_output(
        [python, "-c", f"from importlib.metadata import version; print(version({package!r}))"], text=True
    )
    print(f"{module}: {package} {version.strip()}, {time.monotonic() - begun:.0f} s", flush=True)


def main() -> None:
    """Check the named adapters, or all."""
    names = sys.argv[1:] or sorted(EXTRAS)
    unknown = sorted(set(names) - set(EXTRAS))
    if unknown:
        raise SystemExit(f"no adapter {', '.join(unknown)}: choose from {', '.join(sorted(EXTRAS))}")
    for name in names:
        check(name)


if __name__ == "__main__":
    main()
