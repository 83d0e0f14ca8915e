"""Plain text, Markdown and folders of notes: each paragraph or section is a message of a conversation named by its file."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Final

from slowwave.errors import InputError
from slowwave.files import check_regular
from slowwave.formats.readers.builders import MessageBuilder, conversation_title
from slowwave.formats.readers.timestamps import instant
from slowwave.formats.readers.transcript import is_transcript, turns
from slowwave.formats.vault import files as vault
from slowwave.formats.vault.front_matter import FRONT, front
from slowwave.model.exchange import Item, SkippedItem
from slowwave.model.names import TITLE_LONGEST
from slowwave.model.plain_text import clean
from slowwave.model.zone import FLOATING

MARKDOWN: Final = frozenset({".md", ".markdown"})
SUFFIXES: Final = MARKDOWN | {".txt"}
LARGEST: Final = 20_000_000
"""Limit of the bytes of a note; a longer one is skipped."""
SECTION_MOST: Final = 4000
"""Characters of a section above which each of its paragraphs is a message."""
REPEATED_MOST: Final = 1000
"""Characters of the front matter that each message has. The first message of a note has all of it."""
NO_NOTE: Final = "no note: of a folder, files that end in .md, .markdown or .txt are read"
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.*)")
_BLANKS: Final = " \t"
_FENCE: Final = re.compile(r"[ \t]{0,3}(```|~~~)")
_GAP: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_DATED: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIMES: Final = ("date", "created", "created_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One file.

    Attributes:
        path: where it is.
        name: its path in the folder without the suffix, which names its conversation.
    """

    path: Path
    name: str

    @property
    def size(self) -> int:
        """Its bytes; 0 if it cannot be read."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def found(path: Path) -> Iterator[Note | SkippedItem]:
    """The notes of a folder and its folders, by name. Hidden files and folders, and links, are not read.

    Raises:
        InputError: the folder is a vault that Slowwave exported.
    """
    if vault.baseline(path) is not None:
        raise InputError(f"{path} is a vault of Slowwave: `import_vault` imports the edits of its pages")
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if name.startswith(".") or file.is_symlink():
                continue
            where = file.relative_to(path)
            if file.suffix.lower() in SUFFIXES:
                yield Note(path=file, name=clean(where.with_suffix("").as_posix()))
            else:
                yield SkippedItem(where=str(where), why=NO_NOTE)


def read(note: Note, builder: MessageBuilder, *, markdown: bool) -> Iterator[Item]:
    """The messages of one note, in the role "user", and its title. Plain text with "user:" and "assistant:" is a conversation."""
    where = note.path.name
    try:
        text = _text(note)
        changed = datetime.fromtimestamp(note.path.stat().st_mtime, UTC)
    except (OSError, ValueError) as error:
        yield SkippedItem(where=where, why=str(error), broken=True)
        return
    head = _head(text) if markdown else {}
    body = FRONT.sub("", text, count=1) if markdown else text
    repeated = _shortest(head)
    at = next((when for name in _TIMES if (when := instant(head.get(name)))), None) or _date(note.name) or changed
    if not markdown and is_transcript(body):
        for role, words in turns(body.split("\n"), "user"):
            yield from builder.messages(note.name, role, words, where=where, at=at)
        return
    sections = list(_sections(body)) if markdown else [("", body)]
    fields = head
    for heading, section in sections:
        for words in _messages(section, whole=markdown):
            metadata = {**fields, "heading": heading} if heading else fields
            yield from builder.messages(note.name, "user", words, where=where, at=at, metadata=metadata)
            fields = repeated
    first = next((heading.partition(" > ")[0] for heading, _ in sections if heading), "")
    yield from conversation_title(note.name, head.get("title") or first, where)


def _text(note: Note) -> str:
    check_regular(note.path)
    if note.size > LARGEST:
        raise ValueError(f"{note.size:,} bytes, more than {LARGEST:,}")
    try:
        return note.path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start:,}: save it as UTF-8") from error


def _head(text: str) -> Mapping[str, str]:
    """The front matter as texts; the items of a list are joined by commas."""
    values = {name: str(value) for _, name, value in front(text) if not name.startswith("-")}
    match, name = FRONT.match(text), ""
    for line in match[1].split("\n") if match else ():
        item = line.strip()
        if item.startswith("- ") and name:
            values[name] = ", ".join(filter(None, (values.get(name), item[2:].strip())))
        else:
            name = line.partition(":")[0].strip() if item.endswith(":") else ""
    return values


def _shortest(head: Mapping[str, str]) -> Mapping[str, str]:
    """The shortest fields of a front matter, as many as fit into `REPEATED_MOST`: searches filter by such fields."""
    room, chosen = REPEATED_MOST, dict[str, str]()
    for name, value in sorted(head.items(), key=lambda field: len(field[0]) + len(field[1])):
        room -= len(name) + len(value)
        if room < 0:
            break
        chosen[name] = value
    return chosen


def _date(name: str) -> datetime | None:
    """The day that a name such as "daily/2025-03-14" gives."""
    match = _DATED.search(name)
    try:
        return datetime.combine(date(*map(int, match.groups())), time(), FLOATING) if match else None
    except ValueError:
        return None


def _sections(body: str) -> Iterator[tuple[str, str]]:
    """Each section of a Markdown text with the path of its headings, such as "Porto > Hotels".

    A heading with nothing but deeper headings below it is only a part of their paths. A path has the first `TITLE_LONGEST`
    characters of each heading.
    """
    path: dict[int, str] = {}
    lines: list[str] = []
    fence = ""
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in {"", mark[1]}:
            fence = "" if fence else mark[1]
        heading = None if fence or mark else _HEADING.fullmatch(line)
        if heading is None:
            lines.append(line)
            continue
        level = len(heading[1])
        if not _is_bare(lines, level):
            yield " > ".join(path.values()), "\n".join(lines)
        title = heading[2].rstrip(_BLANKS).rstrip("#").rstrip(_BLANKS)[:TITLE_LONGEST]
        path = {depth: above for depth, above in path.items() if depth < level} | {level: title}
        lines = [line]
    yield " > ".join(path.values()), "\n".join(lines)


def _is_bare(lines: list[str], level: int) -> bool:
    """Whether a section is only a heading, and a heading of this level is below it."""
    own = _HEADING.fullmatch(lines[0]) if lines else None
    return own is not None and not "".join(lines[1:]).strip() and len(own[1]) < level


def _messages(section: str, *, whole: bool) -> Iterator[str]:
    """A section as one message if it is short, else its paragraphs."""
    words = section.strip("\n")
    if whole and len(words) <= SECTION_MOST:
        yield from [words] if words.strip() else []
        return
    yield from (part.strip("\n") for part in _GAP.split(words) if part.strip())
