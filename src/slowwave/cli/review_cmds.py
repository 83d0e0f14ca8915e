"""Commands for the person who maintains a memory: health, review, release, reject and plot."""

from pathlib import Path

import click

from slowwave.cli.edit_cmds import edit_command
from slowwave.cli.options import PATH, STORED, Command, CommonOptions, common_options
from slowwave.errors import InputError


@click.command("health", cls=Command, examples=("slowwave health", "slowwave health --strict"))
@click.option("--strict", is_flag=True, help="Exit with 1 if something needs an action.")
@common_options(uses=STORED)
def health(options: CommonOptions, strict: bool) -> int | None:
    """Show what a person should look at, with examples and what to do about it."""
    with options.memory() as memory:
        result = memory.health()
    options.output.write_result(result)
    if result.findings and not options.json:
        options.output.write("`slowwave help NAME` describes the commands that are named here", style="dim")
    return 1 if strict and not result.ok else None


@click.command("review", cls=Command, examples=("slowwave review", "slowwave review --json"))
@common_options(uses=STORED)
def review(options: CommonOptions) -> None:
    """List memories held back as possible prompt injection. No search finds them until you release or reject each."""
    with options.memory() as memory:
        waiting = memory.review()
    output = options.output
    if options.json:
        output.write_json(waiting)
        return
    for item in waiting:
        output.write(f"{item.id}  [{item.trust}] {item.reason}: {item.text}")
    output.write(
        f"{len(waiting)} to decide: `slowwave release ID` or `slowwave reject ID`" if waiting else "nothing to review"
    )


release = edit_command("release", "Accept a memory under review: searches find it from now on.")
reject = edit_command("reject", "Retract a memory under review and refuse it in future.")


@click.command("plot", cls=Command, examples=("slowwave plot", "slowwave plot growth --out growth.svg"))
@click.argument("kind", default="forgetting")
@click.option("--out", type=PATH, help="Write SVG to this file; by default draw in the terminal.")
@common_options(uses=STORED)
def plot(options: CommonOptions, kind: str, out: Path | None) -> None:
    """Draw how facts fade and were used, how the memory grew, or what its sleep passes did.

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
