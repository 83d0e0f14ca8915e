"""Commands that bring text in and take it out: add, remember, import, export."""

import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal, TextIO, cast

import click

from slowwave.cli.endings import INTERRUPTED
from slowwave.cli.options import (
    PATH,
    STORED,
    WAITING,
    Command,
    CommonOptions,
    common_options,
    conversation_option,
    joined,
    parse_time,
    parse_values,
)
from slowwave.cli.output import with_undo_command
from slowwave.cli.progress import progress
from slowwave.errors import InputError, SlowwaveError
from slowwave.files import check_regular
from slowwave.model.counted import counted
from slowwave.model.message import Message
from slowwave.model.plan import BATCH_MAX

if TYPE_CHECKING:
    from slowwave.model.memory import Kind, Trust
    from slowwave.pipelines.exchange.import_report import ImportReport

STDIN: Final = "-"
FILE_NAME_MAX: Final = 255
"""Characters: a longer text cannot be the name of a file, and asking the system about it may fail."""


@click.command(
    "add",
    cls=Command,
    examples=(
        "slowwave add Odile owns the ferry --category person",
        "slowwave add 'The budget is 900 euros' --id budget --expires-at 2026-12-31",
    ),
)
@click.argument("text", nargs=-1, required=True)
@click.option("--category", default="other", help="preference, person, project, decision, identity …")
@click.option("--kind", default="semantic", help="episodic, semantic or procedural.")
@click.option("--subject", help="The person or thing it is about.")
@click.option("--importance", type=click.FloatRange(0, 1), help="0 to 1; calculated if omitted.")
@click.option("--metadata", metavar="KEY=VALUE", multiple=True, help="A value to store with it; may be repeated.")
@click.option("--trust", default="user", help="Who states it: user, assistant, tool, import, web or llm.")
@click.option("--id", "ref", help="An id of yours: with the same text it is stored once.")
@click.option("--at", metavar="TIME", help="Since when it is true.")
@click.option("--expires-at", metavar="TIME", help="When it ends.")
@common_options
def add(
    options: CommonOptions,
    text: tuple[str, ...],
    category: str,
    kind: str,
    subject: str | None,
    importance: float | None,
    metadata: tuple[str, ...],
    trust: str,
    ref: str | None,
    at: str | None,
    expires_at: str | None,
) -> int | None:
    """Add a fact. It may update a known fact, or be merged with it.

    TEXT is one sentence that is still clear next year, with or without quotation marks. TIME is a date such as
    2026-03-14, or 2026-03-14T09:30+01:00; without an offset it is in `zone`, else UTC.
    """
    fact = joined(text, "TEXT")
    values = parse_values(metadata, "--metadata")
    times = {"at": parse_time(at, "--at"), "expires_at": parse_time(expires_at, "--expires-at")}
    with options.memory(create=True) as memory:
        receipt = memory.add(
            fact,
            category=category,
            kind=cast("Kind", kind),  # the library refuses another kind, with the ones that exist; so it does for trust
            subject=subject,
            importance=importance,
            metadata=values,
            trust=cast("Trust", trust),
            id=ref,
            **times,
        )
    options.output.write_result(receipt)
    return WAITING if receipt.waiting else None


@click.command(
    "remember",
    cls=Command,
    examples=("slowwave remember I am allergic to walnuts", "slowwave remember --file talk.txt --conversation kitchen"),
)
@click.argument("text", nargs=-1)
@click.option("--file", type=PATH, help="Read the messages from this file.")
@conversation_option("Its name; by default the conversation written to last.")
@click.option("--role", default="user", help="The role of lines without one.")
@click.option("--speaker", help="The name of the speaker.")
@click.option("--at", metavar="TIME", help="When it was said; by default now.")
@common_options
def remember(
    options: CommonOptions,
    text: tuple[str, ...],
    file: Path | None,
    conversation: str | None,
    role: str,
    speaker: str | None,
    at: str | None,
) -> int | None:
    """Store messages verbatim: one a line, or `role: text` with the text continued on the next lines.

    TEXT is the message, with or without quotation marks. Without it, or for -, the messages are read from standard
    input.
    """
    words, said_at = " ".join(text) if text else None, parse_time(at, "--at")
    if words is not None and file is not None:
        raise InputError("both a text and --file: give one of them")
    from slowwave.session import refuse_open_store  # noqa: PLC0415 - `--help` does without

    with options.memory(create=True) as memory:
        if file is not None:
            refuse_open_store(file)
        receipts = []
        for batch in _batches(_messages(_source_lines(words, file), role, speaker, said_at)):
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
        check_regular(file)
        with file.open(encoding="utf-8-sig") as stream:
            yield from _decoded_lines(stream, str(file))
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error


def _decoded_lines(stream: TextIO, name: str) -> Iterator[str]:
    try:
        yield from stream
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8: save it as UTF-8 first") from error


def _messages(lines: Iterator[str], role: str, speaker: str | None, at: datetime | None) -> Iterator[Message]:
    """One message a line, or the turns of a conversation."""
    from slowwave.formats.readers.transcript import turns  # noqa: PLC0415 - `--help` does without

    for spoken, content in turns(lines, role):
        yield Message(role=spoken, content=content, speaker=speaker, at=at)


def _batches(messages: Iterator[Message]) -> Iterator[list[Message]]:
    batch: list[Message] = []
    for message in messages:
        batch.append(message)
        if len(batch) == BATCH_MAX:
            yield batch
            batch = []
    if batch:
        yield batch


@click.command(
    "import",
    cls=Command,
    examples=(
        "slowwave import conversations.zip --trust user",
        "slowwave import messages.jsonl --dry-run",
    ),
)
@click.argument("file", type=PATH)
@click.option(
    "--format",
    default="auto",
    show_default=True,
    help="jsonl, chatgpt, claude, gemini, mem0, letta, langgraph, server-memory, markdown, text, locomo or beam; auto "
    "detects it.",
)
@click.option("--dry-run", is_flag=True, help="Count only; store nothing.")
@click.option(
    "--trust-export", is_flag=True, help="The file is an export of your own: restore trust, pins, phases and uses."
)
@click.option(
    "--trust",
    type=click.Choice(["import", "user"]),
    default="import",
    show_default=True,
    help="user: you vouch that what the user says in the file are the user's own words.",
)
@click.option("--user", metavar="NAME", help="Of an export of Mem0 with several users: the one to import.")
@common_options
def import_(
    options: CommonOptions,
    file: Path,
    format: str,  # noqa: A002 - its name on the command line
    dry_run: bool,
    trust_export: bool,
    trust: Literal["import", "user"],
    user: str | None,
) -> int | None:
    """Import conversations, facts or notes. Run it again after an interruption: what is stored already is skipped.

    FILE is a file of JSON or JSON lines, the zip of ChatGPT, Claude or Gemini, a page of Markdown or plain text, a folder of
    such pages, or - for standard input.
    """
    from slowwave.formats import check_format  # noqa: PLC0415 - `--help` does without
    from slowwave.pipelines.exchange.import_ import ImportInterruptedError  # noqa: PLC0415 - `--help` does without

    check_format(format)  # before a store is created
    if str(file) != STDIN and not file.exists():
        raise InputError(f"cannot read {file}: there is no such file or folder")
    with ExitStack() as stack:
        memory = stack.enter_context(options.memory(create=True, discard=dry_run))
        file = stack.enter_context(_stored_input()) if str(file) == STDIN else file
        shown = stack.enter_context(progress(options, f"importing {file.name}"))
        try:
            result = memory.import_(
                file, format, dry_run=dry_run, trust_export=trust_export, trust=trust, user=user, on_progress=shown
            )
        except ImportInterruptedError as stop:
            raise ImportStoppedError(stop.report) from None
    output = options.output
    output.write_result(result)
    if options.verbose and not options.json:
        for example in result.examples:
            output.write(f"skipped {example.where}: {example.why}", style="dim", indent=2)
    if not options.json and result.unproven and not trust_export:
        output.write("if the file is your own export: `slowwave import FILE --trust-export`", style="dim", indent=2)
    if not options.json and trust == "import" and result.messages:
        output.write(
            "if the user's words in it are your own: `slowwave import FILE --trust user`", style="dim", indent=2
        )
    if not options.json and not dry_run and result.messages:
        output.write("next: `slowwave consolidate --all`, then `slowwave search WORDS`", style="dim", indent=2)
    if result.waiting:
        return WAITING
    return 1 if result.broken else None


class ImportStoppedError(SlowwaveError):
    """Ctrl-C stopped an import. The sentence says what is stored.

    Args:
        report: what was stored until then.
    """

    exit_code = INTERRUPTED

    def __init__(self, report: "ImportReport") -> None:
        stored = with_undo_command(str(report), report) if report.run_id else "nothing was stored"
        super().__init__(f"interrupted; {stored}\n  run the same command again to continue: what is stored is skipped")


@contextmanager
def _stored_input() -> Iterator[Path]:
    """A file with what standard input holds: archives and long files are read more than once.

    Errors that name this file say "standard input" instead.

    Raises:
        InputError: standard input cannot be read or saved.
    """
    with TemporaryDirectory(prefix="slowwave-") as folder:
        path = Path(folder, "stdin")  # the name of conversations that have none, the same in every import
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        except OSError as error:
            raise InputError(
                f"standard input cannot be saved in {path.parent.parent} ({error.strerror or error}): name a file instead"
            ) from error
        try:
            yield path
        except InputError as error:
            raise InputError(str(error).replace(str(path), "standard input")) from error


@click.command(
    "export",
    cls=Command,
    examples=(
        "slowwave export memory.jsonl",
        "slowwave export - | gzip > memory.jsonl.gz",
        "slowwave export memory.md --format markdown",
    ),
)
@click.argument("path", type=PATH, metavar="FILE")
@click.option(
    "--format",
    default="jsonl",
    show_default=True,
    help="jsonl has everything; mem0 has the facts in Mem0's form; markdown is a page for people.",
)
@click.option("--overwrite", is_flag=True, help="Replace the content of the file if it exists.")
@click.option("--user", metavar="NAME", help="With mem0: the user_id of facts that did not come from Mem0.")
@click.option("--reasoning", is_flag=True, help="With jsonl: also what assistants thought before their messages.")
@common_options(uses=STORED)
def export(
    options: CommonOptions,
    path: Path,
    format: str,  # noqa: A002 - its name on the command line
    overwrite: bool,
    user: str | None,
    reasoning: bool,
) -> None:
    """Write everything in this scope to a file. The file is complete or is not written.

    FILE is the file to write, which only you can read, or - for standard output.
    """
    if str(path) == STDIN:
        _export_to_output(options, format, user, reasoning=reasoning)
        return
    with options.memory() as memory:
        records = memory.export(path, format, overwrite=overwrite, user=user, reasoning=reasoning)
    if options.json:
        options.output.write_json({"path": str(path), "records": records})
    else:
        options.output.write(f"exported {counted(records, 'record')} to {path}")
        options.output.write("the file is not encrypted: keep it in a private place", style="dim", indent=2)


def _export_to_output(options: CommonOptions, format: str, user: str | None, *, reasoning: bool) -> None:  # noqa: A002 - as above
    sys.stdout.flush()
    stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n", write_through=True)
    try:
        with options.memory() as memory:
            records = memory.export(stream, format, user=user, reasoning=reasoning)
        stream.flush()
    finally:
        stream.detach()  # closing it would close standard output
    options.warn(f"exported {counted(records, 'record')}")
