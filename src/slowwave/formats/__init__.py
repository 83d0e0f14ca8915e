"""Reads files of conversations into messages and facts, and writes the export of a scope. It decides nothing about storage."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from slowwave.errors import InputError, shown
from slowwave.files import check_regular
from slowwave.formats.archives import Part, parts
from slowwave.formats.atomic_file import replacing
from slowwave.formats.json_stream import BrokenError, Json, breaks_off, elements, read_bytes
from slowwave.formats.meter import Meter as Meter
from slowwave.formats.readers import (
    beam,
    chatgpt,
    claude,
    gemini,
    jsonl,
    langgraph,
    letta,
    locomo,
    mem0,
    notes,
    server_memory,
)
from slowwave.formats.readers.builders import MessageBuilder
from slowwave.formats.readers.dating import dated
from slowwave.formats.seal import Proof as Proof
from slowwave.formats.writing import Writable
from slowwave.model.exchange import ImportedFact, Item, SkippedItem
from slowwave.model.plain_text import clean

FORMATS: Final = (
    *("auto", "jsonl", "chatgpt", "claude", "gemini", "mem0", "letta", "langgraph", "server-memory"),
    *("markdown", "text", "locomo", "beam"),
)

_NOTES: Final = frozenset({"markdown", "text"})
_LINES: Final = frozenset({"jsonl", "mem0", "langgraph", "server-memory"})
"""Formats that are JSON lines unless the file is one JSON array or object."""
_USERS_SHOWN: Final = 10
RECORDS_TRIED: Final = 1000
"""Records by which the format of a file is recognised: the first ones may be empty or damaged."""
STANDARD_OUTPUT: Final = "-"
"""What programs call their output in place of a file. A file of this name is almost always a mistake."""

_FITS: Final[dict[str, Callable[[Json], bool]]] = {
    "chatgpt": chatgpt.fits,
    "claude": claude.fits,
    "gemini": gemini.fits,
    "locomo": locomo.fits,
    "beam": beam.fits,
    "mem0": mem0.fits,
    "letta": letta.fits,
    "langgraph": langgraph.fits,
    "server-memory": server_memory.fits,
    "jsonl": jsonl.fits,
}


def check_format(name: str) -> None:
    """Raise InputError with the list of formats if there is none of this name."""
    if name not in FORMATS:
        raise InputError(f"unknown format {shown(name)}: use one of {', '.join(FORMATS)}")


def read(
    path: str | Path,
    format: str = "auto",  # noqa: A002 - the public name of the option
    *,
    proof: Proof | None = None,
    user: str | None = None,
    meter: Meter | None = None,
) -> Generator[Item, None, None]:
    """The items of a file or a folder of notes, read one at a time; what cannot be imported is a `SkippedItem` with its reason.

    At most one conversation, one line or 1 MB is in memory at a time. Messages always have ids, so that reading a file
    again returns the same messages.

    Args:
        path: a file; for ChatGPT, Claude and Gemini also the downloaded zip archive; for notes also a folder.
        format: one of FORMATS; "auto" detects it from the name and the beginning of the file.
        proof: what an export must match so that its records are marked as proven; None marks none.
        user: of an export of Mem0 with several users, the one whose memories are read.
        meter: measures how much was read.

    Raises:
        InputError: the file or format does not exist, the format cannot be detected, the archive cannot be read, or the
            file contains memories of several users and `user` names none of them.
    """
    check_format(format)
    path, meter = Path(path), meter or Meter()
    if path.is_dir() and not (path / "conversations.json").exists():
        listed = list(notes.found(path))
        if all(isinstance(note, SkippedItem) for note in listed):
            raise InputError(f"{path} is a folder without a file that ends in .md or .txt: name the file to import")
        yield from _notes(listed, format, meter)
        return
    if format in _NOTES or (format == "auto" and path.suffix.lower() in notes.SUFFIXES):
        try:
            check_regular(path)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from error
        yield from _notes([notes.Note(path=path, name=clean(path.stem))], format, meter)
        return
    opened = list(parts(path))
    meter.total = sum(part.size for part in opened if isinstance(part, Part))
    yield from (part for part in opened if isinstance(part, SkippedItem))
    readable: list[tuple[Part, str]] = []
    for part in (part for part in opened if isinstance(part, Part)):
        chosen = _detected(part, path) if format == "auto" else format
        if isinstance(chosen, SkippedItem):
            yield chosen
        else:
            readable.append((part, chosen))
    _check_user(path, user, {name for part, chosen in readable for name in _users(part, chosen)})
    builder = MessageBuilder()
    for part, chosen in readable:
        items = dated(_items(part, chosen, builder, proof, meter), part.at)
        for item in _or_nothing(items, "the file"):
            yield _placed(_of_user(item, user), part.where)


def _or_nothing(items: Iterable[Item], where: str) -> Iterator[Item]:
    """The items, or if there are none, one that says so."""
    found = False
    for item in items:
        found = True
        yield item
    if not found:
        yield SkippedItem(where=where, why="it holds nothing to import")


def _notes(found: Iterable[notes.Note | SkippedItem], named: str, meter: Meter) -> Iterator[Item]:
    """The items of notes. All of them are Markdown or text if the format says so, else each by its suffix."""
    if named not in {*_NOTES, "auto"}:
        raise InputError(
            f"a folder or a note of text is not a file of the format {named!r}: use markdown, text or auto"
        )
    listed, builder = list(found), MessageBuilder()
    meter.total = sum(note.size for note in listed if isinstance(note, notes.Note))
    for note in listed:
        if isinstance(note, SkippedItem):
            yield note
            continue
        is_markdown = note.path.suffix.lower() in notes.MARKDOWN if named == "auto" else named == "markdown"
        yield from _or_nothing(notes.read(note, builder, markdown=is_markdown), note.path.name)
        meter.count(note.size)


def _check_user(path: Path, user: str | None, users: Collection[str]) -> None:
    """Raise InputError if the file has memories of several users and `user` is None, or has none of `user`."""
    shown_users = ", ".join(sorted(users)[:_USERS_SHOWN]) + (", …" if len(users) > _USERS_SHOWN else "")
    if user is not None and user not in users:
        known = f"its users are {shown_users}" if users else "it names no users"
        raise InputError(f"{path} has no memories of the user {user!r}: {known}")
    if user is None and len(users) > 1:
        raise InputError(
            f"{path} has memories of {len(users)} users ({shown_users}): import one at a time with user=NAME, each into "
            "a scope of its own"
        )


def _users(part: Part, chosen: str) -> set[str]:
    """The users that an export of Mem0 names. Only such a file is read for them."""
    if chosen not in {"mem0", "jsonl"}:
        return set()
    items = _items(part, chosen, MessageBuilder(), None, Meter())
    if chosen == "jsonl":
        first = next((item for item in islice(items, RECORDS_TRIED) if not isinstance(item, SkippedItem)), None)
        if not isinstance(first, ImportedFact) or first.user is None:
            return set()
        items = _items(part, chosen, MessageBuilder(), None, Meter())
    return {item.user for item in items if isinstance(item, ImportedFact) and item.user is not None}


def _of_user(item: Item, user: str | None) -> Item:
    if user is None or not isinstance(item, ImportedFact) or item.user == user:
        return item
    return SkippedItem(where=item.where, why="of another user")


def count(path: str | Path, format: str = "auto") -> int:  # noqa: A002 - as of `read`
    """How many items a file has, for a progress bar. It is read as by `read`."""
    return sum(1 for _ in read(path, format))


def _detected(part: Part, path: Path) -> str | SkippedItem:
    """The format of a file, or that a member of an archive has none.

    Raises:
        InputError: the format of the file is unknown.
    """
    lines = part.where.lower().endswith((".jsonl", ".ndjson")) or path.suffix.lower() in {".jsonl", ".ndjson"}
    if lines:
        return "jsonl"
    why, is_empty = "", True
    try:
        with part.open() as stream:
            for element in islice(elements(stream), RECORDS_TRIED):
                is_empty = False
                if name := next((name for name, fits in _FITS.items() if fits(element)), ""):
                    return name
        if is_empty:  # a list without records is of any format
            return "jsonl"
    except BrokenError as error:
        why = f" ({error})"
    unknown = f"is unknown{why}: name its format, one of {', '.join(FORMATS[1:])}"
    if part.where:
        return SkippedItem(where=part.where, why=f"its format {unknown}", broken=True)
    raise InputError(f"the format of {path} {unknown}")


def _items(part: Part, named: str, builder: MessageBuilder, proof: Proof | None, meter: Meter) -> Iterator[Item]:
    number, broken = 0, list[SkippedItem]()
    activity = gemini.ActivityReader(builder, part.name)
    try:
        lines = named in _LINES and not _is_array(part)
        with meter.reading(part.open, part.size) as stream:
            if lines:
                yield from jsonl.JsonlReader(part.name, builder, proof).file(stream)
            else:
                read_element = _element_reader(part, named, builder, activity)
                for number, element in enumerate(elements(stream), 1):
                    yield from read_element(element, number)
    except BrokenError as error:
        after = f"after element {number}" if number else "the beginning"
        broken.append(SkippedItem(where=after, why=str(error), broken=True))
    yield from activity.end()
    yield from broken


def _element_reader(
    part: Part, named: str, builder: MessageBuilder, activity: gemini.ActivityReader
) -> Callable[[Json, int], Iterator[Item]]:
    """The reader of an element of a JSON array, which takes the element and its number."""
    rows, chat = jsonl.JsonlReader(part.name, builder), beam.Chat(part.name)
    readers: dict[str, Callable[[Json, int], Iterator[Item]]] = {
        "locomo": lambda element, number: locomo.read(element, number, builder, part.name),
        "beam": lambda element, number: chat.read(element, number, builder),
        "chatgpt": lambda element, number: chatgpt.read(element, number, builder, part.name),
        "claude": lambda element, number: claude.read(element, number, builder, part.name),
        "gemini": activity.read,
        "mem0": lambda element, number: mem0.read(element, f"memory {number}"),
        "letta": lambda element, number: letta.read(element, number, builder, part.name),
    }
    return readers.get(named, lambda element, number: rows.line(element, f"element {number}"))


def _is_array(part: Part) -> bool:
    """Whether a file of JSON lines is in fact one JSON array, or one object over many lines."""
    with part.open() as stream:
        beginning = read_bytes(stream, 1 << 12).lstrip(b"\xef\xbb\xbf \t\r\n")
    line = beginning.partition(b"\n")[0].decode("utf-8", "replace").rstrip()
    return line.startswith("[") or (len(line) < len(beginning) and breaks_off(line))


def _placed(item: Item, where: str) -> Item:
    if not where or not isinstance(item, SkippedItem):
        return item
    return SkippedItem(where=f"{where}: {item.where}", why=item.why, broken=item.broken)


def write_file(path: str | Path, write: Callable[[Writable], int], *, overwrite: bool = False) -> int:
    """Write a file atomically, which only its owner can read. Returns what `write` returns for the open file.

    Where the path is a symbolic link, the file that it points to is written, and the link stays.

    Raises:
        InputError: the file exists and `overwrite` is false, it is not a regular file, it is called "-", or it cannot be written.
    """
    if str(path) == STANDARD_OUTPUT:
        raise InputError("'-' names no file: pass an open stream of text, or the whole path of a file of that name")
    named, path = path, Path(path).resolve()  # replacing a link would leave its target as it was
    if path.exists() and not path.is_file():
        raise InputError(f"{named} is not a regular file: name a file")
    if path.exists() and not overwrite:
        raise InputError(f"{named} exists already: choose another name, or allow overwriting it")
    try:
        with replacing(path) as file:
            return write(file)
    except OSError as error:
        raise InputError(f"cannot write {named}: {error.strerror or error}") from error
