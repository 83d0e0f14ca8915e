"""The words of HTML, as the answers in Google's exports hold them.

`html.parser` is not used: it takes a minute for 60 kB of tags that are not closed, and fails on some declarations.
"""

import html
import re
from typing import Final

_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)[^<>]*>|<![^<>]*>")
_UNSEEN: Final = frozenset({"script", "style", "template", "head", "title"})
_BLOCKS: Final = frozenset(
    [
        "p",
        "div",
        "br",
        "hr",
        "tr",
        "table",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "pre",
        "blockquote",
        "section",
        "article",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ]
)
_SPACES: Final = re.compile(r"\s+")


def html_text(source: str) -> str:
    r"""The words that a reader of the HTML sees. Each block begins on a new line; code keeps its lines.

    >>> html_text("<p>Take <b>two</b> &amp; stir:</p><ul><li>salt</li><li>oil</li></ul>")
    'Take two & stir:\n- salt\n- oil'
    """
    found: list[str] = []
    at = unseen = exact = 0
    for tag in _TAG.finditer(source):
        found.append(_words(source[at : tag.start()], seen=not unseen, exact=exact > 0))
        at = tag.end()
        name, step = (tag[2] or "").lower(), -1 if tag[1] else 1
        unseen = max(0, unseen + step * (name in _UNSEEN))
        exact = max(0, exact + step * (name == "pre"))
        if name in _BLOCKS:
            found.append("\n- " if name == "li" and not tag[1] else "\n")
        elif name in {"td", "th"} and not tag[1]:
            found.append(" ")
    found.append(_words(source[at:], seen=not unseen, exact=exact > 0))
    lines = (line.rstrip() for line in "".join(found).split("\n"))
    return "\n".join(line for line in lines if line.strip()).strip()


def _words(text: str, *, seen: bool, exact: bool) -> str:
    plain = html.unescape(text) if seen else ""
    return plain if exact else _SPACES.sub(" ", plain)
