"""Builds the wheel and the source distribution, checks them, and tries the wheel in an environment of its own.

The argument is the folder for the files; default dist/, whose content is replaced. Beside the two distributions it writes a
bill of materials (CycloneDX, JSON): each package of an installation with its version and licence.

It needs a package index for the build tools and the dependencies. It prints how many packages an installation has, how
many megabytes and how many seconds, and fails above the limits below.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
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
PROGRAM = """
import socket, sys
class Offline(socket.socket):
    def connect(self, address): raise OSError("no network in this check")
socket.socket = Offline
from slowwave import AgentMemory, Message
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
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if (
        missing := {"Makefile", "NOTICE", "SECURITY.md", "requirements.lock", "tests/conftest.py", "docs/cli.md"}
        - names
    ):
        raise SystemExit(f"the source distribution lacks {sorted(missing)}")


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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        wheel, source = build(Path(name))
        check_contents(wheel, source)
        try_out(wheel, Path(name))
    for built in (wheel, source):
        print(f"{built}: {built.stat().st_size / 1024**2:.1f} MB")
