"""The group notes: texts and JSON data that are stored under a name and read back exactly."""

import json
import sys
from typing import Any, Final

import click

from slowwave.cli.options import (
    POSITIVE,
    READING,
    STORED,
    Command,
    CommonOptions,
    Group,
    common_options,
    parse_time,
    parse_values,
    store_common_options,
    where_option,
)
from slowwave.cli.output import day, one_line
from slowwave.errors import InputError, NotFoundError
from slowwave.model.note import Note

EXCERPT: Final = 80
"""Characters of the text of a note that `notes list` shows."""
STDIN: Final = "-"

folder_option: Final = click.option(
    "--folder", metavar="PATH", default="", help="The folder of the note, such as recipes/soups; by default the root."
)


@click.group("notes", cls=Group, invoke_without_command=True)
@store_common_options
def notes() -> None:
    """Store texts and JSON data under names: list, show, put, remove. `slowwave notes` lists all."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        context.invoke(list_, below=True)


@notes.command(
    "list", cls=Command, examples=("slowwave notes list recipes --below", "slowwave notes list --where done=false")
)
@click.argument("folder", default="", metavar="[FOLDER]")
@click.option("--below", is_flag=True, help="Also the notes of the folders below it.")
@where_option
@click.option("--limit", type=POSITIVE, default=50, show_default=True, help="How many at most, by folder and name.")
@common_options(uses=STORED)
def list_(options: CommonOptions, folder: str, below: bool, where: tuple[str, ...], limit: int) -> None:
    """List the notes of a folder.

    FOLDER is a path such as recipes/soups; by default the root. KEY=VALUE is a field of the data, or else of the
    metadata, such as done=false.
    """
    with options.memory() as memory:
        found = memory.notes(folder, below=below, where=parse_values(where, "--where") or None, limit=limit + 1)
    output = options.output
    more, found = len(found) > limit, found[:limit]
    if options.json:
        output.write_json(found)
        return
    for note in found:
        output.write(_place(note))
        text = note.text or ("" if note.data is None else json.dumps(note.data, ensure_ascii=False))
        expires = f" · until {day(note.expires_at)}" if note.expires_at else ""
        output.write(
            f"{one_line(text, EXCERPT)} · changed {day(note.updated_at)}{expires} · {note.id}", style="dim", indent=2
        )
    if more:
        output.write(f"more notes not shown: --limit {2 * limit}", style="dim")
    if not found:
        output.write("no such notes: `slowwave notes` lists all, `slowwave notes put` stores one")


@notes.command(
    "show", cls=Command, examples=("slowwave notes show soup --folder recipes", "slowwave notes show todo --json")
)
@click.argument("name")
@folder_option
@common_options(uses=STORED)
def show(options: CommonOptions, name: str, folder: str) -> None:
    """Print the text of a note, then its data as JSON.

    NAME is the name of the note.
    """
    with options.memory() as memory:
        note = memory.read_note(name, folder=folder)
    if note is None:
        raise NotFoundError(f"there is no note {name!r} in {_folder(folder)}: `slowwave notes` lists all notes")
    output = options.output
    if options.json:
        output.write_json(note)
        return
    if note.text:
        output.write_whole(note.text)
    if note.data is not None:
        output.write_whole(json.dumps(note.data, ensure_ascii=False, indent=2))


@notes.command(
    "put",
    cls=Command,
    examples=(
        "slowwave notes put soup Walnuts must not be in it --folder recipes",
        "slowwave notes put todo - < todo.txt",
    ),
)
@click.argument("name")
@click.argument("text", nargs=-1)
@folder_option
@click.option("--data", metavar="JSON", help="JSON data to store, instead of a text or with it.")
@click.option("--metadata", metavar="KEY=VALUE", multiple=True, help="A value to store with it; may be repeated.")
@click.option("--expires-at", metavar="TIME", help="Until when it is read and found.")
@common_options(uses=READING)
def put(
    options: CommonOptions,
    name: str,
    text: tuple[str, ...],
    folder: str,
    data: str | None,
    metadata: tuple[str, ...],
    expires_at: str | None,
) -> None:
    """Store a note. One of the same name and folder is replaced whole; undo restores it.

    NAME is its name, TEXT its text, with or without quotation marks; - reads it from standard input. TIME is a date such
    as 2026-03-14, or 2026-03-14T09:30+01:00.
    """
    if not text and data is None:
        raise InputError("there is nothing to store: give a text, - for standard input, or --data")
    words = _input() if text == (STDIN,) else " ".join(text)
    values, until = parse_values(metadata, "--metadata"), parse_time(expires_at, "--expires-at")
    with options.memory(create=True) as memory:
        receipt = memory.note(name, words, folder=folder, data=_data(data), metadata=values, expires_at=until)
    options.output.write_result(receipt)


@notes.command(
    "remove",
    cls=Command,
    examples=("slowwave notes remove todo", "slowwave notes remove soup --folder recipes"),
)
@click.argument("name")
@folder_option
@common_options(uses=STORED)
def remove(options: CommonOptions, name: str, folder: str) -> None:
    """Retract a note. It is not destroyed: undo brings it back.

    NAME is the name of the note.
    """
    with options.memory() as memory:
        receipt = memory.remove_note(name, folder=folder)
    options.output.write_result(receipt)


def _place(note: Note) -> str:
    return f"{note.folder}/{note.name}" if note.folder else note.name


def _folder(folder: str) -> str:
    return f"the folder {folder!r}" if folder else "the root folder"


def _data(text: str | None) -> Any:  # noqa: ANN401 - JSON
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"--data is not JSON ({error}): write a text between double quotation marks") from error


def _input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError("the input is not UTF-8: save it as UTF-8 first") from error
