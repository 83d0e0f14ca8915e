"""Writes exports: JSON lines with everything, or facts in the form of Mem0, or a page of Markdown for a person."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from hashlib import md5
from typing import Final, Protocol

from slowwave.errors import InputError, shown
from slowwave.formats.export_records import to_line
from slowwave.formats.json_stream import Json
from slowwave.formats.readers.jsonl import VERSION
from slowwave.formats.seal import Seal
from slowwave.model.exchange import Chapter, Item
from slowwave.model.memory import Memory
from slowwave.model.plain_text import tidy
from slowwave.model.scope import names_of
from slowwave.model.zone import local

EXPORTS: Final = ("jsonl", "mem0", "markdown")
OWNERS: Final = ("user_id", "agent_id", "app_id", "run_id")
"""The entities of Mem0 that own a memory."""


class Writable(Protocol):
    """A text stream that an export is written to. It must encode as UTF-8."""

    def write(self, text: str, /) -> object:
        """Append a text."""
        ...


class Contents(Protocol):
    """What a scope contains, read when it is asked for."""

    scope: str
    at: datetime
    zone: tzinfo
    secret: bytes

    def records(self) -> Iterator[Item]:
        """Everything, in an order that can be imported."""
        ...

    def facts(self) -> Iterator[Memory]:
        """The facts in use."""
        ...

    def notes(self) -> Iterator[Memory]:
        """The notes."""
        ...

    def chapters(self) -> Iterator[Chapter]:
        """The conversations."""
        ...


def writer(contents: Contents, named: str, *, user: str | None = None) -> Callable[[Writable], int]:
    """The function that writes an export of this format to a stream, and returns the number of its records.

    Args:
        contents: what the scope contains.
        named: one of EXPORTS.
        user: of "mem0", the `user_id` of facts that were not imported from Mem0; None: the last name of the scope.

    Raises:
        InputError: the format is unknown, or `user` is given for another format than "mem0".
    """
    if named not in EXPORTS:
        raise InputError(f"unknown format {shown(named)} of an export: use one of {', '.join(EXPORTS)}")
    if user is not None and named != "mem0":
        raise InputError(f"user={shown(user)}: only an export of the format mem0 names a user")
    match named:
        case "mem0":
            return lambda stream: write_mem0(stream, contents.facts(), _owner(contents.scope, user), contents.zone)
        case "markdown":
            return lambda stream: write_markdown(stream, contents)
        case _:
            return lambda stream: write_lines(stream, contents)


def write_lines(stream: Writable, contents: Contents) -> int:
    """Write everything as JSON lines, a header first, a count last. Returns the number of records.

    The last line has a code computed with the secret of the store, by which the same store recognises the file as its own
    (`formats/seal`).
    """
    encode = json.JSONEncoder(ensure_ascii=False).encode
    seal = Seal(contents.secret)

    def put(value: Json) -> None:
        line = encode(value) + "\n"
        stream.write(line)
        seal.add(line.encode())

    put({"slowwave": "export", "version": VERSION, "scope": contents.scope, "at": contents.at.isoformat()})
    records = 0
    for item in contents.records():
        put(to_line(item))
        records += 1
    put({"type": "end", "records": records, "mac": seal.code(records)})
    return records


def write_mem0(stream: Writable, facts: Iterable[Memory], owner: Mapping[str, str], zone: tzinfo) -> int:
    """Write facts as Mem0's `get_all()` returns them, one in a line. Returns their number.

    Args:
        stream: to write to.
        facts: the facts.
        owner: the entities of a fact that was not imported from Mem0, such as {"user_id": "alice"}.
        zone: in which the day of an end is counted.
    """
    number = 0
    stream.write('{"results": [')
    for number, fact in enumerate(facts, 1):
        row = json.dumps(_mem0_row(fact, owner, zone), ensure_ascii=False)
        stream.write(f"{',' if number > 1 else ''}\n{row}")
    stream.write("\n]}\n")
    return number


def _owner(scope: str, user: str | None) -> dict[str, str]:
    """The entities of a scope: those in its path if it was written over `/mem0`, else its last name as the user."""
    if user is not None:
        return {"user_id": user}
    names = names_of(scope)
    found = {f"{kind}_id": name for kind, dot, name in (part.partition(".") for part in names) if dot}
    owned = {name: value for name, value in found.items() if name in OWNERS}
    return owned if "mem0" in names and owned else {"user_id": names[-1]}


def _mem0_row(fact: Memory, owner: Mapping[str, str], zone: tzinfo) -> dict[str, Json]:
    """A fact with the id and the entities that it had in Mem0, if it was imported from there."""
    own = {name: value for name in ("id", *OWNERS) if (value := fact.metadata.get(f"mem0_{name}"))}
    metadata = {name: value for name, value in fact.metadata.items() if not name.startswith("mem0_")}
    expires = fact.expires_at
    return {
        "id": fact.id,
        "memory": fact.text,
        **dict.fromkeys(OWNERS),
        **({} if "user_id" in own else owner),
        **own,
        "hash": md5(fact.text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata or None,
        "categories": [fact.category],
        "created_at": fact.valid_from.isoformat(),
        "updated_at": None,
        "expiration_date": None if expires is None else _day(expires, zone),
    }


def _day(at: datetime, zone: tzinfo) -> str:
    """The day of a time, as Mem0 writes it, or the time itself if it is not the beginning of a day in the zone of the memory."""
    at = local(at, zone)
    return at.date().isoformat() if at.time() == datetime.min.time() else at.isoformat()


def write_markdown(stream: Writable, contents: Contents) -> int:
    """Write a page of Markdown: facts by category, notes, and conversations. Returns the number of memories on it.

    What a message or a note says is quoted, so that its own headings are no headings of the page.
    """
    number = 0
    stream.write(f"---\ntitle: Memory of {contents.scope}\ncreated: {contents.at.isoformat()}\n---\n")
    parts = (_fact_lines(contents.facts()), _note_lines(contents.notes()), _message_lines(contents.chapters()))
    for lines in parts:
        for line, counts in lines:
            stream.write(line + "\n")
            number += counts
    return number


def _fact_lines(facts: Iterable[Memory]) -> Iterator[tuple[str, bool]]:
    category = None
    for fact in sorted(facts, key=lambda fact: (fact.category, fact.valid_from, fact.id)):
        if category is None:
            yield "\n# Facts", False
        if fact.category != category:
            category = fact.category
            yield f"\n## {tidy(category)}\n", False
        yield f"- {tidy(fact.text)} ({fact.valid_from.date()})", True


def _note_lines(notes: Iterable[Memory]) -> Iterator[tuple[str, bool]]:
    first = True
    for note in notes:
        if first:
            yield "\n# Notes", False
            first = False
        place = f"{note.conversation}/{note.ref}" if note.conversation else f"{note.ref}"
        yield f"\n## {tidy(place)}\n", True
        data = None if note.data is None else json.dumps(note.data, ensure_ascii=False, indent=2)
        yield _quoted(note.text if data is None else data), False


def _message_lines(chapters: Iterable[Chapter]) -> Iterator[tuple[str, bool]]:
    for chapter in chapters:
        yield f"\n# {tidy(chapter.title or chapter.name)}", False
        for message in chapter.messages:
            speaker = f"{message.role} ({tidy(message.speaker)})" if message.speaker else f"{message.role}"
            yield f"\n**{speaker}**, {message.at:%Y-%m-%d %H:%M}\n\n{_quoted(message.text)}", True


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
