"""Prints the later parts of the demo: sleep passes, shortened messages, deep recall and undo."""

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
"""Parts of the texts of the facts whose curves are drawn."""
SHORTENED: Final = ("goats", "nut cake", "is my aunt")
"""Parts of the texts of the messages that are shown whole and shortened."""


def write_sleep_passes(output: Output, story: Replay) -> str:
    """Print every sleep pass to December that changed something. Returns the id of the run that compressed."""
    _write_curves(output, story)
    quiet: list[float] = []
    compressed = ""
    number, start = 0, time.perf_counter()
    for number, report in enumerate(story.sleep_until_december(), 1):  # noqa: B007 - their number is printed at the end
        if not report.receipts:
            quiet.append(time.perf_counter() - start)
        for receipt in report.receipts:
            if receipt.cause == "sleep/compress":
                compressed = receipt.run_id
            _write_changes(
                output, report, [operation for operation in receipt.applied if isinstance(operation, Add | Change)]
            )
        start = time.perf_counter()
    output.write(
        f"{len(quiet)} of the {number} nights found nothing due, in {1000 * sum(quiet) / len(quiet):.2f} ms each. "
        "Nothing was deleted: what faded is cold, and a deep search finds it.",
        style="dim",
        indent=2,
    )
    return compressed


def _write_curves(output: Output, story: Replay) -> None:
    """Draw the strength of some memories, week by week from March to December, if they are not used."""
    memory = story.memory
    now = story.clock.now
    facts = [fact for fact in memory.get_all() if fact.kind != MESSAGE]
    output.write("strength by week, March to December", style="dim", indent=2)
    for word in CURVES:
        fact = next((fact for fact in facts if word in fact.text), None)
        if fact is None:
            continue
        line = ""
        for week in range(WEEKS):
            story.clock.now = fact.recorded_at + timedelta(weeks=week)
            line += CURVE[min(len(CURVE) - 1, int(memory.strength(fact.id) * len(CURVE)))]
        output.write_row((f"  {line}  ", "cyan"), (one_line(fact.text, max(20, output.width - WEEKS - 4)), "dim"))
    story.clock.now = now


def _write_changes(output: Output, report: "SleepReport", operations: Sequence[Add | Change]) -> None:
    """Print what a stage did: a line for each memory that faded, and the whole text of a summary."""
    at = f"  {report.plan.at:%d %b}  "
    added = [operation.memory for operation in operations if isinstance(operation, Add)]
    for summary in (memory for memory in added if memory.members):
        output.write_row((at, "cyan"), (f"{len(summary.members)} fading memories become one", "green"))
        output.write_row(("        → ", "green"), (summary.text, ""))
        output.write(
            "every name, number and date of them is in it, or it would have been refused", style="dim", indent=10
        )
    for operation in operations:
        if isinstance(operation, Change) and operation.after.phase == "cold" and operation.after.kind != MESSAGE:
            output.write_row(
                (at, "cyan"), ("faded  ", "yellow"), (one_line(operation.after.text, output.width - 17), "")
            )
            output.write(operation.because, style="dim", indent=17)


# ---- shortened messages


def write_shortened_messages(output: Output, story: Replay) -> None:
    """Print some messages whole and as they remain in the hot tier."""
    messages = story.memory.get_all(kinds=[MESSAGE], phases=["active", "core", "cold"])
    for word in SHORTENED:
        message = next(message for message in messages if word in message.text)
        output.write_row(("    ", ""), (f"“{one_line(message.text, 2 * output.width - 8)}”", "dim"))
        output.write_row(("    → ", "green"), (one_line(message.visible_text, output.width - 6), ""))
    hot = _count_words(message.visible_text for message in messages if message.is_searchable)
    output.write(
        f"{_count_words(message.text for message in messages):,} words were said and {hot} stay hot, those that tell most. "
        "Every message lies whole in the cold.",
        style="dim",
        indent=2,
    )


def _count_words(texts: Iterable[str]) -> int:
    return sum(len(text.split()) for text in texts)


# ---- deep recall and undo


def write_revival(output: Output, story: Replay) -> None:
    """Print what a plain and a deep search find for a faded fact, and its strength after its use."""
    revival = story.revive()
    fact = revival.deep.memory
    output.write_row(("  ? ", "bold"), (FORGOTTEN, "bold"))
    output.write_row(("    1 ", "green"), (one_line(revival.plain.text, output.width - 8), ""))
    output.write_row(("  ? ", "bold"), (f"{FORGOTTEN} --deep", "bold"))
    output.write_row(
        ("    1 ", "green"), (one_line(fact.text, output.width - 24), ""), (f"  {fact.phase}, {fact.reason}", "yellow")
    )
    quotes = (source.quote for source in fact.sources if source.quote)
    output.write_row(("      ", ""), (f"“{one_line(next(quotes, fact.text), 2 * output.width - 16)}”", "dim"))
    current = story.memory.get(fact.id)
    output.write(
        f"The agent uses the answer, and it is {current.phase} again: strength {revival.before:.2f} → {revival.after:.2f}.",
        style="dim",
        indent=6,
    )


def write_undo(output: Output, story: Replay, run_id: str) -> None:
    """Print the undo of a compression, and whether the next sleep pass repeats it."""
    output.write_row(("  $ ", "dim"), (f"slowwave undo {run_id}", "bold"))
    members, report = story.undo(run_id)
    for member in members:
        phase = "" if member.is_searchable else "  cold, as it was"
        output.write_row(("        + ", "green"), (one_line(member.text, output.width - 12 - len(phase)) + phase, ""))
    repeated = any(receipt.cause == "sleep/compress" for receipt in report.receipts)
    output.write(
        "The summary is retracted; its members are active again. "
        + (
            "The next sleep pass compresses them again."
            if repeated
            else "The next sleep pass leaves it at that: a person decided."
        ),
        style="dim",
        indent=10,
    )
