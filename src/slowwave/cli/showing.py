"""Commands that show what happened and how things stand: history, explain, runs, status, cost."""

from dataclasses import replace
from typing import Annotated, Final

from slowwave.cli.asking import instant
from slowwave.cli.declared import Option, Room, command
from slowwave.cli.editing import Identity
from slowwave.cli.given import Given
from slowwave.cli.paper import one_line
from slowwave.cli.working import letters
from slowwave.model.plan import joined, tally

room = Room()

PANEL: Final = "Look closer"


@command(room, "explain", PANEL)
def explain(given: Given, memory_id: Identity) -> None:
    """All about one memory: where it came from, how strong it is, when it fades, what keeps it."""
    with given.memory() as memory:
        given.paper.either(memory.explain(memory_id))


@command(room, "history", PANEL)
def history(given: Given, memory_id: Identity) -> None:
    """Everything that ever happened to a memory, oldest first."""
    with given.memory() as memory:
        events = memory.history(memory_id)
    if given.json:
        given.paper.value(
            [
                {"run_id": one.run_id, "cause": one.cause, "at": one.at, "because": one.operation.because}
                for one in events
            ]
        )
        return
    for one in events:
        given.paper.say(f"{one.at:%Y-%m-%d %H:%M}  {one.cause}: {one.operation.because}")
        given.paper.say(f"run {one.run_id}", style="dim", indent=18)


@command(room, "runs", PANEL)
def runs(given: Given, limit: Annotated[int, Option(min=1, help="How many, the newest first.")] = 20) -> None:
    """The latest runs: what changed memory, why, and the id to undo it by."""
    with given.memory() as memory:
        found = memory.runs(limit)
    if given.json:
        given.paper.value(found)
        return
    for run in found:
        parent = f" of {run.parent}" if run.parent else ""
        given.paper.say(
            f"{run.id}  {run.at:%Y-%m-%d %H:%M}  {run.cause}{parent}: {tally(run.plan.operations) or 'its parts'}"
        )
        for group in joined(run.plan.groups)[:3]:
            given.paper.say(one_line(group.because, 200), style="dim", indent=22)
    if not found:
        given.paper.say("nothing happened yet")


@command(room, "status", PANEL)
def status(given: Given) -> None:
    """How this scope stands, in numbers."""
    with given.memory() as memory:
        stands = memory.status()
    told = (*stands.problems, *letters(given, stands.scope))
    given.paper.either(replace(stands, problems=told))


@command(room, "cost", PANEL)
def cost(given: Given, since: Annotated[str | None, Option(help="From then on.")] = None) -> None:
    """What models have cost so far: calls, tokens, money where a price is known, by cause."""
    with given.memory() as memory:
        given.paper.either(memory.cost(instant(since, "--since")))
