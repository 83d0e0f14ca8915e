"""Runs a framework's own tests, which its source distribution has, against an adapter of Slowwave."""

import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Outcomes:
    """Names of tests by how they ended."""

    passed: frozenset[str]
    failed: frozenset[str]
    skipped: frozenset[str]


def unpacked_source(requirement: str, folder: Path) -> Path:
    """The unpacked source distribution of a package ("name==version"), in `folder`."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    name = requirement.partition("==")[0]
    subprocess.run([*command, "--no-binary", name, "--dest", folder, requirement], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    archive.unlink()
    (source,) = (place for place in folder.iterdir() if place.is_dir())
    return source


def run_tests(source: Path, files: Sequence[str], *, choose: str = "", seconds: float = 300) -> Outcomes:
    """Run test files of an unpacked source (paths relative to it). `choose` is pytest's expression of `-k`."""
    report = source / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
    chosen = ["-k", choose] if choose else []
    done = subprocess.run(
        [*command, "-o", "addopts=", "-o", "filterwarnings=", "--timeout=60", f"--junitxml={report}", *chosen, *files],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        cwd=source,
    )
    assert report.exists(), f"{done.stdout}{done.stderr}"
    ended: dict[str, set[str]] = {"passed": set(), "failed": set(), "skipped": set()}
    for case in ET.parse(report).iter("testcase"):
        how = {child.tag for child in case}
        place = "failed" if how & {"failure", "error"} else "skipped" if "skipped" in how else "passed"
        ended[place].add(case.attrib["name"])
    return Outcomes(**{name: frozenset(cases) for name, cases in ended.items()})
