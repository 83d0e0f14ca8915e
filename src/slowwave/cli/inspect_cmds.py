"""Commands that show the history and the state of a memory: explain, history, summaries, runs, status, cost."""

from collections.abc import Sequence
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
    conversation_option,
    memory_id,
    parse_time,
)
from slowwave.cli.output import format_counts, one_line
from slowwave.cli.worker_cmd import worker_notes
from slowwave.errors import NotFoundError
from slowwave.model.operations import Add, Change, Operation
from slowwave.model.plan import Run, merge_groups

REASON_WIDTH: Final = 200
"""Characters of the reason of a group that `runs` shows."""


@click.command("explain", cls=Command, examples=("slowwave explain 0ada6q00h7z9gd4kt3mn", "slowwave show 0ada6q"))
@memory_id
@common_options(uses=STORED)
def explain(options: CommonOptions, memory_id: str) -> None:
    """Show all about one memory: its sources, its strength, when it fades and what keeps it.

    ID is the id of a memory, or its first characters: search and list print it.
    """
    with options.memory() as memory:
        options.output.write_result(memory.explain(memory.find_id(memory_id)))


@click.command("history", cls=Command, examples=("slowwave history 0ada6q00h7z9gd4kt3mn", "slowwave history 0ada6q"))
@memory_id
@common_options(uses=STORED)
def history(options: CommonOptions, memory_id: str) -> None:
    """Show every change of a memory, the oldest first.

    ID is the id of a memory, or its first characters: search and list print it.
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


@click.command("runs", cls=Command, examples=("slowwave runs", "slowwave runs --limit 5"))
@click.option("--limit", type=POSITIVE, default=20, show_default=True, help="How many, the newest first.")
@common_options(uses=STORED)
def runs(options: CommonOptions, limit: int) -> None:
    """List the latest runs: what changed memory, why, and the id for undo."""
    with options.memory() as memory:
        found = memory.runs(limit)
    output = options.output
    if options.json:
        output.write_json(found)
        return
    for run in found:
        parent = f" of {run.parent}" if run.parent else ""
        parts = f" in {run.part_count:,} part{'' if run.part_count == 1 else 's'}" if run.part_count else ""
        output.write(f"{run.id}  {run.at:%Y-%m-%d %H:%M}  {run.cause}{parent}: {run.counted or 'nothing'}{parts}")
        for group in merge_groups(run.plan.groups)[:3]:
            output.write(one_line(group.because, REASON_WIDTH), style="dim", indent=22)
    if not found:
        output.write("nothing happened yet")


def _parts(run: Run, runs: Sequence[Run]) -> str:
    """What to say of a run without operations of its own: how many of the listed runs belong to it."""
    parts = sum(one.parent == run.id for one in runs)
    return f"{format_counts(parts, 'run')} of it above" if parts else "no changes left to undo"


@click.command("status", cls=Command, examples=("slowwave status", "slowwave status --conversation kitchen"))
@conversation_option("Also show which messages of this conversation are summarised.")
@common_options
def status(options: CommonOptions, conversation: str | None) -> None:
    """Show the state of this scope in numbers."""
    with options.memory() as memory:
        state = memory.status()
        coverage = memory.summary_coverage(conversation) if conversation is not None else []
    problems = (*state.problems, *worker_notes(options, state.scope))
    state = replace(state, problems=problems)
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

    TIME is a date such as 2026-03-14, or 2026-03-14T09:30+01:00; without an offset it is in UTC.
    """
    with options.memory() as memory:
        options.output.write_result(memory.cost(parse_time(since, "--since")))
