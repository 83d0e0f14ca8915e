"""Commands that keep memory in order: consolidate, sleep, apply, undo, reembed, doctor."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from slowwave.cli.config_cmds import settings_file
from slowwave.cli.edit_cmds import confirm
from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import (
    PATH,
    POSITIVE,
    READING,
    WAITING,
    Command,
    CommonOptions,
    common_options,
    conversation_named,
    conversation_option,
)
from slowwave.cli.output import Output, cause_name, undo_hint, with_undo_command
from slowwave.cli.progress import progress
from slowwave.cli.sleep_loop import sleep_due_scopes, sleep_repeatedly
from slowwave.cli.worker_cmd import queue_report
from slowwave.errors import ConflictError, InputError, NotFoundError, SlowwaveError
from slowwave.model.counted import counted
from slowwave.model.operations import Change
from slowwave.model.plan import Receipt, count_operations

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.pipelines.ingest.distil import ConsolidationResult

RECEIPTS_SHOWN: Final = 5
"""Receipts that `undo` prints one by one; of more it prints the totals, `--verbose` prints all."""
FACTS_SHOWN: Final = 20
"""Facts that `consolidate --all` shows; `--verbose` shows all."""
REFUSED_SHOWN: Final = 3
"""Refused facts that `consolidate` shows; `--verbose` shows all."""


@click.command(
    "consolidate",
    cls=Command,
    examples=("slowwave consolidate --all", "slowwave consolidate --estimate"),
    stray="{0} is not an argument: name a conversation with --conversation '{0}', or read every conversation with --all",
)
@conversation_option("Its name; by default the conversation written to last.")
@click.option("--all", "every", is_flag=True, help="Every conversation with unread messages.")
@click.option(
    "--force",
    is_flag=True,
    hidden=True,
    expose_value=False,
    help="Accepted for older scripts; short conversations are always read.",
)
@click.option("--estimate", is_flag=True, help="Only show what it would cost.")
@common_options
def consolidate(
    options: CommonOptions,
    conversation: str | None,
    every: bool,
    estimate: bool,
) -> int | None:
    """Extract facts from messages. Each fact keeps the quote that it came from."""
    if conversation and every:
        raise InputError("both --conversation and --all: give one of them")
    with options.memory() as memory:
        conversation = conversation_named(memory, conversation)
        if estimate:
            options.output.write_result(memory.estimate(conversation))
            return None
        if every:
            return _consolidate_all(options, memory)
        with progress(options, "reading messages") as shown:
            result = memory.consolidate(conversation, force=True, on_progress=shown)
    if options.json:
        options.output.write_json([{"conversation": conversation, **to_json_value(result)}])
    else:
        _write_consolidation(options.output, conversation, result, verbose=options.verbose)
    return WAITING if _waits(result) else None


def _consolidate_all(options: CommonOptions, memory: "AgentMemory") -> int | None:
    """Read every conversation with unread messages; print those with facts, notes or problems, and the totals."""
    with progress(options, "reading conversations") as shown:
        result = memory.consolidate_all(force=True, on_progress=shown)
        labels = {one.name: one.label for one in memory.conversations()}
    if options.json:
        parts = result.by_conversation.items()
        options.output.write_json([{"conversation": name, **to_json_value(one)} for name, one in parts])
    else:
        left = len(result.facts) if options.verbose else FACTS_SHOWN
        for name, one in result.by_conversation.items():
            if (one.facts and left) or one.problems or (one.notes and not one.facts) or options.verbose:
                shown_part = replace(one, run_id=None)
                _write_consolidation(
                    options.output, labels.get(name, name), shown_part, verbose=options.verbose, facts=left
                )
                left -= min(left, len(one.facts))
        if not options.verbose and (more := len(result.facts) - FACTS_SHOWN) > 0:
            options.output.write(f"{counted(more, 'more fact')}: --verbose shows all", style="dim")
        _write_totals(options.output, result)
    return WAITING if _waits(result) else None


def _write_totals(output: Output, result: "ConsolidationResult") -> None:
    if not result.by_conversation:
        output.write("no new messages: every conversation was read before")
        return
    read = counted(len(result.conversations), "conversation")
    output.write(
        f"{counted(len(result.facts), 'fact')} from {read}, {len(result.rejected)} refused: `slowwave list` lists the facts"
    )
    if result.left:
        left = counted(len(result.left), "conversation")
        output.write(f"{left} not read to the end: the next `slowwave consolidate --all` asks again", indent=2)
    if result.run_id:
        output.write(undo_hint(result.run_id), style="dim", indent=2)


def _waits(result: "ConsolidationResult") -> bool:
    return bool(result.waiting or (result.skipped_reason and result.problems))


def _write_consolidation(
    output: Output, name: str | None, result: "ConsolidationResult", *, verbose: bool, facts: int | None = None
) -> None:
    """Print what a consolidation found in one conversation, with at most so many of its facts."""
    waits = f", {result.waiting} of them waiting for a model: `slowwave sleep` asks again" if result.waiting else ""
    counts = f"{counted(len(result.facts), 'fact')}, {len(result.rejected)} refused{waits}"
    reason = f"; {_skipped_reason(result)}" if result.skipped_reason else ""
    output.write(f"{name + ': ' if name else ''}{counts}{reason}")
    for fact in result.facts[:facts]:
        output.write(f"+ [{fact.category}] {fact.text}", indent=2)
        for note in result.about.get(fact.id, ()):
            output.write(note, style="dim", indent=6)
    notes_of_facts = {note for fact in result.facts for note in result.about.get(fact.id, ())}
    for note in dict.fromkeys(result.notes):
        if note not in notes_of_facts:
            output.write(note, style="dim", indent=4)
    for refused in result.rejected if verbose else result.rejected[:REFUSED_SHOWN]:
        output.write(f"- refused {refused.text!r}: {refused.reason}", style="dim", indent=2)
    for problem in result.problems:
        output.write(f"problem: {problem}", style="yellow", indent=2)
    if result.run_id:
        output.write(undo_hint(result.run_id), style="dim", indent=2)


def _skipped_reason(result: "ConsolidationResult") -> str:
    """Why not all messages were read, and what to do about it."""
    reason = str(result.skipped_reason)
    if reason in result.problems:
        return "the rest stays due: the next `slowwave consolidate` asks again"
    return reason


@click.command("sleep", cls=Command, examples=("slowwave sleep --dry-run", "slowwave sleep --every 8h"))
@click.option("--dry-run", is_flag=True, help="Plan and explain; change nothing.")
@click.option("--no-think", is_flag=True, help="Call no model; only do what follows from time.")
@click.option("--every", metavar="SPAN", help="Repeat after each span, such as 30s, 8h or 1d, until stopped.")
@click.option("--due", is_flag=True, help="Every scope of the store that is due, not only this one.")
@click.option("--save", type=PATH, help="With --dry-run: write the plan to this file, for `slowwave apply`.")
@common_options
def sleep(
    options: CommonOptions, dry_run: bool, no_think: bool, every: str | None, due: bool, save: Path | None
) -> int | None:
    """Run one sleep pass: expire, merge, compress, fade, promote. Nothing is deleted."""
    if dry_run and (due or every is not None):
        raise InputError(f"both --dry-run and {'--due' if due else '--every'}: give one of them")
    if save is not None and not dry_run:
        raise InputError("--save needs --dry-run: it saves the plan")
    if every is not None:
        return sleep_repeatedly(options, every, think=not no_think, due=due)
    with options.memory() as memory:
        if due:
            return WAITING if sleep_due_scopes(options, memory, think=not no_think) else None
        with progress(options, "sleep pass") as shown:
            report = memory.sleep(dry_run=dry_run, think=not no_think, on_progress=shown)
        if save is not None:
            memory.save_plan(report.plan, save)
    output = options.output
    if options.verbose and not options.json:
        output.write(with_undo_command(report.describe(None), report))
    else:
        output.write_result(report)
    if dry_run and not options.verbose and not options.json and report.describe() != report.describe(None):
        output.write("--verbose shows all of each change", style="dim")
    if save is not None and not options.json:
        output.write(f"saved: `slowwave apply {save}` applies it, except where memories change before")
    return WAITING if report.problems else None


@click.command("apply", cls=Command, examples=("slowwave apply plan.json", "slowwave apply plan.json --json"))
@click.argument("plan", type=PATH)
@common_options(uses=READING)
def apply(options: CommonOptions, plan: Path) -> None:
    """Apply a saved plan. Steps whose memories changed in the meantime are skipped.

    PLAN is a file of `slowwave sleep --dry-run --save`.
    """
    with options.memory() as memory:
        saved = memory.load_plan(plan)
        receipts = memory.apply(saved)
    shown = [receipt for receipt in receipts if count_operations(receipt.applied) or receipt.dropped]
    if shown and not any(count_operations(receipt.applied) for receipt in shown):
        dropped = [group for receipt in shown for group in receipt.dropped]
        # A cursor that has moved says little to a person: prefer a group that changes memories.
        reason = max(dropped, key=lambda one: bool(count_operations(one.group.operations))).reason
        raise ConflictError(
            f"nothing of {plan} was done, as memory has changed ({reason}): "
            "`slowwave sleep --dry-run --save` makes a new plan"
        )
    _write_receipts(options, receipts, shown, "nothing to do: that plan changes nothing")
    if shown and saved.parts and not options.json:
        options.output.write(f"run {saved.id}, undo all of it with `slowwave undo {saved.id}`")


@click.command("undo", cls=Command, examples=("slowwave undo --last", "slowwave undo 0ada6q --cascade"))
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--last", is_flag=True, help="The latest run, without asking.")
@click.option("--cascade", is_flag=True, help="Also undo the later runs that depend on it.")
@common_options(uses=READING)
def undo(options: CommonOptions, run: str | None, last: bool, cascade: bool) -> None:
    """Undo a run, or a whole import or sleep pass.

    RUN is the id of a run, or its last characters: slowwave runs lists them. Without it, the latest run is shown, and
    a terminal asks whether to undo it.
    """
    if run is not None and last:
        raise InputError("both RUN and --last: give one of them")
    with options.memory() as memory:
        run_id = _latest_run(memory, asks=not last) if run is None else memory.find_run_id(run)
        try:
            receipts = memory.undo(run_id, cascade=cascade)
        except ConflictError as error:
            if cascade:
                raise
            raise ConflictError(f"{error}: `slowwave undo {run_id} --cascade`") from error
    if len(receipts) > RECEIPTS_SHOWN and not options.json and not options.verbose:
        _write_undo_totals(options.output, receipts)
    else:
        _write_receipts(options, receipts, receipts, "nothing to undo: that run changed nothing")
    if not options.json:
        for name in _unsummarised(receipts):
            command = f"slowwave compact --conversation {shlex.quote(name)}"
            options.output.write(f"to summarise {name} again: `{command}`", style="dim", indent=2)


def _latest_run(memory: "AgentMemory", *, asks: bool) -> str:
    """The id of the run that was written last; with `asks` a person has confirmed it."""
    latest = next(iter(memory.runs(1, parts="none")), None)
    if latest is None:
        raise NotFoundError("there is nothing to undo: nothing happened yet")
    named = f"run {latest.id} ({cause_name(latest)}, {latest.at:%Y-%m-%d %H:%M}: {latest.counted or 'nothing'})"
    refusal = f"nothing was undone: give a RUN, or --last for the latest, {named}"
    confirm(f"Undo the latest {named}?", yes=not asks, refusal=refusal)
    return latest.id


def _unsummarised(receipts: Sequence[Receipt]) -> list[str]:
    """The conversations of which an undo retracted summaries. No sleep pass writes the same summary again."""
    changes = [
        operation.after for receipt in receipts for operation in receipt.applied if isinstance(operation, Change)
    ]
    retracted = [memory for memory in changes if memory.is_cascade and memory.phase == "retracted"]
    return list(dict.fromkeys(memory.conversation for memory in retracted if memory.conversation is not None))


def _write_undo_totals(output: Output, receipts: Sequence[Receipt]) -> None:
    """Print what an undo of many runs did in all."""
    counts = count_operations(operation for receipt in receipts for operation in receipt.applied)
    output.write(f"undone {counted(len(receipts), 'run')}: {counts or 'nothing changed'} in {receipts[0].scope}")
    notes = [note for receipt in receipts for note in receipt.notes]
    for note in dict.fromkeys((*notes, *(problem for receipt in receipts for problem in receipt.problems))):
        output.write(note, style="dim", indent=2)


def _write_receipts(options: CommonOptions, receipts: Sequence[Receipt], shown: Sequence[Receipt], empty: str) -> None:
    """Print all receipts as JSON, or as text those to show, or the sentence for none."""
    if options.json:
        options.output.write_json(receipts)
        return
    for receipt in shown:
        options.output.write_text(receipt)
    if not shown:
        options.output.write(empty)


@click.command("reembed", cls=Command, examples=("slowwave reembed", "slowwave reembed --embedder static"))
@common_options(uses=READING)
def reembed(options: CommonOptions) -> None:
    """Compute a vector of the embedder in use for every memory; needed after a change of embedder."""
    with options.memory() as memory, progress(options, "computing vectors") as shown:
        count = memory.reembed(on_progress=shown)
    if options.json:
        options.output.write_json({"reembedded": count})
    else:
        options.output.write(f"{counted(count, 'memory', 'memories')} got a vector")


@click.command("doctor", cls=Command, examples=("slowwave doctor --deep", "slowwave doctor --deep --repair"))
@click.option("--deep", is_flag=True, help="Also replay the journal and compare the rows.")
@click.option(
    "--repair", is_flag=True, help="First re-seal damaged rows of all scopes where the journal proves their content."
)
@click.option("--this-scope", is_flag=True, help="Read only the rows of the scope that --scope names.")
@click.option("--sample", type=POSITIVE, metavar="N", help="Read only the rows of N scopes, chosen by chance.")
@common_options
def doctor(options: CommonOptions, deep: bool, repair: bool, this_scope: bool, sample: int | None) -> int | None:
    """Check the installation and the store. The exit code is 1 if something is wrong."""
    if this_scope and sample is not None:
        raise InputError("both --this-scope and --sample: give one of them")
    checks: list[tuple[str, bool, str]] = [_check_python()]
    try:
        checks.append(("settings", True, settings_file().removeprefix("settings file ")))
        with options.memory() as memory:
            scopes = [memory.scope] if this_scope else sample
            results = memory.checks(deep=deep, repair=repair, scopes=scopes)
            checks += [(one.check, one.ok, one.found) for one in results]
            checks += queue_report(options)
    except SlowwaveError as error:
        checks.append(("store", False, str(error)))
    output = options.output
    if options.json:
        output.write_json([{"check": name, "ok": ok, "found": found} for name, ok, found in checks])
    else:
        for name, ok, found in checks:
            output.write(f"{'ok     ' if ok else 'PROBLEM'}  {name}: {found}", style="" if ok else "red")
    return None if all(ok for _, ok, _ in checks) else 1


def _check_python() -> tuple[str, bool, str]:
    version = ".".join(map(str, sys.version_info[:3]))
    return "python", sys.version_info >= (3, 11), version
