"""The command compact, and the group vault: Markdown pages of a memory that a person can read and edit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from slowwave.cli.options import (
    STORED,
    WAITING,
    Command,
    CommonOptions,
    Group,
    common_options,
    conversation_named,
    conversation_option,
    store_common_options,
)
from slowwave.errors import InputError
from slowwave.model.counted import counted

folder: Final = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
force: Final = click.option(
    "--force",
    is_flag=True,
    help="Also if more than 5 changes are more than a fifth of the facts, or if the vault is another store's.",
)


@click.command(
    "compact",
    cls=Command,
    examples=("slowwave compact --conversation kitchen", "slowwave compact --topic deploys --dry-run"),
)
@conversation_option("Its name; by default the conversation written to last.")
@click.option("--topic", help="Summarise the facts about this topic, such as deploys, instead of a conversation.")
@click.option("--dry-run", is_flag=True, help="With --topic: plan and explain, change nothing.")
@common_options
def compact(options: CommonOptions, conversation: str | None, topic: str | None, dry_run: bool) -> int | None:
    """Summarise now the messages outside the immediate window of a conversation, however few; or the facts of a topic."""
    if conversation is not None and topic is not None:
        raise InputError("both --conversation and --topic: give one of them")
    if dry_run and topic is None:
        raise InputError("--dry-run needs --topic")
    with options.memory() as memory:
        conversation = conversation_named(memory, conversation)
        result = (
            memory.compact_conversation(conversation) if topic is None else memory.compact_topic(topic, dry_run=dry_run)
        )
    options.output.write_result(result)
    return WAITING if result.problems else None


@click.group("vault", cls=Group)
@store_common_options
def vault() -> None:
    """A vault of Markdown pages: export, sync, import."""


@vault.command(
    "export", cls=Command, examples=("slowwave vault export ~/notes/memory", "slowwave vault export . --force")
)
@folder
@click.option("--force", is_flag=True, help="Also if the vault is another store's.")
@common_options(uses=STORED)
def export(options: CommonOptions, folder: Path, force: bool) -> None:
    """Write the pages that changed: facts, summaries, a sleep log. Edits that were not imported go to kept/."""
    warnings: list[str] = []
    with options.memory() as memory:
        changed = memory.export_vault(folder, force=force, on_progress=warnings.append)
    if options.json:
        options.output.write_json(list(changed))
        options.warn(*(f"slowwave: {warning}" for warning in warnings))
    else:
        lines = (_count_pages(folder, changed), *(f"  {warning}" for warning in warnings))
        options.output.write_text("\n".join(lines))


@vault.command(
    "import",
    cls=Command,
    examples=("slowwave vault import ~/notes/memory", "slowwave vault import ~/notes/memory --apply"),
)
@folder
@click.option("--apply", is_flag=True, help="Make the changes; without it they are only shown.")
@click.option("--dry-run", is_flag=True, help="Only show the changes, as without --apply.")
@force
@common_options
def import_(options: CommonOptions, folder: Path, apply: bool, dry_run: bool, force: bool) -> int | None:
    """Import what you changed in the pages. A line that you removed stays in memory."""
    if apply and dry_run:
        raise InputError("both --apply and --dry-run: give one of them")
    with options.memory(create=True) as memory:
        result = memory.import_vault(folder, dry_run=not apply, force=force)
    options.output.write_result(result)
    if not apply and not options.json and (result.updated or result.added):
        confirmed = " --force" if result.confirm else ""
        options.output.write(f"to do it: `slowwave vault import {folder} --apply{confirmed}`", style="dim")
    return WAITING if result.problems else None


@vault.command("sync", cls=Command, examples=("slowwave vault sync ~/notes/memory", "slowwave vault sync . --json"))
@folder
@force
@common_options
def sync(options: CommonOptions, folder: Path, force: bool) -> int | None:
    """Import what you changed in the pages, then write the pages again."""
    with options.memory(create=True) as memory:
        result = memory.sync_vault(folder, force=force)
    options.output.write_result(result)
    if not options.json:
        options.output.write(_count_pages(folder, result.pages))
    return WAITING if result.problems else None


def _count_pages(folder: Path, changed: Sequence[str]) -> str:
    """How many pages were written, and how many were removed because nothing remained in them."""
    pages = [name for name in changed if name.endswith(".md") and not name.startswith("kept/")]
    removed = sum(not (folder / name).exists() for name in pages)
    note = f", {removed} with nothing left removed" if removed else ""
    return f"{counted(len(pages) - removed, 'page')} written to {folder}{note}"
