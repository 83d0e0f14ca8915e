"""Commands that keep memory in order: consolidate, sleep, apply, undo, reembed, doctor."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import PATH, WAITING, Command, CommonOptions, common_options
from slowwave.cli.output import Output, format_counts
from slowwave.cli.sleep_loop import sleep_due_scopes, sleep_repeatedly
from slowwave.cli.worker_cmd import queue_report
from slowwave.errors import ConflictError, InputError, SlowwaveError
from slowwave.model.plan import Receipt, count_operations

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.pipelines.ingest.distil import ConsolidationResult

REFUSED_SHOWN: Final = 3
"""Refused facts that `consolidate` shows; `--verbose` shows all."""


@click.command("consolidate", cls=Command, epilog="Example: slowwave consolidate --all")
@click.option("--conversation", help="Its name; by default the conversation written to last.")
@click.option("--all", "every", is_flag=True, help="Every conversation with messages that were not read yet.")
@click.option("--force", is_flag=True, help="Also short conversations.")
@click.option("--estimate", is_flag=True, help="Only show what it would cost.")
@common_options
def consolidate(
    options: CommonOptions, conversation: str | None, every: bool, force: bool, estimate: bool
) -> int | None:
    """Extract facts from messages, each with the words it rests on."""
    if conversation and every:
        raise InputError("both --conversation and --all: give one of them")
    output = options.output
    with options.memory() as memory:
        if estimate:
            output.write_result(memory.estimate(conversation))
            return None
        names = _unread_conversations(memory) if every else [conversation]
        results = {}
        for name in names:
            results[name or ""] = result = memory.consolidate(name, force=force or every)
            if not options.json:
                _write_consolidation(output, name, result, verbose=options.verbose)
            if result.skipped_reason and result.problems:
                break  # a model that cannot be reached fails for the next conversation too
    if options.json:
        output.write_json([{"conversation": name or None, **to_json_value(result)} for name, result in results.items()])
    elif every:
        facts = sum(len(result.facts) for result in results.values())
        counts = f"{format_counts(facts, 'fact')} from {format_counts(len(results), 'conversation')}"
        undo = "; each conversation has its own undo above" if len(results) > 1 else ""
        output.write(f"{counts}: slowwave facts lists them{undo}")
    waits = any(result.waiting or (result.skipped_reason and result.problems) for result in results.values())
    return WAITING if waits else None


def _unread_conversations(memory: "AgentMemory") -> list[str]:
    """The names of the conversations with messages that were not distilled yet, or that were skipped and released."""
    from slowwave.pipelines.ingest.chunks import released_messages  # noqa: PLC0415 - `--help` does without

    ports = memory.ports
    released = {message.conversation for message in released_messages(ports)}
    return [
        conversation.name
        for conversation in reversed(ports.store.conversations(ports.scope))
        if conversation.last_seq > conversation.cursor("distil") or conversation.name in released
    ]


def _write_consolidation(output: Output, name: str | None, result: "ConsolidationResult", *, verbose: bool) -> None:
    waits = f", {result.waiting} of them waiting for a model: slowwave sleep asks again" if result.waiting else ""
    counts = f"{format_counts(len(result.facts), 'fact')}, {len(result.rejected)} refused{waits}"
    reason = f"; {_skipped_reason(result)}" if result.skipped_reason else ""
    output.write(f"{name + ': ' if name else ''}{counts}{reason}")
    for fact in result.facts:
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
        output.write(f"run {result.run_id}, undo with `slowwave undo {result.run_id}`", style="dim", indent=2)


def _skipped_reason(result: "ConsolidationResult") -> str:
    """Why not all messages were read, and what to do about it."""
    reason = str(result.skipped_reason)
    if reason in result.problems:
        return "the rest stays due: the next consolidate asks again"
    if (few := result.too_few) is None:
        return reason
    return f"only {format_counts(few.unread, 'message')} (min {few.minimum}): use --force"


@click.command("sleep", cls=Command, epilog="Example: slowwave sleep --dry-run")
@click.option("--dry-run", is_flag=True, help="Plan and explain; change nothing.")
@click.option("--no-think", is_flag=True, help="Call no model; only do what follows from time.")
@click.option("--every", metavar="SPAN", help="Repeat after each span, such as 8h, until stopped.")
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
        report = memory.sleep(dry_run=dry_run, think=not no_think)
        if save is not None:
            memory.save_plan(report.plan, save)
    output = options.output
    if options.verbose and not options.json:
        output.write(report.told(None))
    else:
        output.write_result(report)
    if save is not None and not options.json:
        output.write(f"saved: slowwave apply {save} does it, if nothing changes before")
    return WAITING if report.problems else None


@click.command("apply", cls=Command, epilog="Example: slowwave apply plan.json")
@click.argument("plan", type=PATH)
@common_options
def apply(options: CommonOptions, plan: Path) -> None:
    """Carry out a saved plan, except for memories that have changed since it was made.

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


@click.command("undo", cls=Command, epilog="Example: slowwave undo 0ada6q00h7z9gd4kt3mn --cascade")
@click.argument("run")
@click.option("--cascade", is_flag=True, help="Also undo the later runs that rest on it.")
@common_options
def undo(options: CommonOptions, run: str, cascade: bool) -> None:
    """Undo a run, or a whole sleep pass.

    RUN is the id of a run: slowwave runs lists them.
    """
    with options.memory() as memory:
        receipts = memory.undo(run, cascade=cascade)
    _write_receipts(options, receipts, receipts, "nothing to take back: that run changed nothing")


def _write_receipts(options: CommonOptions, receipts: Sequence[Receipt], shown: Sequence[Receipt], empty: str) -> None:
    """Print all receipts as JSON, or as text those to show, or the sentence for none."""
    if options.json:
        options.output.write_json(receipts)
        return
    for receipt in shown:
        options.output.write_text(receipt)
    if not shown:
        options.output.write(empty)


@click.command("reembed", cls=Command, epilog="Example: slowwave reembed --embedder static")
@common_options
def reembed(options: CommonOptions) -> None:
    """Compute a vector of the embedder in use for every memory; needed after a change of embedder."""
    with options.memory() as memory:
        count = memory.reembed()
    if options.json:
        options.output.write_json({"reembedded": count})
    else:
        options.output.write(f"{count:,} memories got a vector")


@click.command("doctor", cls=Command, epilog="Example: slowwave doctor --deep")
@click.option("--deep", is_flag=True, help="Also replay the journal and compare the rows.")
@click.option(
    "--repair", is_flag=True, help="First re-seal damaged rows of all scopes where the journal proves their content."
)
@common_options
def doctor(options: CommonOptions, deep: bool, repair: bool) -> int | None:
    """Check the installation and the store. The exit code is 1 if something is wrong."""
    checks: list[tuple[str, bool, str]] = [_check_python()]
    try:
        with options.memory() as memory:
            checks += _check_memory(memory, deep=deep, repair=repair)
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


def _check_memory(memory: "AgentMemory", *, deep: bool, repair: bool) -> list[tuple[str, bool, str]]:
    """The checks of an open memory: its name, whether it is in order, and a sentence."""
    ports = memory.ports
    repaired = ports.store.repair() if repair else None
    problems = [*(repaired.refused if repaired is not None else ()), *memory.doctor(deep=deep)]
    checks = [
        ("store", True, ports.store.name),
        *([("repair", not repaired.refused, str(repaired))] if repaired is not None else []),
        *ports.store.about(),
        *(("store", False, problem) for problem in problems),
        ("mind", True, _describe_mind(ports.mind.name)),
    ]
    try:
        width = int(ports.embed(["a sentence to try it"]).shape[1])
        name = ports.embedder.name if ports.embedder else "none"
        checks.append(("embedder", True, f"{name}, {width} numbers a text"))
    except SlowwaveError as error:
        checks.append(("embedder", False, str(error)))
    status = memory.status()
    if status.waiting:
        checks.append(("waiting", False, f"{status.waiting} facts wait for a model: slowwave sleep tries again"))
    if status.unembedded:
        checks.append(("vectors", False, f"{status.unembedded:,} memories have no vector of it: slowwave reembed"))
    return checks


def _describe_mind(name: str) -> str:
    """The mind by its name; a model is not called, because a call costs money."""
    return "offline, rules alone" if name == "offline" else f"{name}, configured and not tried: the next run asks it"
