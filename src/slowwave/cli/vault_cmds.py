"""Commands of the long view: compact, and a vault of Markdown pages that a person can read and edit."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from slowwave.cli.declared import Argument, Option, Room, command
from slowwave.cli.options import WAITING, CommonOptions
from slowwave.cli.output import format_counts
from slowwave.errors import InputError

room = Room()
vaults = room.group("vault", help="A vault of Markdown pages: export, sync, import.", panel="Bring in and out")

PANEL: Final = "Keep in order"
Folder = Annotated[Path, Argument(help="The folder of the vault.", folder=True)]
Force = Annotated[
    bool,
    Option(
        "--force", help="Also when more than 5 changes are more than a fifth of the facts, or it is another store's."
    ),
]


@command(room, "compact", PANEL)
def compact(
    given: CommonOptions,
    conversation: Annotated[str | None, Option(help="Its name; else the one written to last.")] = None,
    topic: Annotated[str | None, Option(help="Instead: the facts about it, such as deploys, become summaries.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Of a topic: plan and explain; change nothing.")] = False,
) -> int | None:
    """Summarise now what lies outside the immediate window of a conversation, however little it is; or a topic."""
    if conversation is not None and topic is not None:
        raise InputError("both --conversation and --topic: give one of them")
    if dry_run and topic is None:
        raise InputError("--dry-run goes with --topic")
    with given.memory() as memory:
        done = memory.compact_memories(conversation) if topic is None else memory.compact(topic, dry_run=dry_run)
    given.paper.either(done)
    return WAITING if done.problems else None


@command(vaults, "export", "Vault")
def export(
    given: CommonOptions,
    folder: Folder,
    force: Annotated[bool, Option("--force", help="Also where the vault is another store's.")] = False,
) -> None:
    """Write facts, summaries and a sleep log as pages; only those that changed. Edits you did not import go to kept/."""
    told: list[str] = []
    with given.memory() as memory:
        written = memory.export_vault(folder, force=force, told=told.append)
    if given.json:
        given.paper.value(list(written))
        sys.stderr.writelines(f"slowwave: {sentence}\n" for sentence in told)
    else:
        given.paper.told("\n".join((_pages(folder, written), *(f"  {sentence}" for sentence in told))))


@command(vaults, "import", "Vault")
def take(
    given: CommonOptions,
    folder: Folder,
    apply: Annotated[bool, Option("--apply", help="Do it; without, only say what would change.")] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Only say what would change; so it does without --apply.")
    ] = False,
    force: Force = False,
) -> int | None:
    """Take back what you changed in the pages. A line you removed stays in memory."""
    if apply and dry_run:
        raise InputError("both --apply and --dry-run: give one of them")
    with given.memory() as memory:
        taken = memory.import_vault(folder, dry_run=not apply, force=force)
    given.paper.either(taken)
    if not apply and not given.json and (taken.updated or taken.added):
        confirmed = " --force" if taken.confirm else ""
        given.paper.say(f"to do it: slowwave vault import {folder} --apply{confirmed}", style="dim")
    return WAITING if taken.problems else None


@command(vaults, "sync", "Vault")
def sync(given: CommonOptions, folder: Folder, force: Force = False) -> int | None:
    """Take back what you changed, then write the pages anew."""
    with given.memory() as memory:
        taken = memory.sync_vault(folder, force=force)
    given.paper.either(taken)
    if not given.json:
        given.paper.say(_pages(folder, taken.pages))
    return WAITING if taken.problems else None


def _pages(folder: Path, changed: Sequence[str]) -> str:
    """How many pages were written, and how many are gone because nothing was left in them."""
    notes = [name for name in changed if name.endswith(".md") and not name.startswith("kept/")]
    gone = sum(not (folder / name).exists() for name in notes)
    return f"{format_counts(len(notes) - gone, 'page')} written to {folder}{f', {gone} with nothing left removed' if gone else ''}"
