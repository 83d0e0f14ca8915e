"""What a release needs: one version everywhere, a reference of every public name, and the licences of what is contained."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import slowwave

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DATA = (".safetensors", ".tsv", ".txt", ".js")
"""Suffixes of data that may be taken from elsewhere."""


def test_the_version_is_the_same_in_the_project_the_package_and_the_changelog() -> None:
    newest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert PROJECT["project"]["version"] == slowwave.__version__ == newest[1]


def test_the_changelog_says_nothing_twice() -> None:
    lines = [line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    assert [line for line, times in Counter(line[:60] for line in lines).items() if times > 1] == []


def test_every_public_name_is_on_one_page_of_the_reference() -> None:
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md")]
    shown = Counter(
        name for page in pages for name in re.findall(r"^\.\. auto\w+:: slowwave\.(\w+)$", page, re.MULTILINE)
    )
    assert {name for name, times in shown.items() if times > 1} == set()
    modules = {"testing"}
    assert set(shown) - modules == set(slowwave.__all__)


def test_notice_names_every_file_of_data_from_elsewhere() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    source = ROOT / "src" / "slowwave"
    files = [path for path in source.rglob("*") if path.suffix in DATA]
    assert files
    unnamed = {path.relative_to(source).as_posix() for path in files if path.name not in notice}
    assert unnamed == set()


def test_the_tools_of_the_site_have_exact_versions() -> None:
    assert [one for one in PROJECT["dependency-groups"]["docs"] if not re.fullmatch(r"[\w-]+==[\d.]+", one)] == []
