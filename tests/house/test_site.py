"""The check of the built documentation finds what a page loads from elsewhere, and links that lead nowhere."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "tools" / "check_site.py"
GOOD = '<html><head><link rel="stylesheet" href="s.css"></head><h1 id="top">x</h1><a href="#top">x</a><a href="https://host.example">x</a></html>'


def found(folder: Path, page: str, style: str = "") -> tuple[int, list[str]]:
    """The exit code and the lines of the check of a site with one page and one style sheet."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    (folder / "s.css").write_text(style, encoding="utf-8")
    done = subprocess.run([sys.executable, str(CHECK), str(folder)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_a_page_that_loads_its_own_files_and_links_other_sites_is_right(tmp_path: Path) -> None:
    assert found(tmp_path, GOOD, "p { background: url(s.svg) }") == (0, [])


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://host.example/x.js"></script>',
        '<img src="//host.example/x.png">',
        '<link rel="preconnect" href="https://host.example">',
        "<style>@import 'https://host.example/x.css'</style>",
    ],
)
def test_a_page_that_loads_from_another_site_is_named(page: str, tmp_path: Path) -> None:
    status, lines = found(tmp_path, page)
    assert (status, len(lines)) == (1, 1)
    assert "host.example" in lines[0]


def test_a_style_that_loads_from_another_site_is_named(tmp_path: Path) -> None:
    assert found(tmp_path, GOOD, "@font-face { src: url('https://host.example/x.woff2') }")[0] == 1


@pytest.mark.parametrize("link", ["other.html", "#nowhere", "page.html#nowhere"])
def test_a_link_that_leads_nowhere_is_named(link: str, tmp_path: Path) -> None:
    status, lines = found(tmp_path, f'<a href="{link}">x</a>')
    assert (status, len(lines)) == (1, 1)


def test_a_folder_without_pages_is_an_error(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(CHECK), str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == 1
