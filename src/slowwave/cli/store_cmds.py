"""Commands for whole stores: backup and copy."""

from contextlib import closing
from pathlib import Path

import click

from slowwave.cli.edit_cmds import confirm
from slowwave.cli.options import PATH, Command, CommonOptions, common_options
from slowwave.errors import InputError


@click.command("backup", cls=Command, epilog="Example: slowwave backup memory-backup.db")
@click.argument("file", type=PATH)
@common_options
def backup(options: CommonOptions, file: Path) -> None:
    """Write a verified copy of the store, all scopes and their history, while programs may write to it.

    FILE is a file that does not exist yet.
    """
    if options.address:
        _require_store(options.address)
    with options.memory() as memory:
        memory.backup(file)
    size = file.stat().st_size
    if options.json:
        options.output.write_json({"path": str(file), "bytes": size})
    else:
        options.output.write(f"{file}: {size:,} bytes, checked; open it with --store {file}")


@click.command("copy", cls=Command, epilog="Example: slowwave copy agent.db postgresql://you@host/memory")
@click.argument("source")
@click.argument("target", required=False)
@click.option(
    "--give-up", is_flag=True, help="Discard what an interrupted copy wrote into SOURCE, the only store named."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@common_options
def copy(options: CommonOptions, source: str, target: str | None, give_up: bool, yes: bool) -> None:
    """Copy a whole store into another and compare their hashes. Run it again to continue after an interruption.

    SOURCE and TARGET are files or addresses of the form postgresql://…; the file TARGET is created if it does not exist.
    """
    from slowwave.stores import make  # noqa: PLC0415 - `--help` does without
    from slowwave.stores.address import checked  # noqa: PLC0415
    from slowwave.stores.copy import copy as copy_store  # noqa: PLC0415

    _require_store(checked(source))
    if give_up:
        if target is not None:
            raise InputError("--give-up takes one store: the target of the interrupted copy")
        _discard(options, source, yes=yes)
        return
    if target is None or source == target:
        raise InputError("name two different stores: the source and the target of the copy")
    output = options.output
    with closing(make(source)) as old, closing(make(target)) as new:
        result = copy_store(old, new, on_progress=None if options.json else lambda path: output.write(f"  {path}"))
    if options.json:
        output.write_json(
            {"scopes": result.scopes, "known": result.known, "rows": result.rows, "hashes": result.hashes}
        )
    else:
        output.write(str(result))


def _require_store(address: str) -> None:
    """Raise InputError for a file that does not exist: opening it would create an empty store."""
    if "://" not in address and not Path(address).is_file():
        raise InputError(f"{address!r} is not a file: name an existing store")


def _discard(options: CommonOptions, target: str, *, yes: bool) -> None:
    from slowwave.stores import make  # noqa: PLC0415 - `--help` does without
    from slowwave.stores.copy import discard_partial_copy  # noqa: PLC0415

    if not confirm("Discard what was copied in part?", yes=yes):
        raise InputError("nothing was discarded: confirm with --yes, or run the copy again to finish it")
    with closing(make(target)) as store:
        scopes = discard_partial_copy(store)
    if options.json:
        options.output.write_json({"thrown_away": scopes})
    else:
        options.output.write(f"{scopes} scopes that were copied only in part are thrown away")
