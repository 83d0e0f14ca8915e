"""A page of facts as a person left it: its lines, and all other words, which stay in it when it is written anew."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from slowwave.formats.vault.front_matter import FRONT, front
from slowwave.model.codec import content_key
from slowwave.model.exchange import VaultLine
from slowwave.policy.guard.fence import escape, unescape

_LINE: Final = re.compile(r"\s*[-*+] (?P<text>.*?)(?: \^(?P<id>[0-9a-z]{4,64}))?\s*")
_OURS: Final = ("slowwave", "category")
"""What we write at the head of a page of facts."""

Exported = Mapping[str, tuple[str | None, str]]
"""Category, if it is known, and words of each fact that was written to a vault, by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSheet:
    """A page of facts: its lines, and what else a person wrote at its head, above the lines, and between or below them."""

    lines: tuple[VaultLine, ...]
    head: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    def unknown(self, exported: Exported, known: frozenset[str]) -> list[VaultLine]:
        """The lines that say what was not written there, and what no fact says; `known` are the keys of what they say."""
        return [
            line
            for line in self.lines
            if line.text != exported.get(line.id or "", (None, None))[1]
            and known.isdisjoint({content_key(line.text), content_key(unescape(line.text))})
        ]

    def around(self, page: str) -> str:
        """A page as we would write it, with what else stands in this one; the same again if it is read again."""
        head, body = _parts(page)
        whole = ["---", *head, *self.head, "---", ""]
        for part in (self.above, tuple(body), self.below):
            whole += [*part, ""] if part else []
        return "\n".join(whole).rstrip("\n") + "\n"

    @property
    def worded(self) -> bool:
        """Whether anything but lines stands in it."""
        return bool(self.head or self.above or self.below)


def sheet(text: str, exported: Exported) -> FactSheet | None:
    """A page of facts; None if its head names no category."""
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
    own = tuple(row for row in head if row.partition(":")[0].strip() not in _OURS)
    return FactSheet(lines=tuple(lines), head=own, above=_trimmed(above), below=_trimmed(below))


def _line(row: str, category: str, exported: Exported) -> VaultLine | None:
    """What stands behind a bullet; no rule of dashes or stars."""
    told = _LINE.fullmatch(row)
    if not told or not (told["id"] or any(letter.isalnum() for letter in told["text"])) or not told["text"].strip():
        return None
    was, known = exported.get(told["id"] or "", (None, None))
    words = _worded(told["text"], known)
    return VaultLine(text=words, category=category, id=told["id"], exported=known, exported_category=was)


def _worded(text: str, exported: str | None) -> str:
    """What `escape` was given where it had something to escape; else a person's own backslashes stay as they are."""
    return unescape(text.strip()) if exported is not None and escape(exported) != exported else text.strip()


def _parts(text: str) -> tuple[list[str], list[str]]:
    """The rows of the head and those of the body of a page that has a head."""
    found = FRONT.match(text)
    head, body = (found[1], text[found.end() :]) if found else ("", text)
    return [row for row in head.split("\n") if row], list(_trimmed(body.split("\n")))


def _trimmed(rows: list[str]) -> tuple[str, ...]:
    """Rows without the empty ones at both ends."""
    full = [place for place, row in enumerate(rows) if row.strip()]
    return tuple(rows[full[0] : full[-1] + 1]) if full else ()
