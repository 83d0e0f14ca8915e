"""Commands for the person who maintains a memory: health, review, release, reject and plot."""

from pathlib import Path

import click

from slowwave.cli.edit_cmds import memory_id
from slowwave.cli.options import PATH, Command, CommonOptions, common_options
from slowwave.errors import InputError


@click.command("health", cls=Command, epilog="Example: slowwave health --strict")
@click.option("--strict", is_flag=True, help="Exit with 1 if something needs an action.")
@common_options
def health(options: CommonOptions, strict: bool) -> int | None:
    """Show what a person should look at, with examples and what to do about it."""
    with options.memory() as memory:
        result = memory.health()
    options.output.write_result(result)
    return 1 if strict and not result.ok else None


@click.command("review", cls=Command, epilog="Example: slowwave review")
@common_options
def review(options: CommonOptions) -> None:
    """List memories that read as an instruction to a model and do not come from you. No search finds them until you decide."""
    with options.memory() as memory:
        waiting = memory.review()
    output = options.output
    if options.json:
        output.write_json(waiting)
        return
    for item in waiting:
        output.write(f"{item.id}  [{item.trust}] {item.reason}: {item.text}")
    output.write(
        f"{len(waiting)} to look at: slowwave release ID, or slowwave reject ID" if waiting else "nothing to review"
    )


@click.command("release", cls=Command, epilog="Example: slowwave release 0ada6q00h7z9gd4kt3mn")
@memory_id
@common_options
def release(options: CommonOptions, memory_id: str) -> None:
    """Accept a memory under review: searches find it from now on.

    ID is the id of a memory, as review prints it.
    """
    with options.memory() as memory:
        options.output.write_result(memory.release(memory_id))


@click.command("reject", cls=Command, epilog="Example: slowwave reject 0ada6q00h7z9gd4kt3mn")
@memory_id
@common_options
def reject(options: CommonOptions, memory_id: str) -> None:
    """Retract a memory under review and refuse it in future.

    ID is the id of a memory, as review prints it.
    """
    with options.memory() as memory:
        options.output.write_result(memory.reject(memory_id))


@click.command("plot", cls=Command, epilog="Example: slowwave plot growth --out growth.svg")
@click.argument("kind", default="forgetting")
@click.option("--out", type=PATH, help="Write SVG to this file; by default the plot is drawn in the terminal.")
@common_options
def plot(options: CommonOptions, kind: str, out: Path | None) -> None:
    """Plot how facts fade and were used, how the memory grew, or what its sleep passes did.

    KIND is forgetting (the default), growth or sleep.
    """
    with options.memory() as memory:
        drawing = memory.plot(kind, text=out is None and not options.json)
    if out is None:
        options.output.write_result(drawing)
        return
    try:
        out.write_text(drawing, "utf-8")
    except OSError as error:
        raise InputError(f"{str(out)!r} cannot be written ({error.strerror}): name another file") from error
    options.output.write(f"{kind} drawn to {out}")
