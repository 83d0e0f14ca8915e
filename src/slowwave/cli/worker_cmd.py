"""The commands worker and retry: sleep passes for every scope of a Postgres store, shared among machines."""

import time
from typing import TYPE_CHECKING, Final

import click

from slowwave.cli.options import POSITIVE, STORED, Command, CommonOptions, WholeNumber, common_options
from slowwave.cli.sleep_loop import stopped_by_signals, write_report
from slowwave.errors import InputError, SettingsError, SlowwaveError
from slowwave.model.counted import counted

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.cli.worker_log import WorkerLog
    from slowwave.model.pass_record import PassRecord
    from slowwave.pipelines.sleep.report import SleepReport
    from slowwave.worker import QueueStatus, Worker

REFILL: Final = 1.0
"""Seconds between two looks while more scopes are due than the queue holds."""
MINUTE: Final = 60.0
"""Seconds between two lines of the log that sum up."""
NOT_READABLE: Final = (
    "this login may not read the workers' queue, so waiting and running jobs are not counted: as the workers' login run "
    "`GRANT USAGE ON SCHEMA slowwave_queue TO it; GRANT SELECT ON ALL TABLES IN SCHEMA slowwave_queue TO it`"
)


@click.command(
    "worker",
    cls=Command,
    examples=("slowwave worker --store postgresql://you@host/memory", "slowwave worker --set --per-minute 60"),
)
@click.option("--every", metavar="SPAN", default="60s", show_default=True, help="How often to look for due scopes.")
@click.option("--at-once", type=POSITIVE, help="Sleep passes at once, over all workers; at first 8.")
@click.option("--per-worker", type=POSITIVE, help="Sleep passes at once in each worker; at first 8.")
@click.option(
    "--per-minute",
    type=WholeNumber(min=0),
    help="Sleep passes started a minute, over all workers; spares a shared model. 0: no limit.",
)
@click.option("--set", "set_limits", is_flag=True, help="Change these limits for all workers of the store.")
@click.option("--no-think", is_flag=True, help="Call no model; only do what follows from time.")
@click.option("--health-port", type=int, metavar="PORT", help="Answer /healthz and /readyz over HTTP at this port.")
@common_options
def worker(
    options: CommonOptions,
    every: str,
    at_once: int | None,
    per_worker: int | None,
    per_minute: int | None,
    set_limits: bool,
    no_think: bool,
    health_port: int | None,
) -> None:
    """Run a sleep pass for every due scope of a Postgres store, together with other workers, until stopped.

    The log on the error stream has names of scopes and numbers. --verbose also prints the reports, which quote memories.
    """
    if not _is_on_server(options):
        raise SettingsError(
            "workers need a Postgres store: give --store postgresql://…; for a file use `slowwave sleep --due --every 60s`"
        )
    from slowwave.cli.worker_health import answering_probes  # noqa: PLC0415 - `--help` does without
    from slowwave.cli.worker_log import WorkerLog  # noqa: PLC0415 - `--help` does without
    from slowwave.pipelines.sleep.background import seconds  # noqa: PLC0415 - as above
    from slowwave.worker import Worker, process_name  # noqa: PLC0415 - as above

    pause, log = seconds(every), WorkerLog(process_name(), as_json=options.json)

    with options.memory(create=True) as memory:

        def ended(scope: str, result: "SleepReport | Exception", took: float) -> None:
            record = _pass_record(memory, scope) if isinstance(result, Exception) else None
            log.passed(scope, result, took, record)
            if options.verbose:
                write_report(options, scope, str(result) if isinstance(result, Exception) else result)

        with (
            stopped_by_signals() as stopped,
            answering_probes(health_port, memory, pause) as beat,
            Worker(
                memory,
                options.address,
                at_once=at_once,
                per_worker=per_worker,
                per_minute=per_minute,
                set_limits=set_limits,
                think=not no_think,
                on_progress=ended,
            ) as running,
        ):
            _write_limits(log, running)
            next_look = next_line = time.monotonic()
            while not stopped.wait(max(0.0, min(next_look, next_line) - time.monotonic())):
                now = time.monotonic()
                if now >= next_look:
                    beat()
                    status = _look(running, log)
                    next_look = now + (min(REFILL, pause) if running.more else pause)
                if now >= next_line:
                    log.summed_up(running, status)
                    next_line = now + MINUTE
            log.write("info", "stopping")
        log.write("info", "end")


def _write_limits(log: "WorkerLog", running: "Worker") -> None:
    limits = running.limits
    log.write("info", "begin", at_once=limits.at_once, per_worker=limits.per_worker, per_minute=limits.per_minute)


def _pass_record(memory: "AgentMemory", scope: str) -> "PassRecord | None":
    """How the last passes of a scope ended; None if the server cannot be reached."""
    try:
        return memory.ports.store.pass_record(scope)
    except SlowwaveError:
        return None


def _look(running: "Worker", log: "WorkerLog") -> "QueueStatus | None":
    """Look for due scopes; None if the server cannot be reached."""
    try:
        return running.look()
    except SlowwaveError as error:
        log.write("error", "look-failed", error=type(error).__name__)
        return None


@click.command("retry", cls=Command, examples=("slowwave retry acme/alice", "slowwave retry --all"))
@click.argument("name", metavar="[SCOPE]", required=False)
@click.option("--all", "every", is_flag=True, help="All scopes of the store whose sleep passes failed.")
@common_options(uses=STORED)
def retry(options: CommonOptions, name: str | None, every: bool) -> None:
    """Make scopes whose sleep passes failed due at once, after the cause is gone."""
    scope = name or options.scope
    if (scope is None) is not every:
        raise InputError("name one scope, such as `slowwave retry acme/alice`, or give --all")
    with options.whole_store() as store:
        scopes = store.retry(scope)
    if options.json:
        options.output.write_json({"retried": scopes})
    else:
        options.output.write(
            f"{counted(len(scopes), 'scope')} due at once: the next `slowwave sleep --due`, or a worker, sleeps it"
        )


def worker_notes(options: CommonOptions) -> tuple[str, ...]:
    """What `status` says of the workers' queue: whether this login may not read it."""
    queue = _queue(options)
    return () if queue is None or queue.readable else (NOT_READABLE,)


def queue_report(options: CommonOptions) -> list[tuple[str, bool, str]]:
    """What `doctor` says of the workers' queue; nothing where there is none."""
    queue = _queue(options)
    if queue is None:
        return []
    versions = ", ".join(sorted({one.version for one in queue.workers}))
    at_work = f"{len(queue.workers)} at work" + (f" (version {versions})" if versions else "")
    if not queue.readable:
        return [("workers", True, f"{at_work}; {NOT_READABLE}")]
    counts = f"{counted(len(queue.waiting), 'scope')} waiting, {len(queue.running)} in jobs that run"
    return [("workers", True, f"{at_work}, {counts}")]


def _is_on_server(options: CommonOptions) -> bool:
    return options.address.startswith(("postgresql://", "postgres://"))


def _queue(options: CommonOptions) -> "QueueStatus | None":
    """The state of the queue; None for a store that is no server, and for one that no worker has used."""
    if not _is_on_server(options):
        return None
    from slowwave.worker import queue_status  # noqa: PLC0415 - `--help` does without

    return queue_status(options.address)
