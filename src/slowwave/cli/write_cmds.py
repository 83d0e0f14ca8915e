"""Commands that bring words in and take them out: add, remember, import, export."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TextIO

from slowwave.cli.declared import Argument, Option, Room, command
from slowwave.cli.options import WAITING, CommonOptions
from slowwave.errors import InputError
from slowwave.model.message import ROLES, Message
from slowwave.model.plan import BATCH_MAX

if TYPE_CHECKING:
    from rich.progress import Progress

room = Room()

STDIN: Final = "-"
NAME_LONGEST: Final = 255
"""Characters: longer words are no name of a file, and asking the system about them may fail."""

_ROLE: Final = re.compile(rf"({'|'.join(ROLES)})\s*:\s*", re.IGNORECASE)


@command(room, "add", "Bring in and take out")
def add(
    given: CommonOptions,
    text: Annotated[str, Argument(help="A fact, in a sentence that will still be clear next year.")],
    category: Annotated[str, Option(help="preference, person, project, decision, identity …")] = "other",
    kind: Annotated[str, Option(help="episodic, semantic or procedural.")] = "semantic",
    subject: Annotated[str | None, Option(help="Whom or what it is about.")] = None,
    importance: Annotated[float | None, Option(help="0 to 1; left out, it is worked out.")] = None,
) -> int | None:
    """State a fact; it meets what is known, and may replace or join it."""
    with given.memory() as memory:
        receipt = memory.add(text, category=category, kind=kind, subject=subject, importance=importance)
    given.paper.either(receipt)
    return WAITING if receipt.waiting else None


@command(room, "remember", "Bring in and take out")
def remember(
    given: CommonOptions,
    text: Annotated[str | None, Argument(help="What was said; left out or -, it is read from the input.")] = None,
    file: Annotated[Path | None, Option(help="Read from a file instead.")] = None,
    conversation: Annotated[str | None, Option(help="Its name; else the one written to last.")] = None,
    role: Annotated[str, Option(help="Who says what has no role written before it.")] = "user",
    speaker: Annotated[str | None, Option(help="The name of who says it.")] = None,
) -> int | None:
    """Store messages as they were said: one a line, or `role: text` with text going on over lines."""
    if text is not None and file is not None:
        raise InputError("both words and a file: give one of them")
    from slowwave.session import refuse_open_store  # noqa: PLC0415 - `--help` does without

    with given.memory() as memory:
        if file is not None:
            refuse_open_store(memory.ports, file)
        receipts = []
        for batch in _batches(_said(_source(text, file), role, speaker)):
            receipts.append(memory.add_messages(batch, conversation))
            if not given.json:
                given.paper.told(receipts[-1])
    if not receipts:
        raise InputError("there were no words to remember")
    if given.json:
        given.paper.value(receipts)
    return WAITING if any(receipt.waiting for receipt in receipts) else None


def _source(text: str | None, file: Path | None) -> Iterator[str]:
    if text is not None and text != STDIN:
        if len(text) <= NAME_LONGEST and Path(text).is_file():
            raise InputError(f"{text} is a file: say --file {text}")
        return iter(text.splitlines())
    if file is not None:
        return _read(file)
    if text is None and sys.stdin.isatty():
        raise InputError("say what to remember: slowwave remember 'I am allergic to walnuts', or pipe lines in")
    return _lines(sys.stdin, "the input")


def _read(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8-sig") as stream:
            yield from _lines(stream, str(file))
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error


def _lines(stream: TextIO, name: str) -> Iterator[str]:
    try:
        yield from stream
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8: save it as UTF-8 first") from error


def _said(lines: Iterator[str], role: str, speaker: str | None) -> Iterator[Message]:
    """One message a line, until a line names a role: from then on lines without one go on with what was said."""
    current: tuple[str, list[str]] | None = None
    for line in lines:
        if found := _ROLE.match(line):
            if current:
                yield from _one(*current, speaker)
            current = (found[1].lower(), [line[found.end() :]])
        elif current:
            current[1].append(line)
        else:
            yield from _one(role, [line], speaker)
    if current:
        yield from _one(*current, speaker)


def _one(role: str, lines: list[str], speaker: str | None) -> Iterator[Message]:
    content = "\n".join(line.rstrip("\r\n") for line in lines).strip()
    if content:
        yield Message(role=role, content=content, speaker=speaker)


def _batches(messages: Iterator[Message]) -> Iterator[list[Message]]:
    batch: list[Message] = []
    for message in messages:
        batch.append(message)
        if len(batch) == BATCH_MAX:
            yield batch
            batch = []
    if batch:
        yield batch


@command(room, "import", "Bring in and take out")
def import_(
    given: CommonOptions,
    file: Annotated[Path, Argument(help="A file, or the zip as ChatGPT or Claude gave it.")],
    format: Annotated[  # noqa: A002 - its name on the command line
        str, Option(help="jsonl, chatgpt, claude, mem0, letta, locomo, beam, or auto to look.")
    ] = "auto",
    dry_run: Annotated[bool, Option("--dry-run", help="Count only; store nothing.")] = False,
    trust_export: Annotated[
        bool, Option("--trust-export", help="The file is an export of your own: restore trust, pins, phases and uses.")
    ] = False,
) -> int | None:
    """Take in a file of conversations; run it again after an interruption, what is known is left as it is."""
    with given.memory() as memory:
        if given.json or not sys.stderr.isatty():
            done = memory.import_(file, format, dry_run=dry_run, trust_export=trust_export)
        else:
            with _progress() as progress:
                task = progress.add_task(f"reading {file.name}", total=None)
                done = memory.import_(
                    file,
                    format,
                    dry_run=dry_run,
                    trust_export=trust_export,
                    told=lambda seen: progress.update(task, completed=seen),
                )
    given.paper.either(done)
    if given.verbose and not given.json:
        for one in done.examples:
            given.paper.say(f"skipped {one.where}: {one.why}", style="dim", indent=2)
    if not given.json and not dry_run and done.messages:
        given.paper.say("next: slowwave consolidate --all, then slowwave recall 'a question'", style="dim", indent=2)
    if done.waiting:
        return WAITING
    return 1 if done.broken else None


def _progress() -> "Progress":
    from rich.console import Console  # noqa: PLC0415 - only where a terminal shows it
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    counted = TextColumn("{task.description}: {task.completed:,} items")
    return Progress(SpinnerColumn(), counted, TimeElapsedColumn(), console=Console(stderr=True), transient=True)


@command(room, "export", "Bring in and take out")
def export(
    given: CommonOptions,
    path: Annotated[Path, Argument(help="The file to write; only you can read it.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Replace the file if it is there.")] = False,
) -> None:
    """Write everything in this scope to a file of JSON lines, whole or not at all."""
    with given.memory() as memory:
        records = memory.export(path, overwrite=overwrite)
    if given.json:
        given.paper.value({"path": str(path), "records": records})
    else:
        given.paper.say(f"exported {records:,} records to {path}")
        given.paper.say("it is not encrypted: keep it where you keep what is private", style="dim", indent=2)
