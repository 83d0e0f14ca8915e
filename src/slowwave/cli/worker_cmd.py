"""The command worker: sleep passes for every scope of a Postgres store, shared among machines."""

from typing import TYPE_CHECKING, Final

import click

from slowwave.cli.options import POSITIVE, WAITING, Command, CommonOptions, common_options
from slowwave.cli.output import format_counts
from slowwave.cli.sleep_loop import repeat_until_stopped, write_report
from slowwave.errors import SettingsError

if TYPE_CHECKING:
    from slowwave.worker import QueueStatus

FAILED_SHOWN: Final = 5
"""Failed scopes that `doctor` names."""


@click.command(
    "worker",
    cls=Command,
    examples=("slowwave worker --store postgresql://you@host/memory", "slowwave worker --every 5m --per-minute 60"),
)
@click.option("--every", metavar="SPAN", default="60s", show_default=True, help="How often to look for due scopes.")
@click.option("--at-once", type=POSITIVE, default=8, show_default=True, help="Sleep passes at once, over all workers.")
@click.option(
    "--per-minute", type=POSITIVE, help="Sleep passes started a minute, over all workers; spares a shared model."
)
@click.option("--no-think", is_flag=True, help="Call no model; only do what follows from time.")
@click.option("--health-port", type=int, metavar="PORT", help="Answer /healthz and /readyz over HTTP at this port.")
@click.option("--retry", is_flag=True, help="Also retry the scopes that failed too often.")
@common_options
def worker(
    options: CommonOptions,
    every: str,
    at_once: int,
    per_minute: int | None,
    no_think: bool,
    health_port: int | None,
    retry: bool,
) -> int | None:
    """Run a sleep pass for every due scope of a Postgres store, together with other workers, until stopped."""
    if not _is_on_server(options):
        raise SettingsError(
            "workers need a Postgres store: give --store postgresql://…; for a file use `slowwave sleep --due --every 60s`"
        )
    from slowwave.cli.worker_health import answering_probes  # noqa: PLC0415 - `--help` does without
    from slowwave.pipelines.sleep.background import seconds  # noqa: PLC0415 - as above
    from slowwave.worker import Worker  # noqa: PLC0415 - as above

    with (
        options.memory(create=True) as memory,
        answering_probes(health_port, memory, seconds(every)) as beat,
        Worker(
            memory,
            options.address,
            at_once=at_once,
            per_minute=per_minute,
            think=not no_think,
            on_progress=lambda scope, report: write_report(options, scope, report),
        ) as running,
    ):
        if retry:
            options.output.write(f"{format_counts(running.retry(), 'dead letter')} to be tried again")

        def look() -> bool:
            beat()
            return _write_failed(options, running.look())

        return WAITING if repeat_until_stopped(options, every, look) else None


def _write_failed(options: CommonOptions, queue: "QueueStatus") -> bool:
    """Name the scopes that workers skip because they failed too often; whether there are any."""
    for scope in queue.dead:
        options.output.write(f"{scope}: left alone, {queue.failed[scope]}: try again with `slowwave worker --retry`")
    return bool(queue.dead)


def worker_notes(options: CommonOptions, scope: str) -> tuple[str, ...]:
    """What `status` says of the workers' queue: how many scopes failed too often, and whether this one is among them."""
    queue = _queue(options)
    if queue is None or not queue.dead:
        return ()
    this = f", this one too ({queue.failed[scope]})" if scope in queue.dead else ""
    return (f"{format_counts(len(queue.dead), 'dead letter')}{this}: workers leave them alone until `worker --retry`",)


def queue_report(options: CommonOptions) -> list[tuple[str, bool, str]]:
    """What `doctor` says of the workers' queue; nothing where there is none."""
    queue = _queue(options)
    if queue is None:
        return []
    counts = f"{queue.workers} at work, {format_counts(len(queue.waiting), 'scope')} waiting"
    failed = [f"{scope} ({queue.failed[scope]})" for scope in queue.dead]
    names = f"; left alone until `slowwave worker --retry`: {', '.join(failed[:FAILED_SHOWN])}" if failed else ""
    more = f" and {len(failed) - FAILED_SHOWN} more" if failed[FAILED_SHOWN:] else ""
    return [("workers", not failed, counts + names + more)]


def _is_on_server(options: CommonOptions) -> bool:
    return options.address.startswith(("postgresql://", "postgres://"))


def _queue(options: CommonOptions) -> "QueueStatus | None":
    """The state of the queue; None for a store that is no server, and for one that no worker has used."""
    if not _is_on_server(options):
        return None
    from slowwave.worker import queue_status  # noqa: PLC0415 - `--help` does without

    return queue_status(options.address)
