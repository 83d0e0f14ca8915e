"""Formats: files of conversations to messages and facts, and a scope to a file. They parse; what is stored is decided elsewhere."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Protocol

from slowwave.errors import InputError
from slowwave.formats.archives import Part, parts
from slowwave.formats.export_records import to_line
from slowwave.formats.json_stream import BrokenError, Json, elements
from slowwave.formats.readers import beam, chatgpt, claude, jsonl, letta, locomo, mem0
from slowwave.formats.readers.builders import MessageBuilder
from slowwave.formats.seal import Proof as Proof, Seal
from slowwave.model.exchange import Item, SkippedItem

FORMATS: Final = ("auto", "jsonl", "locomo", "beam", "chatgpt", "claude", "mem0", "letta")

_FITS: Final[dict[str, Callable[[Json], bool]]] = {
    "chatgpt": chatgpt.fits,
    "claude": claude.fits,
    "locomo": locomo.fits,
    "beam": beam.fits,
    "mem0": mem0.fits,
    "letta": letta.fits,
    "jsonl": jsonl.fits,
}


class Writable(Protocol):
    """What an export is written to."""

    def write(self, text: str, /) -> object:
        """Take a piece of text."""
        ...


def read(
    path: str | Path,
    format: str = "auto",  # noqa: A002 - the word of the command line
    *,
    proof: Proof | None = None,
) -> Iterator[Item]:
    """What a file holds, read as it is asked for; what cannot be taken in comes as `Skipped` with its reason.

    Memory stays bounded: at most one conversation, one line or 1 MB is held at a time. Messages always carry ids, so
    reading a file again gives the same messages.

    Args:
        path: a file; for ChatGPT and Claude also the zip archive as it was downloaded.
        format: one of FORMATS; "auto" looks at how the file begins.
        proof: what an export must match so that its records are marked as proven; None marks none.

    Raises:
        InputError: if there is no such file or format, the format cannot be told, or the archive cannot be read.
    """
    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    path = Path(path)
    maker = MessageBuilder()
    for part in parts(path):
        if isinstance(part, SkippedItem):
            yield part
        else:
            chosen = _detected(part, path) if format == "auto" else format
            for item in _items(part, chosen, maker, proof):
                yield _placed(item, part.where)


def _detected(part: Part, path: Path) -> str:
    lines = part.where.lower().endswith((".jsonl", ".ndjson")) or path.suffix.lower() in {".jsonl", ".ndjson"}
    if lines:
        return "jsonl"
    try:
        with part.open() as stream:
            first = next(elements(stream), None)
    except BrokenError as error:
        raise InputError(f"cannot tell what {path} is ({error}): name its format with --format") from error
    for name, fits in _FITS.items():
        if fits(first):
            return name
    raise InputError(f"cannot tell what {path} is: name its format, one of {', '.join(FORMATS[1:])}")


def _items(part: Part, named: str, maker: MessageBuilder, proof: Proof | None) -> Iterator[Item]:
    number = 0
    try:
        lines = named in {"jsonl", "mem0"} and not _is_array(part)
        with part.open() as stream:
            if lines:
                yield from jsonl.Reader(part.name, maker, proof).file(stream)
                return
            chat, rows = beam.Chat(part.name), jsonl.Reader(part.name, maker)
            for number, element in enumerate(elements(stream), 1):
                match named:
                    case "locomo":
                        yield from locomo.read(element, number, maker, part.name)
                    case "beam":
                        yield from chat.read(element, number, maker)
                    case "chatgpt":
                        yield from chatgpt.read(element, number, maker, part.name)
                    case "claude":
                        yield from claude.read(element, number, maker, part.name)
                    case "mem0":
                        yield from mem0.read(element, f"memory {number}")
                    case "letta":
                        yield from letta.read(element, number, maker, part.name)
                    case _:
                        yield from rows.line(element, f"element {number}")
    except BrokenError as error:
        after = f"after element {number}" if number else "the beginning"
        yield SkippedItem(where=after, why=str(error), broken=True)


def _is_array(part: Part) -> bool:
    """Whether what calls itself lines is one JSON array of them, or one object over many lines."""
    with part.open() as stream:
        begins = stream.read(1 << 12).lstrip(b"\xef\xbb\xbf \t\r\n")
    return begins.startswith(b"[") or begins.partition(b"\n")[0].strip() == b"{"


def _placed(item: Item, where: str) -> Item:
    if not where or not isinstance(item, SkippedItem):
        return item
    return SkippedItem(where=f"{where}: {item.where}", why=item.why, broken=item.broken)


def write(
    path: str | Path, items: Iterable[Item], *, scope: str, at: datetime, secret: bytes, overwrite: bool = False
) -> int:
    """Write an export, whole or not at all: JSON lines, a header first, a count last. Returns the records written.

    The file can be read by its owner only: it holds everything that was said. The last line also carries a code made
    with `secret`, by which the same store proves that it wrote the file (`formats/seal`).

    Raises:
        InputError: if the file exists and may not be overwritten, or cannot be written.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists already: choose another name, or say that it may be overwritten")
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            try:
                written = write_lines(file, items, scope=scope, at=at, secret=secret)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
    return written


def write_lines(stream: Writable, items: Iterable[Item], *, scope: str, at: datetime, secret: bytes) -> int:
    """The same onto an open stream, which encodes as UTF-8."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    seal = Seal(secret)

    def put(value: Json) -> None:
        line = encode(value) + "\n"
        stream.write(line)
        seal.add(line.encode())

    put({"slowwave": "export", "version": jsonl.VERSION, "scope": scope, "at": at.isoformat()})
    records = 0
    for item in items:
        put(to_line(item))
        records += 1
    put({"type": "end", "records": records, "mac": seal.code(records)})
    return records
