"""Reads a text as a program shows it: without the escapes of HTML, addresses and JSON, and without marks of Markdown and HTML."""

import html
import re
from typing import Final
from urllib.parse import unquote

from slowwave.policy.text.lazy_regex import lazy_regex

_MAY_DIFFER: Final = lazy_regex(r"[&%\\<*~`_>]|=[0-9A-F]{2}|[^\W\d_]-\r?\n|\]\(")
_PERCENT: Final = lazy_regex(r"%[0-9A-Fa-f]{2}")
_PLUS: Final = lazy_regex(r"(?<=\S)\+(?=\S)")
_BACKSLASH: Final = lazy_regex(
    r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|[ux]([0-9A-Fa-f]{4}|[0-9A-Fa-f]{2})|([nrtfb])|([^\w\s])|(?=[0-9]))"
)
_TAG: Final = lazy_regex(r"<(/?[a-zA-Z][a-zA-Z0-9]{0,20})(?:\s[^<>]{0,200})?/?>")
_LINES: Final = frozenset({"br", "p", "/p", "div", "/div", "li", "/li", "tr", "/tr", "td", "/td"})
"""Tags between which words are not joined."""
_LINK: Final = lazy_regex(r"\[([^\[\]\n]{1,400})\]\([^()\s]{0,400}\)")
_QUOTE: Final = lazy_regex(r"\n[ \t]{0,8}(?:>[ \t]?){1,8}")
_HYPHEN: Final = lazy_regex(r"(?<=[^\W\d_])-[ \t]{0,8}\r?\n[ \t]{0,8}(?=[^\W\d_])")
_EMPHASIS: Final = lazy_regex(r"\*{1,3}|~~|`{1,3}|(?<![^\W_])_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?![^\W_])")
_HTML_TWICE: Final = 2
_HIGHEST: Final = 0x10FFFF
_SURROGATES: Final = lazy_regex("[\ud800-\udfff]")


def unescaped(text: str) -> str:
    r"""The text without escapes and marks; the same text if it has none. Takes time in proportion to its length.

    >>> unescaped(r"Zo\u00eb &amp; **Finn**, caf%C3%A9")
    'Zoë & Finn, café'
    """
    if _MAY_DIFFER.search(text) is None:
        return text
    text = _TAG.sub(lambda tag: " " if tag[1].lower() in _LINES else "", text)
    for _ in range(_HTML_TWICE):
        text = html.unescape(text)
    text = _LINK.sub(r"\1", text)
    if _PERCENT.search(text):
        text = unquote(_PLUS.sub(" ", text))
    text = _BACKSLASH.sub(_character, text)
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _EMPHASIS.sub("", _HYPHEN.sub("", _QUOTE.sub("\n", text)))


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= _HIGHEST else escape[0]
    return " " if escape[3] else escape[4] or ""
