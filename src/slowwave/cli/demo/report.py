"""What the demo tells of its nights: what faded and was compressed, which words went, what deep recall finds, an undo."""

import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from slowwave.cli.demo.replay import FORGOTTEN, Replay
from slowwave.cli.output import Output, one_line
from slowwave.model.memory import MESSAGE
from slowwave.model.operations import Add, Change

if TYPE_CHECKING:
    from slowwave.pipelines.sleep.report import SleepReport

CURVE: Final = "▁▂▃▄▅▆▇█"
WEEKS: Final = 39
CURVES: Final = ("bullet", "soup is", "first landing")
"""Words of the facts whose curves are drawn."""
NOTED: Final = ("goats", "nut cake", "is my aunt")
"""Words of the messages that are shown as they were said and as they were noted."""


def nights(paper: Output, tale: Replay) -> str:
    """Tell of every night to December that had news; the run of the night that compressed."""
    _curves(paper, tale)
    quiet: list[float] = []
    compressed = ""
    number, start = 0, time.perf_counter()
    for number, report in enumerate(tale.nights(), 1):  # noqa: B007 - how many there were is told at the end
        if not report.receipts:
            quiet.append(time.perf_counter() - start)
        for receipt in report.receipts:
            if receipt.cause == "sleep/compress":
                compressed = receipt.run_id
            _news(paper, report, [one for one in receipt.applied if isinstance(one, Add | Change)])
        start = time.perf_counter()
    paper.say(
        f"{len(quiet)} of the {number} nights found nothing due, in {1000 * sum(quiet) / len(quiet):.2f} ms each. "
        "Nothing was deleted: what faded is cold, and a deep search finds it.",
        style="dim",
        indent=2,
    )
    return compressed


def _curves(paper: Output, tale: Replay) -> None:
    """How strong some memories are, week by week from March to December, if nothing touches them."""
    memory = tale.memory
    now = tale.clock.now
    facts = [fact for fact in memory.get_all() if fact.kind != MESSAGE]
    paper.say("strength by week, March to December", style="dim", indent=2)
    for word in CURVES:
        fact = next((one for one in facts if word in one.text), None)
        if fact is None:
            continue
        line = ""
        for week in range(WEEKS):
            tale.clock.now = fact.recorded_at + timedelta(weeks=week)
            line += CURVE[min(len(CURVE) - 1, int(memory.strength(fact.id) * len(CURVE)))]
        paper.row((f"  {line}  ", "cyan"), (one_line(fact.text, max(20, paper.width - WEEKS - 4)), "dim"))
    tale.clock.now = now


def _news(paper: Output, report: "SleepReport", operations: Sequence[Add | Change]) -> None:
    """What a stage of a night did: one line for each memory that faded, all of a summary."""
    at = f"  {report.plan.at:%d %b}  "
    summaries = [one.memory for one in operations if isinstance(one, Add) and one.memory.members]
    for summary in summaries:
        paper.row((at, "cyan"), (f"{len(summary.members)} fading memories become one", "green"))
        paper.row(("        → ", "green"), (summary.text, ""))
        paper.say("every name, number and date of them is in it, or it would have been refused", style="dim", indent=10)
    for one in operations:
        if isinstance(one, Change) and one.after.phase == "cold" and one.after.kind != MESSAGE:
            paper.row((at, "cyan"), ("faded  ", "yellow"), (one_line(one.after.text, paper.width - 17), ""))
            paper.say(one.because, style="dim", indent=17)


# ---- words


def words(paper: Output, tale: Replay) -> None:
    """Which words of what was said are left in the hot store."""
    messages = tale.memory.get_all(kinds=[MESSAGE], phases=["active", "core", "cold"])
    for word in NOTED:
        one = next(one for one in messages if word in one.text)
        paper.row(("    ", ""), (f"“{one_line(one.text, 2 * paper.width - 8)}”", "dim"))
        paper.row(("    → ", "green"), (one_line(one.visible_text, paper.width - 6), ""))
    left = _count(one.visible_text for one in messages if one.is_searchable)
    paper.say(
        f"{_count(one.text for one in messages):,} words were said and {left} stay hot, those that tell most. "
        "Every message lies whole in the cold.",
        style="dim",
        indent=2,
    )


def _count(texts: Iterable[str]) -> int:
    return sum(len(text.split()) for text in texts)


# ---- what is cold, and what is taken back


def revived(paper: Output, tale: Replay) -> None:
    """A question whose fact has faded: what a search finds, and a deep one, and what use does."""
    became = tale.revived()
    fact = became.deep.facts[0]
    paper.row(("  ? ", "bold"), (FORGOTTEN, "bold"))
    paper.row(("    1 ", "green"), (one_line(became.found.text, paper.width - 8), ""))
    paper.row(("  ? ", "bold"), (f"{FORGOTTEN} --deep", "bold"))
    paper.row(
        ("    1 ", "green"), (one_line(fact.text, paper.width - 24), ""), (f"  {fact.phase}, {fact.reason}", "yellow")
    )
    paper.row(("      ", ""), (f"“{one_line(became.deep.text, 2 * paper.width - 16)}”", "dim"))
    stands = tale.memory.get(fact.id)
    paper.say(
        f"The agent uses the answer, and it is {stands.phase} again: strength {became.before:.2f} → {became.after:.2f}.",
        style="dim",
        indent=6,
    )


def undone(paper: Output, tale: Replay, run_id: str) -> None:
    """The night that compressed is taken back, and the next one leaves it at that."""
    paper.row(("  $ ", "dim"), (f"slowwave undo {run_id}", "bold"))
    back, report = tale.undone(run_id)
    for one in back:
        phase = "" if one.is_searchable else "  cold, as it was"
        paper.row(("        + ", "green"), (one_line(one.text, paper.width - 12 - len(phase)) + phase, ""))
    again = any(one.cause == "sleep/compress" for one in report.receipts)
    paper.say(
        "The summary is retracted; its members stand again. "
        + ("The next night compresses them anew." if again else "The next night leaves it at that: a person decided."),
        style="dim",
        indent=10,
    )
