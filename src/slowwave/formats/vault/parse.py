"""Parses a page of facts that a person may have edited: its lines, and all other text, which an export preserves."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from slowwave.formats.vault.front_matter import FRONT, front
from slowwave.model.codec import content_key
from slowwave.model.exchange import VaultLine
from slowwave.policy.guard.fence import escape, unescape

_LINE: Final = re.compile(r"[-*+] (?P<text>.*?)(?: \^(?P<id>[0-9a-z]{4,64}))?")
_OURS: Final = ("slowwave", "category")
"""The fields that an export writes into the front matter of a page of facts."""

Exported = Mapping[str, tuple[str | None, str]]
"""Id -> category, if it is known, and text of each fact that was written to a vault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSheet:
    """A page of facts: its lines, and the other text of a person in its head, above the lines, and between or below them."""

    lines: tuple[VaultLine, ...]
    head: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    def unknown(self, exported: Exported, known: frozenset[str]) -> list[VaultLine]:
        """The lines that differ from the export and from every known fact; `known` are the keys of the texts of facts."""
        return [
            line
            for line in self.lines
            if line.text != exported.get(line.id or "", (None, None))[1]
            and known.isdisjoint({content_key(line.text), content_key(unescape(line.text))})
        ]

    def around(self, page: str) -> str:
        """The page of an export with the other text of this page. Parsing the result returns the same text again."""
        head, body = _parts(page)
        rows = ["---", *head, *self.head, "---", ""]
        for part in (self.above, tuple(body), self.below):
            rows += [*part, ""] if part else []
        return "\n".join(rows).rstrip("\n") + "\n"

    @property
    def has_other_text(self) -> bool:
        """Whether the page has text other than lines of facts."""
        return bool(self.head or self.above or self.below)


def sheet(text: str, exported: Exported) -> FactSheet | None:
    """The parsed page of facts; None if its head has no category."""
    values = {name: value for _, name, value in front(text)}
    category = values.get("category")
    if not isinstance(category, str):
        return None
    head, body = _parts(text)
    lines: list[VaultLine] = []
    above: list[str] = []
    below: list[str] = []
    for row in body:
        line = _line(row, category, exported)
        if line:
            lines.append(line)
        else:
            (below if lines else above).append(row)
    other_fields = tuple(row for row in head if row.partition(":")[0].strip() not in _OURS)
    return FactSheet(lines=tuple(lines), head=other_fields, above=_trimmed(above), below=_trimmed(below))


def _line(row: str, category: str, exported: Exported) -> VaultLine | None:
    """The fact of a list item; None for any other row, such as a horizontal rule."""
    match = _LINE.fullmatch(row.strip())
    if not match or not (match["id"] or any(letter.isalnum() for letter in match["text"])) or not match["text"].strip():
        return None
    old_category, old_text = exported.get(match["id"] or "", (None, None))
    text = _unescaped(match["text"], old_text)
    return VaultLine(text=text, category=category, id=match["id"], exported=old_text, exported_category=old_category)


def _unescaped(text: str, exported: str | None) -> str:
    """The text without escapes if the export had to escape it; otherwise backslashes are those of a person."""
    return unescape(text.strip()) if exported is not None and escape(exported) != exported else text.strip()


def _parts(text: str) -> tuple[list[str], list[str]]:
    """The rows of the head and of the body of a page."""
    match = FRONT.match(text)
    head, body = (match[1], text[match.end() :]) if match else ("", text)
    return [row for row in head.split("\n") if row], list(_trimmed(body.split("\n")))


def _trimmed(rows: list[str]) -> tuple[str, ...]:
    """The rows without empty ones at both ends."""
    filled = [place for place, row in enumerate(rows) if row.strip()]
    return tuple(rows[filled[0] : filled[-1] + 1]) if filled else ()
