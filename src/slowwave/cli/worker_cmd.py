"""The command worker: nights for every scope of a Postgres store, shared among machines."""

from typing import TYPE_CHECKING, Annotated, Final

from slowwave.cli.declared import Option, Room, command
from slowwave.cli.options import WAITING, CommonOptions
from slowwave.cli.output import format_counts
from slowwave.cli.sleep_loop import again, told

if TYPE_CHECKING:
    from slowwave.worker import QueueStatus

room = Room()

PANEL: Final = "Keep in order"
NAMED: Final = 5
"""Dead letters that a doctor names."""


@command(room, "worker", PANEL)
def worker(
    given: CommonOptions,
    every: Annotated[str, Option(metavar="SPAN", help="How often to look for scopes that are due.")] = "60s",
    at_once: Annotated[int, Option(min=1, help="Nights at once, over all workers.")] = 8,
    per_minute: Annotated[
        int | None, Option(min=1, help="Nights begun a minute, over all workers; to spare a shared model.")
    ] = None,
    no_think: Annotated[bool, Option("--no-think", help="Ask no model; only what follows from time.")] = False,
    retry: Annotated[bool, Option("--retry", help="Also try again what failed too often.")] = False,
) -> int | None:
    """Sleep every scope of a Postgres store that is due, together with other workers, until stopped."""
    from slowwave.worker import Worker  # noqa: PLC0415 - `--help` does without

    with (
        given.memory() as memory,
        Worker(
            memory,
            given.address,
            at_once=at_once,
            per_minute=per_minute,
            think=not no_think,
            told=lambda scope, report: told(given, scope, report),
        ) as one,
    ):
        if retry:
            given.paper.say(f"{format_counts(one.retry(), 'dead letter')} to be tried again")
        return WAITING if again(given, every, lambda: _looked(given, one.look())) else None


def _looked(given: CommonOptions, stands: "QueueStatus") -> bool:
    """Say which scopes are left alone; whether there are any."""
    for scope in stands.dead:
        given.paper.say(f"{scope}: left alone, {stands.failed[scope]}: try again with `slowwave worker --retry`")
    return bool(stands.dead)


def worker_notes(given: CommonOptions, scope: str) -> tuple[str, ...]:
    """What a scope should know of the workers' queue: how many scopes are left alone, and whether it is one of them."""
    stands = _standing(given)
    if stands is None or not stands.dead:
        return ()
    this = f", this one too ({stands.failed[scope]})" if scope in stands.dead else ""
    return (f"{format_counts(len(stands.dead), 'dead letter')}{this}: workers leave them alone until `worker --retry`",)


def queue_report(given: CommonOptions) -> list[tuple[str, bool, str]]:
    """How the queue stands, for a doctor; nothing where there is none."""
    stands = _standing(given)
    if stands is None:
        return []
    told = f"{stands.workers} at work, {format_counts(len(stands.waiting), 'scope')} waiting"
    dead = [f"{scope} ({stands.failed[scope]})" for scope in stands.dead]
    letters = f"; left alone until `slowwave worker --retry`: {', '.join(dead[:NAMED])}" if dead else ""
    return [("workers", not dead, told + letters + (f" and {len(dead) - NAMED} more" if dead[NAMED:] else ""))]


def _standing(given: CommonOptions) -> "QueueStatus | None":
    if not given.address.startswith(("postgresql://", "postgres://")):
        return None
    from slowwave.worker import queue_status  # noqa: PLC0415 - `--help` does without

    return queue_status(given.address)
