"""Commands for whoever looks after a memory: health, review, release, reject and plot."""

from pathlib import Path
from typing import Annotated, Final

from slowwave.cli.declared import Argument, Option, Room, command
from slowwave.cli.edit_cmds import Identity
from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import CommonOptions
from slowwave.errors import InputError

room = Room()

PANEL: Final = "Keep in order"


@command(room, "health", PANEL)
def health(
    given: CommonOptions,
    strict: Annotated[bool, Option("--strict", help="Exit code 1 if something wants acting on.")] = False,
) -> int | None:
    """What a person should look at, with examples and what to do about it."""
    with given.memory() as memory:
        found = memory.health()
    given.paper.either(found)
    return 1 if strict and not found.ok else None


@command(room, "review", PANEL)
def review(given: CommonOptions) -> None:
    """What reads as an instruction to a model and was not said by you; kept out of everything until you decide."""
    with given.memory() as memory:
        waiting = memory.review()
    if given.json:
        given.paper.value([to_json_value(one) for one in waiting])
        return
    for one in waiting:
        given.paper.say(f"{one.id}  [{one.trust}] {one.reason}: {one.text}")
    given.paper.say(
        f"{len(waiting)} to look at: slowwave release ID, or slowwave reject ID" if waiting else "nothing to review"
    )


@command(room, "release", PANEL)
def release(given: CommonOptions, memory_id: Identity) -> None:
    """Let a memory under review be recalled like any other."""
    with given.memory() as memory:
        given.paper.either(memory.release(memory_id))


@command(room, "reject", PANEL)
def reject(given: CommonOptions, memory_id: Identity) -> None:
    """Take a memory under review back, and do not take it in again."""
    with given.memory() as memory:
        given.paper.either(memory.reject(memory_id))


@command(room, "plot", PANEL)
def plot(
    given: CommonOptions,
    kind: Annotated[str, Argument(help="forgetting, growth or sleep.")] = "forgetting",
    out: Annotated[Path | None, Option("--out", help="Write SVG to this file; else draw here.")] = None,
) -> None:
    """How facts fade and were used, how the memory grew, what its nights did."""
    with given.memory() as memory:
        drawn = memory.plot(kind, text=out is None and not given.json)
    if out is None:
        given.paper.either(drawn)
        return
    try:
        out.write_text(drawn, "utf-8")
    except OSError as error:
        raise InputError(f"{str(out)!r} cannot be written ({error.strerror}): name another file") from error
    given.paper.say(f"{kind} drawn to {out}")
