"""Commands that change memory by hand: pin, unpin, update, delete, revive, and erase, which cannot be undone."""

import sys
from typing import Annotated, Final

from slowwave.cli.declared import Argument, Option, Room, command
from slowwave.cli.options import CommonOptions
from slowwave.errors import InputError

room = Room()

PANEL: Final = "Change by hand"
Identity = Annotated[str, Argument(metavar="ID", help="As recall and facts print it.")]


@command(room, "pin", PANEL)
def pin(given: CommonOptions, memory_id: Identity) -> None:
    """Keep a memory in every context, whatever happens."""
    with given.memory() as memory:
        given.paper.either(memory.pin(memory_id))


@command(room, "unpin", PANEL)
def unpin(given: CommonOptions, memory_id: Identity) -> None:
    """Let it fade like any other."""
    with given.memory() as memory:
        given.paper.either(memory.unpin(memory_id))


@command(room, "update", PANEL)
def update(
    given: CommonOptions,
    memory_id: Identity,
    text: Annotated[str, Argument(help="The new words.")],
    category: Annotated[str | None, Option(help="A new category; else it stays.")] = None,
) -> None:
    """New words for a fact; the old ones stay in its history."""
    with given.memory() as memory:
        given.paper.either(memory.update(memory_id, text, category=category))


@command(room, "delete", PANEL)
def delete(given: CommonOptions, memory_id: Identity) -> None:
    """Take a memory back; revive and undo bring it back."""
    with given.memory() as memory:
        given.paper.either(memory.delete(memory_id))


@command(room, "revive", PANEL)
def revive(given: CommonOptions, memory_id: Identity) -> None:
    """Bring back what is cold, superseded or taken back."""
    with given.memory() as memory:
        given.paper.either(memory.revive(memory_id))


@command(room, "erase", PANEL)
def erase(
    given: CommonOptions,
    memory_id: Annotated[str | None, Argument(metavar="[ID]", help="A memory; or one of the options.")] = None,
    source: Annotated[str | None, Option(help="Whatever rests on this message id of yours.")] = None,
    conversation: Annotated[str | None, Option(help="A whole conversation.")] = None,
    text: Annotated[str | None, Option(help="Whatever holds these words, or ever held them.")] = None,
    everything: Annotated[bool, Option("--everything", help="All of the scope.")] = False,
    rewrite: Annotated[
        bool, Option("--rewrite", help="Rewrite a server's tables, however large; else small ones.")
    ] = False,
    leave: Annotated[bool, Option("--no-rewrite", help="Rewrite no tables, and not the file.")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
) -> int | None:
    """Destroy memories and all that was made of them, for good, and prove it; exit code 1 if a trace is left."""
    if rewrite and leave:
        raise InputError("--rewrite and --no-rewrite: say one of them")
    if not confirm("This cannot be undone. Erase?", yes=yes):
        raise InputError("nothing was erased: say --yes to destroy for good, or use delete, which can be undone")
    with given.memory() as memory:
        done = memory.erase(
            id=memory_id,
            source=source,
            conversation=conversation,
            text=text,
            scope=everything,
            rewrite=True if rewrite else False if leave else None,
        )
    given.paper.either(done)
    return None if done.verified else 1


def confirm(question: str, *, yes: bool) -> bool:
    """Whether something may be destroyed: it was said with the command, or is by a person at a terminal."""
    if yes or not sys.stdin.isatty():
        return yes
    import typer  # noqa: PLC0415 - only a person is asked

    return typer.confirm(question, err=True)
