"""Commands for whole stores: scopes, backup and copy."""

import shlex
from pathlib import Path

import click

from slowwave.cli.edit_cmds import confirm
from slowwave.cli.options import PATH, POSITIVE, PRINTING, STORED, Command, CommonOptions, common_options
from slowwave.cli.output import day
from slowwave.cli.progress import progress
from slowwave.errors import InputError
from slowwave.model.counted import counted


@click.command("scopes", cls=Command, examples=("slowwave scopes", "slowwave scopes --prefix acme --limit 20"))
@click.option("--prefix", metavar="PATH", default="", help="Only this scope and those below it.")
@click.option("--after", metavar="PATH", help="Only scopes after this one, for the next page.")
@click.option("--limit", type=POSITIVE, default=50, show_default=True, help="How many at most, in order of path.")
@common_options(uses=("store", *PRINTING))
def scopes(options: CommonOptions, prefix: str, after: str | None, limit: int) -> None:
    """List the scopes of the store, with their numbers of messages and facts."""
    with options.whole_store() as store:
        found = store.scopes(prefix, after=after, limit=limit + 1)
    output = options.output
    more, found = len(found) > limit, found[:limit]
    if options.json:
        output.write_json(found)
        return
    for scope in found:
        output.write(scope.path)
        counts = f"{counted(scope.messages, 'message')}, {counted(scope.facts, 'fact')}"
        output.write(f"{counts}, last written {day(scope.last_written)}", style="dim", indent=2)
    if more:
        output.write(f"more scopes: --after {shlex.quote(found[-1].path)}", style="dim")
    if not found:
        output.write(f"no scope at or below {prefix!r}: `slowwave scopes` lists all" if prefix else "no scopes yet")


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
@common_options(uses=("scope", *PRINTING))
def copy(options: CommonOptions, source: str, target: str | None, give_up: bool, yes: bool) -> None:
    """Copy a store into another and compare their hashes. Run it again to continue after an interruption.

    With --scope only this scope and those below it are copied, for instance to move a customer to another database.

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
        result = copy_store(source, target, scope=options.scope, on_progress=shown)
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
        options.output.write(f"{counted(scopes, 'partial scope')} discarded")


@click.command(
    "init",
    cls=Command,
    examples=("slowwave init --store agent.db", "slowwave init --store postgresql://owner@host/memory --partitions 64"),
)
@click.option(
    "--partitions", type=POSITIVE, metavar="N", help="Cut the tables of a database into so many parts by scope."
)
@common_options(uses=("store", *PRINTING))
def init(options: CommonOptions, partitions: int | None) -> None:
    """Create an empty store. Without this command the first memory that is added creates it, without partitions."""
    from slowwave import settings  # noqa: PLC0415 - `--help` does without
    from slowwave.composition import init_store  # noqa: PLC0415 - as above

    options.output.write_result(init_store(options.address or settings.default_store(), partitions=partitions))


@click.command(
    "migrate",
    cls=Command,
    examples=("slowwave migrate --check", "slowwave migrate --store postgresql://owner@host/memory --wait 30m"),
)
@click.option(
    "--check", is_flag=True, help="Show what is missing and change nothing. The exit code is 1 if something is."
)
@click.option("--wait", metavar="SPAN", default="10m", show_default=True, help="How long to try for locks of others.")
@common_options(uses=("store", *PRINTING))
def migrate(options: CommonOptions, check: bool, wait: str) -> int | None:
    """Bring the schema of a store to that of this version, as its owner, while programs go on working.

    Each step waits two seconds for a lock of others and is then tried again later, so that no program waits longer.
    """
    from slowwave import settings  # noqa: PLC0415 - `--help` does without
    from slowwave.composition import migrate_store, schema_state  # noqa: PLC0415 - as above
    from slowwave.pipelines.sleep.background import seconds  # noqa: PLC0415 - as above

    where = options.address or settings.default_store()
    before = schema_state(where)
    if check or not before.steps:
        options.output.write_result(before)
        return 1 if before.steps else None
    options.warn(str(before))
    after = migrate_store(where, patience=seconds(wait), say=options.warn)
    options.output.write_result(after)
    return None
