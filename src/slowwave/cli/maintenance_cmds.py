"""Commands that keep memory in order: consolidate, sleep, apply, undo, reembed, doctor, backup, copy."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from slowwave.cli.declared import Argument, Option, Room, command
from slowwave.cli.edit_cmds import confirm
from slowwave.cli.json_output import to_json_value
from slowwave.cli.options import WAITING, CommonOptions
from slowwave.cli.output import format_counts
from slowwave.cli.sleep_loop import every_scope, nights
from slowwave.cli.worker_cmd import queue_report
from slowwave.errors import ConflictError, InputError, SlowwaveError
from slowwave.model.plan import count_operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slowwave.agent_memory import AgentMemory
    from slowwave.model.plan import Receipt
    from slowwave.pipelines.ingest.distil import ConsolidationResult

room = Room()

PANEL: Final = "Keep in order"
REFUSED_SHOWN: Final = 3


@command(room, "consolidate", PANEL)
def consolidate(
    given: CommonOptions,
    conversation: Annotated[str | None, Option(help="Its name; else the one written to last.")] = None,
    every: Annotated[bool, Option("--all", help="Every conversation that has something new.")] = False,
    force: Annotated[bool, Option("--force", help="Short ones too.")] = False,
    estimate: Annotated[bool, Option("--estimate", help="Only say what it would cost.")] = False,
) -> int | None:
    """Distil facts out of what was said, each with the words it rests on."""
    if conversation and every:
        raise InputError("both --conversation and --all: give one of them")
    with given.memory() as memory:
        if estimate:
            given.paper.either(memory.estimate(conversation))
            return None
        names = _unread(memory) if every else [conversation]
        results = {}
        for name in names:
            results[name or ""] = result = memory.consolidate(name, force=force or every)
            if not given.json:
                _show(given, name, result)
            if result.skipped_reason and result.problems:
                break  # a model that is down is down for the next one too
    if given.json:
        given.paper.value([{"conversation": name or None, **to_json_value(result)} for name, result in results.items()])
    elif every:
        facts = sum(len(result.facts) for result in results.values())
        told = f"{format_counts(facts, 'fact')} from {format_counts(len(results), 'conversation')}: slowwave facts lists them"
        given.paper.say(f"{told}; each conversation has its own undo above" if len(results) > 1 else told)
    return WAITING if any(one.waiting or (one.skipped_reason and one.problems) for one in results.values()) else None


def _unread(memory: "AgentMemory") -> list[str]:
    from slowwave.pipelines.ingest.chunks import released_messages  # noqa: PLC0415 - `--help` does without

    ports = memory.ports
    found = ports.store.conversations(ports.scope)
    passed_over = {message.conversation for message in released_messages(ports)}
    return [one.name for one in reversed(found) if one.last_seq > one.cursor("distil") or one.name in passed_over]


def _show(given: CommonOptions, name: str | None, result: "ConsolidationResult") -> None:
    paper = given.paper
    waits = f", {result.waiting} of them waiting for a model: slowwave sleep asks again" if result.waiting else ""
    number = f"{format_counts(len(result.facts), 'fact')}, {len(result.rejected)} refused{waits}"
    reason = f"; {_skipped(result)}" if result.skipped_reason else ""
    paper.say(f"{name + ': ' if name else ''}{number}{reason}")
    for fact in result.facts:
        paper.say(f"+ [{fact.category}] {fact.text}", indent=2)
        for note in result.about.get(fact.id, ()):
            paper.say(note, style="dim", indent=6)
    told = {note for fact in result.facts for note in result.about.get(fact.id, ())}
    for note in dict.fromkeys(result.notes):
        if note not in told:
            paper.say(note, style="dim", indent=4)
    for one in result.rejected if given.verbose else result.rejected[:REFUSED_SHOWN]:
        paper.say(f"- refused {one.text!r}: {one.reason}", style="dim", indent=2)
    for problem in result.problems:
        paper.say(f"problem: {problem}", style="yellow", indent=2)
    if result.run_id:
        paper.say(f"run {result.run_id}, undo with `slowwave undo {result.run_id}`", style="dim", indent=2)


def _skipped(result: "ConsolidationResult") -> str:
    """Why not all was read, and what to do about it."""
    reason = str(result.skipped_reason)
    if reason in result.problems:
        return "the rest stays due: the next consolidate asks again"
    if (few := result.too_few) is None:
        return reason
    return f"only {format_counts(few.unread, 'message')} (min {few.minimum}): use --force"


@command(room, "sleep", PANEL)
def sleep(
    given: CommonOptions,
    dry_run: Annotated[bool, Option("--dry-run", help="Plan and explain; change nothing.")] = False,
    no_think: Annotated[bool, Option("--no-think", help="Ask no model; only what follows from time.")] = False,
    every: Annotated[str | None, Option(metavar="SPAN", help="Again and again, such as 8h, until stopped.")] = None,
    due: Annotated[bool, Option("--due", help="Every scope of the store that needs it, not only this one.")] = False,
    save: Annotated[
        Path | None, Option("--save", help="Of a dry run: the plan to this file, for `slowwave apply`.")
    ] = None,
) -> int | None:
    """One night: expire, merge, compress, fade, promote. Nothing is deleted."""
    if dry_run and (due or every is not None):
        raise InputError(f"both --dry-run and {'--due' if due else '--every'}: give one of them")
    if save is not None and not dry_run:
        raise InputError("--save goes with --dry-run: it is a plan that is saved")
    if every is not None:
        return nights(given, every, think=not no_think, due=due)
    with given.memory() as memory:
        if due:
            return WAITING if every_scope(given, memory, think=not no_think) else None
        report = memory.sleep(dry_run=dry_run, think=not no_think)
        if save is not None:
            memory.save_plan(report.plan, save)
    if given.verbose and not given.json:
        given.paper.say(report.told(None))
    else:
        given.paper.either(report)
    if save is not None and not given.json:
        given.paper.say(f"saved: slowwave apply {save} does it, if nothing changes before")
    return WAITING if report.problems else None


@command(room, "apply", PANEL)
def apply(
    given: CommonOptions, plan: Annotated[Path, Argument(help="A file of `slowwave sleep --dry-run --save`.")]
) -> None:
    """Carry out a saved plan, as far as what it was made for is still as it was."""
    with given.memory() as memory:
        saved = memory.load_plan(plan)
        receipts = memory.apply(saved)
    told = [receipt for receipt in receipts if count_operations(receipt.applied) or receipt.dropped]
    if told and not any(count_operations(receipt.applied) for receipt in told):
        dropped = [one for receipt in told for one in receipt.dropped]
        why = max(
            dropped, key=lambda one: bool(count_operations(one.group.operations))
        ).reason  # a cursor tells a person little
        raise ConflictError(
            f"nothing of {plan} was done, as memory has changed ({why}): `slowwave sleep --dry-run --save` makes a new plan"
        )
    _told(given, receipts, told, "nothing to do: that plan changes nothing")
    if told and saved.parts and not given.json:
        given.paper.say(f"run {saved.id}, undo all of it with `slowwave undo {saved.id}`")


@command(room, "undo", PANEL)
def undo(
    given: CommonOptions,
    run: Annotated[str, Argument(help="The id of a run: slowwave runs lists them.")],
    cascade: Annotated[bool, Option("--cascade", help="Also what later runs built on it.")] = False,
) -> None:
    """Take back a run, or a whole night."""
    with given.memory() as memory:
        receipts = memory.undo(run, cascade=cascade)
    _told(given, receipts, receipts, "nothing to take back: that run changed nothing")


def _told(given: CommonOptions, receipts: "Sequence[Receipt]", shown: "Sequence[Receipt]", nothing: str) -> None:
    """All receipts as JSON, or in words those that are worth showing."""
    if given.json:
        given.paper.value(receipts)
        return
    for receipt in shown:
        given.paper.told(receipt)
    if not shown:
        given.paper.say(nothing)


@command(room, "reembed", PANEL)
def reembed(given: CommonOptions) -> None:
    """Give every memory a vector of the embedder in use; after a change of embedder."""
    with given.memory() as memory:
        done = memory.reembed()
    if given.json:
        given.paper.value({"reembedded": done})
    else:
        given.paper.say(f"{done:,} memories got a vector")


@command(room, "doctor", PANEL)
def doctor(
    given: CommonOptions,
    deep: Annotated[bool, Option("--deep", help="Also replay the journal against the rows.")] = False,
    repair: Annotated[
        bool,
        Option("--repair", help="First re-seal damaged rows of all scopes where the journal proves what they hold."),
    ] = False,
) -> int | None:
    """Check the installation and the store; exit code 1 if something is wrong."""
    checks: list[tuple[str, bool, str]] = [_python()]
    try:
        with given.memory() as memory:
            checks += _inside(memory, deep=deep, repair=repair)
            checks += queue_report(given)
    except SlowwaveError as error:
        checks.append(("store", False, str(error)))
    if given.json:
        given.paper.value([{"check": name, "ok": ok, "found": found} for name, ok, found in checks])
    else:
        for name, ok, found in checks:
            given.paper.say(f"{'ok     ' if ok else 'PROBLEM'}  {name}: {found}", style="" if ok else "red")
    return None if all(ok for _, ok, _ in checks) else 1


def _python() -> tuple[str, bool, str]:
    version = ".".join(map(str, sys.version_info[:3]))
    return "python", sys.version_info >= (3, 11), version


def _inside(memory: "AgentMemory", *, deep: bool, repair: bool) -> list[tuple[str, bool, str]]:
    ports = memory.ports
    done = ports.store.repair() if repair else None
    problems = [*(done.refused if done is not None else ()), *memory.doctor(deep=deep)]
    checks = [
        ("store", True, ports.store.name),
        *([("repair", not done.refused, str(done))] if done is not None else []),
        *ports.store.about(),
        *(("store", False, problem) for problem in problems),
        ("mind", True, _mind(ports.mind.name)),
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


def _mind(name: str) -> str:
    """Asking a model costs a call: it is named, not asked."""
    return "offline, rules alone" if name == "offline" else f"{name}, configured and not tried: the next run asks it"


@command(room, "backup", PANEL)
def backup(given: CommonOptions, file: Annotated[Path, Argument(help="A file that does not exist yet.")]) -> None:
    """Write a verified copy of the store, all scopes and history, into a new file; writing may go on meanwhile."""
    if given.address and "://" not in given.address and not Path(given.address).is_file():
        raise InputError(f"{given.address!r} is no file: name the store that is there")
    with given.memory() as memory:
        memory.backup(file)
    size = file.stat().st_size
    if given.json:
        given.paper.value({"path": str(file), "bytes": size})
    else:
        given.paper.say(f"{file}: {size:,} bytes, checked; open it with --store {file}")


@command(room, "copy", PANEL)
def copy(
    given: CommonOptions,
    source: Annotated[str, Argument(help="A file, or postgresql://...")],
    target: Annotated[str | None, Argument(help="Another of either kind; a file is made if it is not there.")] = None,
    give_up: Annotated[
        bool, Option("--give-up", help="Throw away what an interrupted copy left in the one store named.")
    ] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask before throwing away.")] = False,
) -> None:
    """Copy a whole store into another, proven by hashes; run it again to go on after an interruption."""
    from slowwave.stores import make  # noqa: PLC0415 - `--help` does without
    from slowwave.stores.address import checked  # noqa: PLC0415
    from slowwave.stores.copy import copy as copied  # noqa: PLC0415

    if "://" not in checked(source) and not Path(source).is_file():
        raise InputError(f"{source!r} is no file: name the store that is there")
    if give_up:
        if target is not None:
            raise InputError("--give-up takes one store: that which was copied into")
        _give_up(given, source, yes=yes)
        return
    if target is None or source == target:
        raise InputError("name two stores: what to copy, and another to copy it into")
    with closing(make(source)) as old, closing(make(target)) as new:
        done = copied(old, new, told=None if given.json else lambda path: given.paper.say(f"  {path}"))
    if given.json:
        given.paper.value({"scopes": done.scopes, "known": done.known, "rows": done.rows, "hashes": done.hashes})
    else:
        given.paper.say(str(done))


def _give_up(given: CommonOptions, target: str, *, yes: bool) -> None:
    from slowwave.stores import make  # noqa: PLC0415 - `--help` does without
    from slowwave.stores.copy import discard_partial_copy  # noqa: PLC0415

    if not confirm("What was copied in part is thrown away. Go on?", yes=yes):
        raise InputError("nothing was thrown away: say --yes, or run the copy again to finish it")
    with closing(make(target)) as store:
        number = discard_partial_copy(store)
    if given.json:
        given.paper.value({"thrown_away": number})
    else:
        given.paper.say(f"{number} scopes that were copied only in part are thrown away")
