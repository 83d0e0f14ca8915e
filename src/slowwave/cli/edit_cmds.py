"""Commands that change one memory by hand: pin, unpin, update, delete, revive; and erase, which cannot be undone."""

import sys
from typing import Final

import click

from slowwave.cli.options import Command, CommonOptions, common_options
from slowwave.errors import InputError

memory_id: Final = click.argument("memory_id", metavar="ID")


@click.command("pin", cls=Command, epilog="Example: slowwave pin 0ada6q00h7z9gd4kt3mn")
@memory_id
@common_options
def pin(options: CommonOptions, memory_id: str) -> None:
    """Keep a memory in every context. It does not fade.

    ID is the id of a memory, as recall and facts print it.
    """
    with options.memory() as memory:
        options.output.write_result(memory.pin(memory_id))


@click.command("unpin", cls=Command, epilog="Example: slowwave unpin 0ada6q00h7z9gd4kt3mn")
@memory_id
@common_options
def unpin(options: CommonOptions, memory_id: str) -> None:
    """Let a pinned memory fade like any other.

    ID is the id of a memory, as recall and facts print it.
    """
    with options.memory() as memory:
        options.output.write_result(memory.unpin(memory_id))


@click.command("update", cls=Command, epilog="Example: slowwave update 0ada6q00h7z9gd4kt3mn 'Odile sold the ferry'")
@memory_id
@click.argument("text")
@click.option("--category", help="A new category; by default it stays.")
@common_options
def update(options: CommonOptions, memory_id: str, text: str, category: str | None) -> None:
    """Change the text of a fact. The old text stays in its history.

    ID is the id of a memory, as recall and facts print it. TEXT is the new text.
    """
    with options.memory() as memory:
        options.output.write_result(memory.update(memory_id, text, category=category))


@click.command("delete", cls=Command, epilog="Example: slowwave delete 0ada6q00h7z9gd4kt3mn")
@memory_id
@common_options
def delete(options: CommonOptions, memory_id: str) -> None:
    """Retract a memory. The commands revive and undo restore it.

    ID is the id of a memory, as recall and facts print it.
    """
    with options.memory() as memory:
        options.output.write_result(memory.delete(memory_id))


@click.command("revive", cls=Command, epilog="Example: slowwave revive 0ada6q00h7z9gd4kt3mn")
@memory_id
@common_options
def revive(options: CommonOptions, memory_id: str) -> None:
    """Restore a memory that is cold, superseded or retracted.

    ID is the id of a memory, as recall and facts print it.
    """
    with options.memory() as memory:
        options.output.write_result(memory.revive(memory_id))


@click.command("erase", cls=Command, epilog="Example: slowwave erase --conversation kitchen --yes")
@click.argument("memory_id", metavar="[ID]", required=False)
@click.option("--source", help="Erase what was derived from the message with this id of yours.")
@click.option("--conversation", help="Erase a whole conversation.")
@click.option("--text", help="Erase every memory that holds, or ever held, this text.")
@click.option("--everything", is_flag=True, help="Erase the whole scope.")
@click.option("--rewrite", is_flag=True, help="Rewrite the tables of a server however large they are.")
@click.option("--no-rewrite", "no_rewrite", is_flag=True, help="Rewrite neither tables nor the file.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@common_options
def erase(
    options: CommonOptions,
    memory_id: str | None,
    source: str | None,
    conversation: str | None,
    text: str | None,
    everything: bool,
    rewrite: bool,
    no_rewrite: bool,
    yes: bool,
) -> int | None:
    """Destroy memories and all that was derived from them, and verify that no trace remains. It cannot be undone.

    ID is the id of a memory; or give one of --source, --conversation, --text and --everything.
    The exit code is 1 if a trace remains.
    """
    if rewrite and no_rewrite:
        raise InputError("both --rewrite and --no-rewrite: give one of them")
    if not confirm("This cannot be undone. Erase?", yes=yes):
        raise InputError("nothing was erased: confirm with --yes, or use delete, which can be undone")
    with options.memory() as memory:
        result = memory.erase(
            id=memory_id,
            source=source,
            conversation=conversation,
            text=text,
            scope=everything,
            rewrite=True if rewrite else False if no_rewrite else None,
        )
    options.output.write_result(result)
    return None if result.verified else 1


def confirm(question: str, *, yes: bool) -> bool:
    """Whether an operation that destroys data may run: by the option --yes, or by a person's answer at a terminal."""
    if yes or not sys.stdin.isatty():
        return yes
    return click.confirm(question, err=True)
