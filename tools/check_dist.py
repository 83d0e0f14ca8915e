"""Builds the wheel and the source distribution, checks them, and tries the wheel in an environment of its own.

The argument is the folder for the files; default dist/, whose content is replaced. Beside the two distributions it writes a
bill of materials (CycloneDX, JSON): each package of an installation with its version and licence.

It needs a package index for the build tools and the dependencies. It prints how many packages an installation has, how
many megabytes and how many seconds, and fails above the limits below.
"""

import email
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
PACKAGES_MOST = 30  # with pip, as the environment has it
MEGABYTES_MOST = 180
DATA = (
    ".css",
    ".html",
    ".js",
    ".json",
    ".jsonl",
    ".md",
    ".pyi",
    ".safetensors",
    ".sql",
    ".svg",
    ".toml",
    ".tsv",
    ".txt",
    ".typed",
)
"""Suffixes of the files in the wheel that are no modules."""
SOURCES = {
    *(
        "Makefile",
        "NOTICE",
        "LICENSE",
        "SECURITY.md",
        "CHANGELOG.md",
        "requirements.lock",
        "requirements-minilm.lock",
        "pyproject.toml",
    ),
    *("tests/conftest.py", "docs/cli.md", "docs/conf.py", "docs/index.md", "docs/pictures/forgetting.svg"),
}
"""Files that the source distribution must have: what builds, tests and documents the package."""
TYPED = """
from slowwave import AgentMemory
with AgentMemory.open(":memory:") as memory:
    reveal_type(memory.search("question"))
    memory.add(3)
"""
"""A program with one wrong argument, for a type checker."""
PROGRAM = """
import socket, sys
class Offline(socket.socket):
    def connect(self, address): raise OSError("no network in this check")
socket.socket = Offline
from importlib import metadata, resources
import slowwave
from slowwave import AgentMemory, Message
assert slowwave.__version__ == metadata.version("slowwave")
assert resources.files("slowwave").joinpath("py.typed").is_file()
assert sorted(map(str, metadata.files("slowwave"))).count("slowwave-" + slowwave.__version__ + ".dist-info/licenses/NOTICE") == 1
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"mcp", "fastapi", "psycopg", "langgraph", "openai", "anthropic"}, loaded
with AgentMemory.open(sys.argv[1]) as memory:
    memory.add_messages([Message(role="user", content="The deploy password rotates every Friday.")], conversation="c")
    memory.add("Alice owns the deploy pipeline")
with AgentMemory.open(sys.argv[1]) as memory:
    assert memory.search("who owns deploys?")[0].text == "Alice owns the deploy pipeline"
    assert memory.status().embedder == "static:256:554463a0:1.1:0.003", memory.status().embedder
"""


def run(*command: object, **environment: str) -> str:
    """The output of a command; ends this program if it fails."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, env={**clean(), **environment}
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def clean() -> dict[str, str]:
    """The environment without settings that would put this folder, or another memory, in the way."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SLOWWAVE", "VIRTUAL"))}


def environment(folder: Path) -> Path:
    """The Python of a new virtual environment."""
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin" / "python"


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel, made from the source distribution, and the source distribution."""
    python = environment(folder / "tools")
    run(python, "-m", "pip", "install", "--quiet", "build", "twine", "cyclonedx-bom")
    shutil.rmtree(DIST, ignore_errors=True)
    run(python, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,), (source,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(python, "-m", "twine", "check", "--strict", wheel, source)
    return wheel, source


def check_contents(wheel: Path, source: Path) -> None:
    """The wheel holds every file of the package and no other; the source distribution holds what builds and tests it."""
    package = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "slowwave").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
    if inside != package:
        raise SystemExit(f"the wheel and src/slowwave differ: {sorted(inside ^ package)}")
    if odd := {name for name in inside if not name.endswith((".py", *DATA))}:
        raise SystemExit(f"the wheel has files of unexpected kinds: {sorted(odd)}")
    if "](docs/" in metadata:
        raise SystemExit("the description has links to files that a package index does not show")
    check_metadata(metadata)
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if missing := SOURCES - names:
        raise SystemExit(f"the source distribution lacks {sorted(missing)}")
    if built := {name for name in names if name.startswith(("docs/_site/", "dist/", ".venv"))}:
        raise SystemExit(f"the source distribution has built files: {sorted(built)[:5]}")


def check_metadata(metadata: str) -> None:
    """The wheel's metadata has the version, extras, licences and classifiers of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = email.message_from_string(metadata)
    declared = {
        "Version": [project["version"]],
        "Requires-Python": [project["requires-python"]],
        "License-Expression": [project["license"]],
        "License-File": sorted(project["license-files"]),
        "Provides-Extra": sorted(project["optional-dependencies"]),
    }
    for name, values in declared.items():
        if sorted(said.get_all(name) or []) != values:
            raise SystemExit(f"{name} of the wheel is {said.get_all(name)}, of pyproject.toml {values}")
    if "Typing :: Typed" not in (said.get_all("Classifier") or []):
        raise SystemExit("the wheel does not say that it has types")
    needs = [line for line in said.get_all("Requires-Dist") or [] if "extra ==" in line]
    wanted = sum(len(requirements) for requirements in project["optional-dependencies"].values())
    if len(needs) != wanted:
        raise SystemExit(f"the wheel has {len(needs)} requirements of extras, pyproject.toml {wanted}")


def try_out(wheel: Path, folder: Path) -> None:
    """Install the wheel into a new environment, measure it, and use it without a network."""
    python = environment(folder / "use")
    begun = time.monotonic()
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    seconds = time.monotonic() - begun
    packages = run(python, "-m", "pip", "list", "--format", "freeze", "--disable-pip-version-check").split()
    size = sum(path.lstat().st_blocks * 512 for path in (folder / "use").rglob("*") if not path.is_symlink())
    megabytes = size / 1024**2
    print(f"{len(packages)} packages, {megabytes:.0f} MB, installed in {seconds:.0f} s")
    if len(packages) > PACKAGES_MOST or megabytes > MEGABYTES_MOST:
        raise SystemExit(f"more than {PACKAGES_MOST} packages or {MEGABYTES_MOST} MB: {' '.join(packages)}")
    run(python, "-c", PROGRAM, folder / "memory.db")
    check_types(python, folder)
    bill = DIST / f"{wheel.name.partition('-py3')[0]}.cdx.json"
    run(folder / "tools" / "bin" / "cyclonedx-py", "environment", python, "--output-file", bill)
    components = {each["name"] for each in json.loads(bill.read_text(encoding="utf-8"))["components"]}
    if missing := {package.partition("==")[0] for package in packages} - components:
        raise SystemExit(f"the bill of materials lacks {sorted(missing)}")
    command, home = folder / "use" / "bin" / "slowwave", str(folder)
    version = run(command, "--version")
    if run(python, "-m", "slowwave", "--version") != version:
        raise SystemExit("`python -m slowwave` is not `slowwave`")
    run(command, "demo", HOME=home)


def check_types(python: Path, folder: Path) -> None:
    """A type checker finds the types of the installed package, and so the wrong argument of a program."""
    checker = environment(folder / "types")
    run(checker, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mypy")
    program = folder / "typed.py"
    program.write_text(TYPED, encoding="utf-8")
    command = [
        checker,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        python,
        "--cache-dir",
        folder / "types",
        program,
    ]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, env=clean())
    if "list[slowwave.model.query.Hit]" not in done.stdout or "[arg-type]" not in done.stdout or done.stderr:
        raise SystemExit(f"the types of the installed package were not found:\n{done.stdout}{done.stderr}")


def try_source(source: Path, folder: Path) -> None:
    """Install the source distribution into another environment, and use it."""
    python = environment(folder / "from_source")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", source)
    run(python, "-c", PROGRAM, folder / "from_source.db")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        wheel, source = build(Path(name))
        check_contents(wheel, source)
        try_out(wheel, Path(name))
        try_source(source, Path(name))
    for built in (wheel, source):
        print(f"{built}: {built.stat().st_size / 1024**2:.1f} MB")
