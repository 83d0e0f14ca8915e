"""Commands that change one memory by hand: pin, unpin, update, delete, revive."""

from typing import Annotated, Final

import typer

from slowwave.cli.given import Given, command

room = typer.Typer()

PANEL: Final = "Change by hand"
Identity = Annotated[str, typer.Argument(metavar="ID", help="As recall and facts print it.")]


@command(room, "pin", PANEL)
def pin(given: Given, memory_id: Identity) -> None:
    """Keep a memory in every context, whatever happens."""
    with given.memory() as memory:
        given.paper.either(memory.pin(memory_id))


@command(room, "unpin", PANEL)
def unpin(given: Given, memory_id: Identity) -> None:
    """Let it fade like any other."""
    with given.memory() as memory:
        given.paper.either(memory.unpin(memory_id))


@command(room, "update", PANEL)
def update(given: Given, memory_id: Identity, text: Annotated[str, typer.Argument(help="The new words.")]) -> None:
    """New words for a fact; the old ones stay in its history."""
    with given.memory() as memory:
        given.paper.either(memory.update(memory_id, text))


@command(room, "delete", PANEL)
def delete(given: Given, memory_id: Identity) -> None:
    """Take a memory back; revive and undo bring it back."""
    with given.memory() as memory:
        given.paper.either(memory.delete(memory_id))


@command(room, "revive", PANEL)
def revive(given: Given, memory_id: Identity) -> None:
    """Bring back what is cold, superseded or taken back."""
    with given.memory() as memory:
        given.paper.either(memory.revive(memory_id))
