"""Builds the documentation site from the Markdown pages of this folder: `make docs`, with the result in docs/_site.

The pages are written for a code host, which shows them without this file. Files above this folder (README.md and others)
are included by the pages in `project`; their links are turned into links between pages here.
"""

import os
import re
from pathlib import Path

from docutils.nodes import Element
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import slowwave

ROOT = Path(__file__).parents[1]
SITE_PAGES = {
    "README.md": "project/readme.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "NOTICE": "project/notice.md",
    "bench/README.md": "project/benchmarks.md",
}
"""The page of this site that includes a file of the project."""
LINK = re.compile(r"(?<!!)\[(?P<words>[^\]\n]+)\]\((?![a-z]+:|#|/)(?P<path>[^)#\s]+)(?P<heading>#[^)\s]+)?\)")
"""A link of Markdown to another file."""

project = "Slowwave"
author = "The Slowwave authors"
copyright = "2026, The Slowwave authors"  # noqa: A001 - the name that Sphinx reads
release = version = slowwave.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_site"]
nitpicky = True
nitpick_ignore_regex = [
    ("py:obj", ".*"),  # single backticks in docstrings: a link if they are the name of something public, else code
    ("py:.*", r"(asyncio|collections|contextlib|datetime|http|pathlib|types|typing|uuid)\..*"),  # the standard library
    ("py:class", r"np\.float32|NDArray"),
    ("py:class", r"JsonValue|FactLike"),  # names that annotations give to unions
    (
        "py:class",
        r"Store|Trust|VectorWidth|datetime|tzinfo",
    ),  # annotations of `ports`, which imports them for type checkers only
    ("py:class", r"slowwave\.[\w.]+\.[A-Z]"),  # type variables
    (
        "py:class",
        r"slowwave\.(session|aio|model\.index_entry|model\.filters|worker\.queue)\.\w+",
    ),  # not public, in signatures
    ("py:class", r"slowwave\.ports\.Store|slowwave\.testing\.openai_server\.Received"),  # the same
]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = f"Slowwave {release}"
html_copy_source = False
html_show_sourcelink = False
pygments_style = "default"

default_role = "py:obj"
autodoc_mock_imports = ["dbos", "psycopg", "sqlalchemy"]  # of extras
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
add_module_names = False


def link_pages(text: str, folder: Path) -> str:
    """Markdown of a file in `folder`, with links to files of the project turned into links to pages of this site."""

    def page(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / link["path"]))
        name = target.relative_to(ROOT).as_posix()
        if name in SITE_PAGES:
            return f"[{link['words']}](/{SITE_PAGES[name]}{link['heading'] or ''})"
        if name.startswith("docs/"):
            return f"[{link['words']}](/{name.removeprefix('docs/')}{link['heading'] or ''})"
        return f"{link['words']}"  # a file that is no page: its name is enough

    return LINK.sub(page, text)


def read_page(app: Sphinx, name: str, content: list[str]) -> None:
    """Turn the links of a page, which may lead out of this folder."""
    content[0] = link_pages(content[0], Path(app.env.doc2path(name)).parent)


def read_included(app: Sphinx, path: Path, parent: str, content: list[str]) -> None:
    """Turn the links of a file that a page includes."""
    del parent
    content[0] = link_pages(content[0], Path(os.path.normpath(Path(app.srcdir) / path)).parent)


def find_public(app: Sphinx, env: BuildEnvironment, node: pending_xref, words: Element) -> Element | None:
    """Resolve a type that an annotation names by its module: the reference has it under its public name."""
    del app
    if node.get("refdomain") != "py":
        return None
    name = f"slowwave.{node['reftarget'].rpartition('.')[2]}"
    domain = env.domains.python_domain
    if name == node["reftarget"] or name not in domain.objects:
        return None
    return domain.resolve_xref(env, node["refdoc"], env.app.builder, "obj", name, node, words)


def prepare_docstring(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Turn the conventions of this project's docstrings into those of reStructuredText, before napoleon reads them.

    Indented lines after an empty one are a formula or a program. The first line of a property is a sentence, where napoleon
    would take what is before a colon for a type.
    """
    del app, name, thing, options
    written: list[str] = []
    for number, line in enumerate(lines):
        last = next((text for text in reversed(written) if text), "")
        begins = number and not lines[number - 1] and indent(line) > indent(last)
        if begins and last.lstrip() != "::" and not last.endswith("::"):
            written += [" " * indent(last) + "::", ""]
        written.append(line)
    lines[:] = ["..", "", *written] if what == "property" else written  # ".." is an empty comment


def indent(line: str) -> int:
    """The number of spaces before a line."""
    return len(line) - len(line.lstrip(" "))


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)  # before napoleon
    app.connect("missing-reference", find_public)
    app.connect("source-read", read_page)
    app.connect("include-read", read_included)
