"""Commands for whole stores: backup and copy."""

from pathlib import Path

import click

from slowwave.cli.edit_cmds import confirm
from slowwave.cli.options import PATH, PRINTING, STORED, Command, CommonOptions, common_options
from slowwave.cli.output import format_counts
from slowwave.cli.progress import progress
from slowwave.errors import InputError


@click.command(
    "backup", cls=Command, examples=("slowwave backup memory-backup.db", "slowwave backup /mnt/disk/memory.db")
)
@click.argument("file", type=PATH)
@common_options(uses=STORED)
def backup(options: CommonOptions, file: Path) -> None:
    """Write a verified copy of the store, all scopes and their history, while programs may write to it.

    FILE is a file that does not exist yet.
    """
    with options.memory() as memory:
        memory.backup(file)
    size = file.stat().st_size
    if options.json:
        options.output.write_json({"path": str(file), "bytes": size})
    else:
        options.output.write(f"{file}: {size:,} bytes, checked; open it with `--store {file}`")


@click.command(
    "copy",
    cls=Command,
    examples=("slowwave copy agent.db postgresql://you@host/memory", "slowwave copy --give-up half.db"),
)
@click.argument("source")
@click.argument("target", required=False)
@click.option(
    "--give-up", is_flag=True, help="Discard what an interrupted copy wrote into SOURCE, the only store named."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@common_options(uses=PRINTING)
def copy(options: CommonOptions, source: str, target: str | None, give_up: bool, yes: bool) -> None:
    """Copy a whole store into another and compare their hashes. Run it again to continue after an interruption.

    SOURCE and TARGET are files or addresses of the form postgresql://…; the file TARGET is created if it does not exist.
    """
    from slowwave.composition import copy_store  # noqa: PLC0415 - `--help` does without

    if give_up:
        if target is not None:
            raise InputError("--give-up takes one store: the target of the interrupted copy")
        _discard(options, source, yes=yes)
        return
    if target is None or source == target:
        raise InputError("name two different stores: the source and the target of the copy")
    output = options.output
    with progress(options, "copying scopes") as shown:
        result = copy_store(source, target, on_progress=shown)
    if options.json:
        output.write_json(
            {"scopes": result.scopes, "known": result.known, "rows": result.rows, "hashes": result.hashes}
        )
    else:
        output.write(str(result))


def _discard(options: CommonOptions, target: str, *, yes: bool) -> None:
    from slowwave.composition import discard_partial_copy  # noqa: PLC0415 - `--help` does without

    refusal = "nothing was discarded: confirm with --yes, or run the copy again to finish it"
    confirm("Discard what was copied in part?", yes=yes, refusal=refusal)
    scopes = discard_partial_copy(target)
    if options.json:
        options.output.write_json({"thrown_away": scopes})
    else:
        options.output.write(f"{format_counts(scopes, 'partial scope')} discarded")
