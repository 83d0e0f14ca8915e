"""Commands that show the history and the state of a memory: explain, history, summaries, runs, run, status, cost."""

from dataclasses import replace
from typing import Final

import click

from slowwave import settings
from slowwave.cli.config_cmds import settings_file
from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import (
    POSITIVE,
    STORED,
    Command,
    CommonOptions,
    common_options,
    conversation_named,
    conversation_option,
    memory_id,
    parse_time,
)
from slowwave.cli.output import STORED_CAUSES, Output, cause_name, one_line
from slowwave.cli.worker_cmd import worker_notes
from slowwave.errors import NotFoundError
from slowwave.model.counted import counted
from slowwave.model.operations import Add, Change, Operation
from slowwave.model.plan import Run, merge_groups

REASON_WIDTH: Final = 200
"""Characters of the reason of a group that `runs` shows."""
REASONS_SHOWN: Final = 3
"""Reasons of each run that `runs` shows; `run` shows all."""


@click.command("explain", cls=Command, examples=("slowwave explain 0ada6q00h7z9gd4kt3mn", "slowwave show 0ada6q"))
@memory_id
@common_options(uses=STORED)
def explain(options: CommonOptions, memory_id: str) -> None:
    """Show all about one memory: its sources, its strength, when it fades and what keeps it.

    ID is the id of a memory, or its last characters: search and list print it.
    """
    with options.memory() as memory:
        options.output.write_result(memory.explain(memory.find_id(memory_id)))


@click.command("history", cls=Command, examples=("slowwave history 0ada6q00h7z9gd4kt3mn", "slowwave history 0ada6q"))
@memory_id
@common_options(uses=STORED)
def history(options: CommonOptions, memory_id: str) -> None:
    """Show every change of a memory, the oldest first.

    ID is the id of a memory, or its last characters: search and list print it.
    """
    with options.memory() as memory:
        events = memory.history(memory.find_id(memory_id))
    output = options.output
    if options.json:
        output.write_json(
            [
                {
                    "run_id": event.run_id,
                    "cause": event.cause,
                    "at": event.at,
                    "because": event.operation.because,
                    "before": _changed_text(event.operation)[0],
                    "after": _changed_text(event.operation)[1],
                }
                for event in events
            ]
        )
        return
    for event in events:
        output.write(f"{event.at:%Y-%m-%d %H:%M}  {event.cause}: {event.operation.because}")
        before, after = _changed_text(event.operation)
        if after is not None:
            output.write(f"{before} → {after}" if before is not None else after, indent=18)
        output.write(f"run {event.run_id}", style="dim", indent=18)


def _changed_text(operation: Operation) -> tuple[str | None, str | None]:
    """The text before and after an operation: None where there is none, and twice None where it did not change."""
    match operation:
        case Add(memory=memory):
            return None, memory.text
        case Change(before=before, after=after) if before.text != after.text:
            return before.text, after.text
        case Change(before=before, after=after) if before.visible_text != after.visible_text:
            return before.visible_text, after.visible_text
        case _:
            return None, None


@click.command("summaries", cls=Command, examples=("slowwave summaries", "slowwave summaries --conversation kitchen"))
@conversation_option("Only this conversation; by default all, by name.")
@common_options(uses=STORED)
def summaries(options: CommonOptions, conversation: str | None) -> None:
    """Show the summaries of long conversations: long-term ones first, then the short-term ones they are made of."""
    with options.memory() as memory:
        conversation = conversation_named(memory, conversation)
        if unknown := memory.unknown_names(conversation=conversation) if conversation is not None else ():
            raise NotFoundError(unknown[0])
        found = memory.summaries(conversation)
    output = options.output
    if options.json:
        output.write_json(found)
        return
    for summary in found:
        first, last = summary.span or (0, 0)
        sort = "long-term" if summary.depth > 1 else "short-term"
        output.write(f"{summary.conversation} · messages {first} to {last} · {sort} · {summary.id}", style="dim")
        for line in summary.text.splitlines():
            output.write(line, indent=2)
    if not found:
        output.write("no summaries yet: `slowwave sleep` and `slowwave compact` write them once a conversation is long")


@click.command("runs", cls=Command, examples=("slowwave runs", "slowwave runs --cause import --limit 5"))
@click.option("--limit", type=POSITIVE, default=20, show_default=True, help="How many, the newest first.")
@click.option("--cause", metavar="NAME", help="Only runs of this cause, such as import or sleep.")
@common_options(uses=STORED)
def runs(options: CommonOptions, limit: int, cause: str | None) -> None:
    """List the latest runs: what changed memory, why, and the id for undo.

    A sleep pass, an import, and a consolidation of several conversations are one entry: `slowwave run ID` shows the
    parts.
    """
    stored = None if cause is None else STORED_CAUSES.get(cause, cause)
    with options.memory() as memory:
        found = memory.runs(limit, cause=stored, parts="none" if stored is None or "/" not in stored else "stages")
    output = options.output
    if options.json:
        output.write_json(found)
        return
    for run in found:
        _write_run(output, run)
        for group in merge_groups(run.plan.groups)[:REASONS_SHOWN]:
            output.write(one_line(group.because, REASON_WIDTH), style="dim", indent=22)
    if not found and cause is not None:
        output.write(f"no run has the cause {cause!r}: `slowwave runs` lists all")
    elif not found:
        output.write("nothing happened yet")


@click.command("run", cls=Command, examples=("slowwave run 0ada6q00h7z9gd4kt3mn", "slowwave run 0ada6q --json"))
@click.argument("run", metavar="RUN")
@common_options(uses=STORED)
def run_(options: CommonOptions, run: str) -> None:
    """Show one run: the reason of each change, and the stages or parts that it consists of.

    RUN is the id of a run, or its last characters: slowwave runs lists them.
    """
    with options.memory() as memory:
        found = memory.run(memory.find_run_id(run))
    output = options.output
    if options.json:
        output.write_json(found)
        return
    _write_run(output, found)
    _write_groups(output, found)
    for part in found.parts:
        _write_run(output, part, indent=2)
        _write_groups(output, part)


def _write_run(output: Output, run: Run, indent: int = 0) -> None:
    """Print one line about a run: its id, its time, its cause and what it did."""
    parent = f" of {run.parent}" if run.parent and not indent else ""
    parts = f" in {counted(run.part_count, 'part')}" if run.part_count else ""
    done = run.counted or ("messages read, nothing to keep" if run.cause.startswith("consolidate") else "nothing")
    output.write(f"{run.id}  {run.at:%Y-%m-%d %H:%M}  {cause_name(run)}{parent}: {done}{parts}", indent=indent)


def _write_groups(output: Output, run: Run) -> None:
    for group in merge_groups(run.plan.groups):
        output.write(one_line(group.because, REASON_WIDTH), style="dim", indent=22)


@click.command("status", cls=Command, examples=("slowwave status", "slowwave status --conversation kitchen"))
@conversation_option("Also show which messages of this conversation are summarised.")
@common_options
def status(options: CommonOptions, conversation: str | None) -> None:
    """Show the state of this scope in numbers."""
    with options.memory() as memory:
        conversation = conversation_named(memory, conversation)
        state = memory.status()
        coverage = memory.summary_coverage(conversation) if conversation is not None else []
    state = replace(state, problems=(*state.problems, *worker_notes(options)))
    if options.json:
        options.output.write_json({**to_json_value(state), "settings": str(settings.file_path())})
        return
    options.output.write_text(state)
    options.output.write(settings_file(), style="dim", indent=2)
    for line in coverage:
        options.output.write(line)


@click.command("cost", cls=Command, examples=("slowwave cost", "slowwave cost --since 2026-03-01"))
@click.option("--since", metavar="TIME", help="Only from this time on.")
@common_options(uses=STORED)
def cost(options: CommonOptions, since: str | None) -> None:
    """Show what models have cost: calls, tokens and, where a price is known, money, by cause.

    TIME is a date such as 2026-03-14, or 2026-03-14T09:30+01:00; without an offset it is in `zone`, else UTC.
    """
    with options.memory() as memory:
        options.output.write_result(memory.cost(parse_time(since, "--since")))
