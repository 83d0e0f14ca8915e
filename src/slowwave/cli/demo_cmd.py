"""The command `demo`: prints the replay of the bundled conversation, and commands to try next."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from slowwave.cli.demo.replay import FORGOTTEN, HOT_WORDS, QUESTIONS, Replay, Session, replay
from slowwave.cli.demo.report import write_revival, write_shortened_messages, write_sleep_passes, write_undo
from slowwave.cli.options import Command, CommonOptions, common_options
from slowwave.cli.output import Output, one_line
from slowwave.cli.recall_cmds import PART_MEANINGS
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operations import Add, Change, Operation, RejectFact
from slowwave.policy.guard.labels import short_name

if TYPE_CHECKING:
    from slowwave.model.query import Hit

FIRST_SHOWN: Final = 3
"""Facts that are shown of the first conversation, each with its quote."""
LATER_SHOWN: Final = 2
"""Facts that are shown of each later conversation."""
CONTEXT_QUERY: Final = "What do we serve at the winter opening?"
BUDGET: Final = 300
ITEMS_SHOWN: Final = 4
"""Items that are shown of each section of a context."""
BAR_WIDTH: Final = 24
PURPOSE_WIDTH: Final = 24
"""Columns that the purpose of a command needs beside it."""
NEXT: Final = (
    ("slowwave remember 'I am allergic to walnuts'", "store what was said"),
    ("slowwave search 'what must not be in my soup?' --why", "find it, with every term of the score"),
    ("slowwave import conversations.zip", "bring your chats: ChatGPT, Claude or JSON lines"),
    ("slowwave consolidate --all", "extract facts from them"),
    ("slowwave sleep --dry-run", "see what a sleep pass would do, and why"),
)


@click.command("demo", cls=Command, examples=("slowwave demo", "slowwave demo --json"))
@common_options(uses=("json",))
def demo(options: CommonOptions) -> None:
    """Replay nine months of a memory in two seconds: offline, without a key. Nothing is stored."""
    with replay() as story:
        if options.json:
            options.output.write_json(_as_json(story))
        else:
            write_story(options.output, story)


def _as_json(story: Replay) -> dict[str, object]:
    sessions = [
        {
            "conversation": session.name,
            "at": session.at,
            "messages": session.messages,
            "facts": session.result.facts,
            "notes": session.result.notes,
        }
        for session in story.play_conversations()
    ]
    reports = [report for report in story.sleep_until_december() if report.receipts]
    receipts = [receipt for report in reports for receipt in report.receipts]
    compressed = next(receipt.run_id for receipt in receipts if receipt.cause == "sleep/compress")
    story.begin_december()
    questions = [{"question": question, "hits": story.memory.search(question, top_k=3)} for question in QUESTIONS]
    deep = story.revive().deep
    return {
        "talks": sessions,
        "passes": [report.plan for report in reports],
        "questions": questions,
        "deep": {"question": FORGOTTEN, "hits": [deep]},
        "undone": story.undo(compressed)[0],
    }


def write_story(output: Output, story: Replay) -> None:
    """Print the replay step by step."""
    output.write("Slowwave", style="bold")
    output.write(
        "Juno runs the museum in a lighthouse. This is her year with an assistant, replayed on its own dates by the "
        "library itself, offline: no model, no key, nothing leaves this machine and nothing is stored.",
        style="dim",
    )
    _write_heading(output, "Spring: every message is kept, and what matters becomes facts, with the words they rest on")
    for number, session in enumerate(story.play_conversations()):
        _write_session(output, session, quoted=not number)
    _write_heading(output, "Summer and autumn: no new messages, and a sleep pass every night")
    compressed = write_sleep_passes(output, story)
    _write_heading(
        output, f"Only {HOT_WORDS} words may stay hot, so messages lose words before they lose their meaning"
    )
    write_shortened_messages(output, story)
    story.begin_december()
    _write_heading(output, "December: three questions")
    for number, question in enumerate(QUESTIONS):
        _write_question(output, question, story.memory.search(question, top_k=3), why=not number)
    _write_heading(output, "Deep recall: what faded is still there, and use brings it back")
    write_revival(output, story)
    _write_heading(output, "Undo: Juno wants her evenings on the stairs back, one by one")
    write_undo(output, story, compressed)
    _write_heading(output, f"What a model is given for “{CONTEXT_QUERY}”")
    _write_context(output, story)
    _write_heading(output, "Your turn")
    program = _program()
    lines = [(line.replace("slowwave", program, 1), purpose) for line, purpose in NEXT]
    width = max(len(line) for line, _ in lines)
    beside = width + PURPOSE_WIDTH <= output.width
    for line, purpose in lines:
        if beside:
            output.write_row(("  ", ""), (line.ljust(width), "bold"), (f"  {purpose}", "dim"))
        else:
            output.write_row(("  ", ""), (line, "bold"), ("", ""))
            output.write(purpose, style="dim", indent=4)


def _program() -> str:
    """How to call this program: by its name, or by its path where the shell would not find the name."""
    path = Path(sys.argv[0])
    if shutil.which("slowwave") or path.name != "slowwave":
        return "slowwave"
    return shlex.quote(os.path.relpath(path))


def _write_heading(output: Output, text: str) -> None:
    output.write()
    output.write_row((text, "bold cyan"))


# ---- conversations


def _write_session(output: Output, session: Session, *, quoted: bool) -> None:
    output.write_row((f"  {session.at:%d %b}  ", "cyan"), (f"“{session.name}”, {session.messages} messages", "dim"))
    operations = [operation for receipt in session.result.receipts for operation in receipt.applied]
    added = [operation.memory for operation in operations if isinstance(operation, Add)]
    shown = FIRST_SHOWN if quoted else LATER_SHOWN
    for fact in sorted(added, key=_display_order)[:shown]:
        _write_line(output, "+", "green", fact.text, f"“{fact.sources[0].quote}”" if quoted and fact.sources else "")
    more = [f"and {len(added) - shown} more"] if len(added) > shown else []
    refused = [operation for operation in operations if isinstance(operation, RejectFact) and not operation.held]
    more += [f"1 refused: {fact.reason}" for fact in refused]
    if more:
        output.write_row(("          ", ""), ("; ".join(more), "dim"))
    for mark, colour, text, below in _changes(operations):
        _write_line(output, mark, colour, text, below)
    if session.retraction:
        _write_line(
            output,
            "-",
            "yellow",
            "“Don't tell Bas”: Juno takes that one back by hand",
            "retracted, and remembered as such",
        )


def _display_order(fact: Memory) -> tuple[bool, bool, float]:
    """Identities first, events last, important facts before others."""
    return fact.category != "identity", fact.kind == "episodic", -fact.importance


def _changes(operations: Iterable[Operation]) -> Iterable[tuple[str, str, str, str]]:
    """The mark, colour, text and explanation of each change of a known fact, and of each refusal by a person."""
    for operation in operations:
        match operation:
            case Change(before=before, after=after) if after.phase == "superseded":
                yield (
                    "~",
                    "yellow",
                    f"no longer current: {before.text}",
                    "kept, with the day it ended and what replaced it",
                )
            case Change(before=before, after=after) if len(after.sources) > len(before.sources):
                yield (
                    "=",
                    "blue",
                    f"said before: {after.text}",
                    f"one fact, now resting on {len(after.sources)} messages",
                )
            case RejectFact() if operation.held:
                yield "x", "red", f"refused: {operation.text}", f"because {operation.reason}"


def _write_line(output: Output, mark: str, colour: str, text: str, below: str) -> None:
    output.write_row((f"        {mark} ", colour), (one_line(text, output.width - 12), ""))
    if below:
        output.write_row(("          ", ""), (one_line(below, output.width - 12), "dim"))


# ---- questions and context


def _write_question(output: Output, question: str, hits: "Sequence[Hit]", *, why: bool) -> None:
    output.write()
    output.write_row(("  ? ", "bold"), (question, "bold"))
    for place, hit in enumerate(hits[:4], 1):
        speaker = (
            f"{short_name(hit.memory.role, hit.memory.speaker)}, {hit.memory.at:%d %b}: "
            if hit.memory.kind == MESSAGE
            else ""
        )
        mark, style = ("x", "red") if hit.stale else (str(place), "green")
        output.write_row((f"    {mark} ", style), (one_line(speaker + hit.text, output.width - 8), ""))
        if hit.stale:
            output.write_row(("      ", ""), (one_line(f"outdated: {hit.because}", output.width - 8), "yellow"))
        elif why and place == 1:
            _write_parts(output, hit)


def _write_parts(output: Output, hit: "Hit") -> None:
    largest = max(map(abs, hit.parts.values()), default=1.0)
    for name, value in sorted(hit.parts.items(), key=lambda part: -abs(part[1])):
        bar = "▪" * max(1, round(BAR_WIDTH * abs(value) / largest))
        output.write_row(
            (f"      {value:+.2f} ", "cyan"),
            (bar.ljust(BAR_WIDTH), "cyan"),
            (f" {PART_MEANINGS.get(name, name)}", "dim"),
        )


def _write_context(output: Output, story: Replay) -> None:
    context = story.memory.context(CONTEXT_QUERY, budget_tokens=BUDGET)
    for section in context.sections:
        output.write(section.name, style="dim", indent=2)
        for item in section.items[:ITEMS_SHOWN]:
            output.write_row(("    · ", "dim"), (one_line(item.text, output.width - 8), ""))
        if (more := len(section.items) - ITEMS_SHOWN) > 0:
            output.write(f"and {more} more", style="dim", indent=6)
    output.write(
        f"{context.tokens} of {BUDGET} tokens, fenced as data: print it with `slowwave context`", style="dim", indent=2
    )
