"""The pages in docs: programs run, print what the page shows and have the types they say; tables and links are right."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from slowwave.policy.retention.categories import REGISTRY

ROOT = Path(__file__).parents[2]
PROGRAM = re.compile(r'^```python\n(""".*?)^```\n.*?^```text\n(.*?)^```\n', re.MULTILINE | re.DOTALL)
"""A program begins with its docstring; the next block of text is what it prints."""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if not {"adapters", "_site"} & set(page.parts))
"""The pages of `docs/adapters` are run with their framework, by `make test-adapters`."""
SLOW = {"coding-agent.md": "starts a process for each event", "postgres-and-workers.md": "starts a server"}


def programs() -> list[tuple[str, str, str]]:
    """Name of the page, program and output."""
    return [(page.name, *found) for page in PAGES for found in PROGRAM.findall(page.read_text(encoding="utf-8"))]


def runs() -> list[pytest.ParameterSet]:
    """The same, as arguments of a test that runs them."""
    return [
        pytest.param(*found, id=found[0], marks=[pytest.mark.long] if found[0] in SLOW else []) for found in programs()
    ]


@pytest.mark.parametrize(
    "page",
    [
        *("many-users.md", "coming-from-mem0.md"),
        *(page.name for page in (ROOT / "docs" / "tutorials").glob("*.md")),
    ],
)
def test_a_page_of_an_application_has_a_program(page: str) -> None:
    assert [name for name, _, _ in programs()].count(page) == 1


def test_the_glossary_has_fifteen_terms_each_once() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = [row.split("|")[1].strip() for row in page.splitlines() if row.startswith("| ")]
    assert terms.pop(0) == "term"
    assert len(set(terms)) == len(terms) == 15
    code = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert "(docs/glossary.md)" in code
    assert not [term for term in terms if f"\n| {term} |" in code]  # a term has one definition


@pytest.mark.parametrize(("name", "program", "printed"), runs())
def test_a_program_of_a_page_prints_what_the_page_shows(name: str, program: str, printed: str, tmp_path: Path) -> None:
    assert name.endswith(".md")
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "program.py"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.stderr, done.stdout) == ("", printed)


@pytest.mark.parametrize(("name", "program", "_printed"), runs())
def test_a_type_checker_accepts_a_program_of_a_page(
    name: str, program: str, _printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = pytest.importorskip("mypy.api")
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    file = tmp_path / "program.py"
    file.write_text(program, encoding="utf-8")
    output, errors, status = api.run(
        ["--strict", "--config-file=", f"--cache-dir={ROOT / '.mypy_cache' / 'public_api'}", str(file)]
    )
    assert (status, errors) == (0, ""), f"{name}: {output}"


@pytest.mark.parametrize("page", ["inspecting.md", "formats.md"])
def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = BLOCK.findall((ROOT / "docs" / page).read_text("utf-8"))
    assert blocks
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), page, "exec"), {})


def test_the_table_of_categories_has_the_times_of_the_registry() -> None:
    page = (ROOT / "docs" / "writing.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.+?) \| (?:(\d+) days?( without use)?|no fixed)", page, re.MULTILINE)
    shown = {
        name: (float(days) if days else None, "used" if days and idle else "recorded")
        for names, days, idle in rows
        for name in re.findall(r"`(\w+)`", names)
    }
    assert shown == {name: (category.ttl_days, category.anchor) for name, category in REGISTRY.items()}


LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([\w-]+))?\)")
"""A link to a file, a heading, or a heading of a file."""


def headings(page: Path) -> set[str]:
    """The names under which the headings of a page are linked."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *PAGES], ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    for name, heading in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / name) if name else page
        assert target.exists(), f"{page.name} links {name}"
        if heading:
            assert heading in headings(target), f"{page.name} links {name}#{heading}"


@pytest.mark.long
def test_the_pictures_are_those_that_the_library_draws(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "draw_pictures.py"), str(tmp_path)], check=True, cwd=tmp_path)
    drawn = {path.name: path.read_text("utf-8") for path in tmp_path.glob("*.svg")}
    assert drawn == {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "pictures").iterdir()}
