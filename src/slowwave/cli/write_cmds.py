"""Commands that bring text in and take it out: add, remember, import, export."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click

from slowwave.cli.options import PATH, WAITING, Command, CommonOptions, common_options
from slowwave.errors import InputError
from slowwave.model.message import ROLES, Message
from slowwave.model.plan import BATCH_MAX

if TYPE_CHECKING:
    from rich.progress import Progress

STDIN: Final = "-"
FILE_NAME_MAX: Final = 255
"""Characters: a longer text cannot be the name of a file, and asking the system about it may fail."""

_ROLE: Final = re.compile(rf"({'|'.join(ROLES)})\s*:\s*", re.IGNORECASE)


@click.command("add", cls=Command, epilog="Example: slowwave add 'Odile owns the ferry' --category person")
@click.argument("text")
@click.option("--category", default="other", help="preference, person, project, decision, identity …")
@click.option("--kind", default="semantic", help="episodic, semantic or procedural.")
@click.option("--subject", help="The person or thing it is about.")
@click.option("--importance", type=float, help="0 to 1; by default it is estimated.")
@common_options
def add(
    options: CommonOptions, text: str, category: str, kind: str, subject: str | None, importance: float | None
) -> int | None:
    """State a fact. It is reconciled with the known facts, and may replace one or be merged into one.

    TEXT is one sentence that is still clear next year.
    """
    with options.memory() as memory:
        receipt = memory.add(text, category=category, kind=kind, subject=subject, importance=importance)
    options.output.write_result(receipt)
    return WAITING if receipt.waiting else None


@click.command("remember", cls=Command, epilog="Example: slowwave remember 'I am allergic to walnuts'")
@click.argument("text", required=False)
@click.option("--file", type=PATH, help="Read the messages from this file.")
@click.option("--conversation", help="Its name; by default the conversation written to last.")
@click.option("--role", default="user", help="The role of lines that name none.")
@click.option("--speaker", help="The name of the speaker.")
@common_options
def remember(
    options: CommonOptions,
    text: str | None,
    file: Path | None,
    conversation: str | None,
    role: str,
    speaker: str | None,
) -> int | None:
    """Store messages verbatim: one a line, or `role: text` with the text continued on the next lines.

    TEXT is the message. Without it, or for -, the messages are read from standard input.
    """
    if text is not None and file is not None:
        raise InputError("both a text and --file: give one of them")
    from slowwave.session import refuse_open_store  # noqa: PLC0415 - `--help` does without

    with options.memory() as memory:
        if file is not None:
            refuse_open_store(file)
        receipts = []
        for batch in _batches(_messages(_source_lines(text, file), role, speaker)):
            receipts.append(memory.add_messages(batch, conversation))
            if not options.json:
                options.output.write_text(receipts[-1])
    if not receipts:
        raise InputError("there is no text to remember: give a text, --file, or lines on standard input")
    if options.json:
        options.output.write_json(receipts)
    return WAITING if any(receipt.waiting for receipt in receipts) else None


def _source_lines(text: str | None, file: Path | None) -> Iterator[str]:
    if text is not None and text != STDIN:
        if len(text) <= FILE_NAME_MAX and Path(text).is_file():
            raise InputError(f"{text} is a file: use --file {text}")
        return iter(text.splitlines())
    if file is not None:
        return _file_lines(file)
    if text is None and sys.stdin.isatty():
        raise InputError("there is no text to remember: slowwave remember 'I am allergic to walnuts', or pipe lines in")
    return _decoded_lines(sys.stdin, "the input")


def _file_lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8-sig") as stream:
            yield from _decoded_lines(stream, str(file))
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error


def _decoded_lines(stream: TextIO, name: str) -> Iterator[str]:
    try:
        yield from stream
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8: save it as UTF-8 first") from error


def _messages(lines: Iterator[str], role: str, speaker: str | None) -> Iterator[Message]:
    """One message a line. After the first line that names a role, lines without a role continue the message before."""
    current: tuple[str, list[str]] | None = None
    for line in lines:
        if match := _ROLE.match(line):
            if current:
                yield from _message(*current, speaker)
            current = (match[1].lower(), [line[match.end() :]])
        elif current:
            current[1].append(line)
        else:
            yield from _message(role, [line], speaker)
    if current:
        yield from _message(*current, speaker)


def _message(role: str, lines: list[str], speaker: str | None) -> Iterator[Message]:
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


@click.command("import", cls=Command, epilog="Example: slowwave import conversations.zip")
@click.argument("file", type=PATH)
@click.option(
    "--format",
    default="auto",
    show_default=True,
    help="jsonl, chatgpt, claude, mem0, letta, locomo or beam; auto detects it.",
)
@click.option("--dry-run", is_flag=True, help="Count only; store nothing.")
@click.option(
    "--trust-export", is_flag=True, help="The file is an export of your own: restore trust, pins, phases and uses."
)
@common_options
def import_(
    options: CommonOptions,
    file: Path,
    format: str,  # noqa: A002 - its name on the command line
    dry_run: bool,
    trust_export: bool,
) -> int | None:
    """Import a file of conversations. Run it again after an interruption: what is stored already is skipped.

    FILE is a file of JSON or JSON lines, or the zip of ChatGPT or Claude.
    """
    with options.memory() as memory:
        if options.json or not sys.stderr.isatty():
            result = memory.import_(file, format, dry_run=dry_run, trust_export=trust_export)
        else:
            with _progress() as progress:
                task = progress.add_task(f"reading {file.name}", total=None)
                result = memory.import_(
                    file,
                    format,
                    dry_run=dry_run,
                    trust_export=trust_export,
                    on_progress=lambda done, total: progress.update(task, completed=done, total=total),
                )
    output = options.output
    output.write_result(result)
    if options.verbose and not options.json:
        for example in result.examples:
            output.write(f"skipped {example.where}: {example.why}", style="dim", indent=2)
    if not options.json and not dry_run and result.messages:
        output.write("next: slowwave consolidate --all, then slowwave recall 'a question'", style="dim", indent=2)
    if result.waiting:
        return WAITING
    return 1 if result.broken else None


def _progress() -> "Progress":
    from rich.console import Console  # noqa: PLC0415 - only a terminal shows progress
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    count = TextColumn("{task.description}: {task.percentage:.0f} %")
    return Progress(SpinnerColumn(), count, TimeElapsedColumn(), console=Console(stderr=True), transient=True)


@click.command("export", cls=Command, epilog="Example: slowwave export memory.jsonl")
@click.argument("path", type=PATH, metavar="FILE")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@common_options
def export(options: CommonOptions, path: Path, overwrite: bool) -> None:
    """Write everything in this scope to a file of JSON lines. The file is complete or is not written.

    FILE is the file to write; only you can read it.
    """
    with options.memory() as memory:
        records = memory.export(path, overwrite=overwrite)
    if options.json:
        options.output.write_json({"path": str(path), "records": records})
    else:
        options.output.write(f"exported {records:,} records to {path}")
        options.output.write("it is not encrypted: keep it where you keep what is private", style="dim", indent=2)
