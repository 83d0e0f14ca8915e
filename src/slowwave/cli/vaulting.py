"""Commands of the long view: compact, and a vault of Markdown pages that a person can read and edit."""

from pathlib import Path
from typing import Annotated, Final

import typer

from slowwave.cli.given import WAITING, Given, command

room = typer.Typer()
vaults = typer.Typer(help="A vault of Markdown pages: export, sync, import.", no_args_is_help=True)
room.add_typer(vaults, name="vault", rich_help_panel="Bring in and out")

PANEL: Final = "Keep in order"
Folder = Annotated[Path, typer.Argument(help="The folder of the vault.", file_okay=False)]
Force = Annotated[bool, typer.Option("--force", help="Also when more than a fifth of the facts change.")]


@command(room, "compact", PANEL)
def compact(
    given: Given,
    conversation: Annotated[str | None, typer.Option(help="Its name; else the one written to last.")] = None,
) -> int | None:
    """Summarise now what lies outside the immediate window of a conversation, however little it is."""
    with given.memory() as memory:
        done = memory.compact_memories(conversation)
    given.paper.either(done)
    return WAITING if done.problems else None


@command(vaults, "export", "Vault")
def export(given: Given, folder: Folder) -> None:
    """Write facts, summaries and a sleep log as pages; only those that changed."""
    with given.memory() as memory:
        written = memory.export_vault(folder)
    if given.json:
        given.paper.value(list(written))
    else:
        given.paper.say(f"{len(written)} pages written to {folder}")


@command(vaults, "import", "Vault")
def take(
    given: Given,
    folder: Folder,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without, only say what would change.")] = False,
    force: Force = False,
) -> int | None:
    """Take back what you changed in the pages. A line you removed stays in memory."""
    with given.memory() as memory:
        taken = memory.import_vault(folder, dry_run=not apply, force=force)
    given.paper.either(taken)
    return WAITING if taken.problems else None


@command(vaults, "sync", "Vault")
def sync(given: Given, folder: Folder, force: Force = False) -> int | None:
    """Take back what you changed, then write the pages anew."""
    with given.memory() as memory:
        taken = memory.sync_vault(folder, force=force)
    given.paper.either(taken)
    return WAITING if taken.problems else None
