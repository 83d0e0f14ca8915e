"""Checks the built documentation: `python tools/check_site.py FOLDER`.

No page may load anything from another site, and each link within the site must lead to a file and to an id of that file.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}
"""The attribute by which an element loads a file."""
LOADED_RELATIONS = {
    "stylesheet",
    "icon",
    "preload",
    "prefetch",
    "preconnect",
    "dns-prefetch",
    "modulepreload",
    "manifest",
}
"""Values of `rel` with which a `link` element makes a browser ask a server."""
STYLE_LOADS = re.compile(r"(?:@import\s*|url\()\s*['\"]?((?:[a-z]+:)?//[^'\")\s]+)", re.IGNORECASE)


class Page(HTMLParser):
    """What a page loads, links to and has ids for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = STYLE_LOADS.findall(text)
        self.links: list[str] = []
        self.ids: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the addresses and ids of an element."""
        values = {name: value or "" for name, value in attrs}
        self.ids.add(values.get("id", ""))
        if tag == "link" and set(values.get("rel", "").split()) & LOADED_RELATIONS:
            self.loads.append(values.get("href", ""))
        if tag in LOADED:
            self.loads.append(values.get(LOADED[tag], ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


def is_elsewhere(address: str) -> bool:
    """Whether an address names another site."""
    return bool(urlsplit(address).netloc)


def problems(site: Path) -> list[str]:
    """One sentence for each fault of the pages in a folder."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [f"there is no page in {site}: build the site first"] if not pages else []
    for path in sorted(site.rglob("*.css")):
        found += [f"{path.name} loads {address}" for address in STYLE_LOADS.findall(path.read_text(encoding="utf-8"))]
    for path, page in pages.items():
        name = path.relative_to(site.resolve()).as_posix()
        found += [f"{name} loads {address}" for address in page.loads if is_elsewhere(address)]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{name} links {link}, which is no file of the site")
            elif target in pages and unquote(parts.fragment) not in pages[target].ids:
                found.append(f"{name} links {link}, which is no id of that page")
    return found


if __name__ == "__main__":
    faults = problems(Path(sys.argv[1]))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
