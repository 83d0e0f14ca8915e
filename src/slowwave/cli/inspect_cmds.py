"""Commands that show what happened and how things stand: history, explain, summaries, runs, status, cost."""

from dataclasses import replace
from typing import Annotated, Final

from slowwave.cli.declared import Option, Room, command
from slowwave.cli.edit_cmds import Identity
from slowwave.cli.options import CommonOptions
from slowwave.cli.output import one_line
from slowwave.cli.recall_cmds import instant
from slowwave.cli.worker_cmd import worker_notes
from slowwave.errors import NotFoundError
from slowwave.model.operations import Add, Change, Operation
from slowwave.model.plan import count_operations, merge_groups
from slowwave.pipelines.admin.agent_commands import summary_coverage
from slowwave.pipelines.conversations import unknown_conversation

room = Room()

PANEL: Final = "Look closer"


@command(room, "explain", PANEL)
def explain(given: CommonOptions, memory_id: Identity) -> None:
    """All about one memory: where it came from, how strong it is, when it fades, what keeps it."""
    with given.memory() as memory:
        given.paper.either(memory.explain(memory_id))


@command(room, "history", PANEL)
def history(given: CommonOptions, memory_id: Identity) -> None:
    """Everything that ever happened to a memory, oldest first."""
    with given.memory() as memory:
        events = memory.history(memory_id)
    if given.json:
        given.paper.value(
            [
                {
                    "run_id": one.run_id,
                    "cause": one.cause,
                    "at": one.at,
                    "because": one.operation.because,
                    "before": _words(one.operation)[0],
                    "after": _words(one.operation)[1],
                }
                for one in events
            ]
        )
        return
    for one in events:
        given.paper.say(f"{one.at:%Y-%m-%d %H:%M}  {one.cause}: {one.operation.because}")
        before, after = _words(one.operation)
        if after is not None:
            given.paper.say(f"{before} → {after}" if before is not None else after, indent=18)
        given.paper.say(f"run {one.run_id}", style="dim", indent=18)


def _words(operation: Operation) -> tuple[str | None, str | None]:
    """What a memory said before an operation and after it, where that tells them apart; None for no words."""
    match operation:
        case Add(memory=memory):
            return None, memory.text
        case Change(before=before, after=after) if before.text != after.text:
            return before.text, after.text
        case Change(before=before, after=after) if before.visible_text != after.visible_text:
            return before.visible_text, after.visible_text
        case _:
            return None, None


@command(room, "summaries", PANEL)
def summaries(
    given: CommonOptions,
    conversation: Annotated[str | None, Option(help="Only of this one; else of all, by name.")] = None,
) -> None:
    """The summaries of long conversations: first the long view, then the stretches it is made of."""
    with given.memory() as memory:
        ports = memory.ports
        if conversation is not None and ports.store.conversation(ports.scope, conversation) is None:
            raise NotFoundError(unknown_conversation(ports, conversation))
        found = memory.summaries(conversation)
    if given.json:
        given.paper.value(found)
        return
    for one in found:
        first, last = one.span or (0, 0)
        sort = "long-term" if one.depth > 1 else "short-term"
        given.paper.say(f"{one.conversation} · messages {first} to {last} · {sort} · {one.id}", style="dim")
        for line in one.text.splitlines():
            given.paper.say(line, indent=2)
    if not found:
        given.paper.say("no summaries yet: slowwave sleep and slowwave compact write them once a conversation is long")


@command(room, "runs", PANEL)
def runs(given: CommonOptions, limit: Annotated[int, Option(min=1, help="How many, the newest first.")] = 20) -> None:
    """The latest runs: what changed memory, why, and the id to undo it by."""
    with given.memory() as memory:
        found = memory.runs(limit)
    if given.json:
        given.paper.value(found)
        return
    for run in found:
        parent = f" of {run.parent}" if run.parent else ""
        given.paper.say(
            f"{run.id}  {run.at:%Y-%m-%d %H:%M}  {run.cause}{parent}: {count_operations(run.plan.operations) or 'its parts'}"
        )
        for group in merge_groups(run.plan.groups)[:3]:
            given.paper.say(one_line(group.because, 200), style="dim", indent=22)
    if not found:
        given.paper.say("nothing happened yet")


@command(room, "status", PANEL)
def status(
    given: CommonOptions,
    conversation: Annotated[str | None, Option(help="Also how this conversation is held in view.")] = None,
) -> None:
    """How this scope stands, in numbers."""
    with given.memory() as memory:
        stands = memory.status()
        view = summary_coverage(memory.ports, conversation) if conversation is not None else []
    told = (*stands.problems, *worker_notes(given, stands.scope))
    given.paper.either(replace(stands, problems=told))
    for line in () if given.json else view:
        given.paper.say(line)


@command(room, "cost", PANEL)
def cost(given: CommonOptions, since: Annotated[str | None, Option(help="From then on.")] = None) -> None:
    """What models have cost so far: calls, tokens, money where a price is known, by cause."""
    with given.memory() as memory:
        given.paper.either(memory.cost(instant(since, "--since")))
