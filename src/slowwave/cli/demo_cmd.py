"""The command `demo`: it tells the replay of the bundled conversation, and what to try next."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slowwave.cli.declared import Room, command
from slowwave.cli.demo.replay import FORGOTTEN, HOT_WORDS, QUESTIONS, Replay, Talk, replay
from slowwave.cli.demo.report import nights, revived, undone, words
from slowwave.cli.options import CommonOptions
from slowwave.cli.output import Output, one_line
from slowwave.cli.recall_cmds import MEANS
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operations import Add, Change, Operation, RejectFact
from slowwave.policy.guard.labels import short_name

if TYPE_CHECKING:
    from slowwave.model.query import Hit

room = Room()

KEPT_SHOWN: Final = 3
LATER_SHOWN: Final = 2
"""Facts that are shown of the first talk, with what they rest on, and of each later one."""
ASKED: Final = "What do we serve at the winter opening?"
BUDGET: Final = 300
ITEMS: Final = 4
"""Of each section of a context."""
BAR: Final = 24
NEXT: Final = (
    ("slowwave remember 'I am allergic to walnuts'", "store what was said"),
    ("slowwave recall 'what must not be in my soup?' --why", "find it, with every term of the score"),
    ("slowwave import conversations.zip", "bring your chats: ChatGPT, Claude or JSON lines"),
    ("slowwave consolidate --all", "distil them into facts"),
    ("slowwave sleep --dry-run", "see what a night would do, and why"),
)


@command(room, "demo", "Begin here")
def demo(given: CommonOptions) -> None:
    """Nine months in the life of a memory, in two seconds: offline, no key, nothing stored."""
    with replay() as tale:
        if given.json:
            given.paper.value(_as_json(tale))
        else:
            told(given.paper, tale)


def _as_json(tale: Replay) -> dict[str, object]:
    talks = [
        {
            "conversation": one.name,
            "at": one.at,
            "messages": one.messages,
            "facts": one.result.facts,
            "notes": one.result.notes,
        }
        for one in tale.spring()
    ]
    nights = [report for report in tale.nights() if report.receipts]
    compressed = next(one.run_id for night in nights for one in night.receipts if one.cause == "sleep/compress")
    tale.december()
    questions = [{"question": asked, "hits": tale.memory.search(asked, top_k=3)} for asked in QUESTIONS]
    deep = tale.revived().deep
    return {
        "talks": talks,
        "nights": [report.plan for report in nights],
        "questions": questions,
        "deep": {"question": FORGOTTEN, "hits": [deep]},
        "undone": tale.undone(compressed)[0],
    }


def told(paper: Output, tale: Replay) -> None:
    """Tell the story as it happens."""
    paper.say("Slowwave", style="bold")
    paper.say(
        "Juno runs the museum in a lighthouse. This is her year with an assistant, replayed on its own dates by the "
        "library itself, offline: no model, no key, nothing leaves this machine and nothing is stored.",
        style="dim",
    )
    _heading(paper, "Spring: every message is kept, and what matters becomes facts, with the words they rest on")
    for number, talk in enumerate(tale.spring()):
        _talk(paper, talk, quoted=not number)
    _heading(paper, "Summer and autumn: nobody talks to it, and every night it sleeps on what it has")
    compressed = nights(paper, tale)
    _heading(paper, f"Only {HOT_WORDS} words may stay hot, so messages lose words before they lose their meaning")
    words(paper, tale)
    tale.december()
    _heading(paper, "December: three questions")
    for number, question in enumerate(QUESTIONS):
        _asked(paper, question, tale.memory.search(question, top_k=3), why=not number)
    _heading(paper, "Deep recall: what faded is still there, and use brings it back")
    revived(paper, tale)
    _heading(paper, "Undo: Juno wants her evenings on the stairs back, one by one")
    undone(paper, tale, compressed)
    _heading(paper, f"What a model is given for “{ASKED}”")
    _context(paper, tale)
    _heading(paper, "Your turn")
    name = _runnable()
    lines = [(line.replace("slowwave", name, 1), what) for line, what in NEXT]
    width = max(len(line) for line, _ in lines)
    for line, what in lines:
        paper.row(("  ", ""), (line.ljust(width), "bold"), (f"  {what}", "dim"))


def _runnable() -> str:
    """What to type to run this program: its name, or its path where the shell would not find it."""
    path = Path(sys.argv[0])
    if shutil.which("slowwave") or path.name != "slowwave":
        return "slowwave"
    return shlex.quote(os.path.relpath(path))


def _heading(paper: Output, text: str) -> None:
    paper.say()
    paper.row((text, "bold cyan"))


# ---- spring


def _talk(paper: Output, talk: Talk, *, quoted: bool) -> None:
    paper.row((f"  {talk.at:%d %b}  ", "cyan"), (f"“{talk.name}”, {talk.messages} messages", "dim"))
    done = [operation for receipt in talk.result.receipts for operation in receipt.applied]
    added = [operation.memory for operation in done if isinstance(operation, Add)]
    most = KEPT_SHOWN if quoted else LATER_SHOWN
    for fact in sorted(added, key=_telling)[:most]:
        _line(paper, "+", "green", fact.text, f"“{fact.sources[0].quote}”" if quoted and fact.sources else "")
    more = [f"and {len(added) - most} more"] if len(added) > most else []
    more += [f"1 refused: {one.reason}" for one in done if isinstance(one, RejectFact) and not one.held]
    if more:
        paper.row(("          ", ""), ("; ".join(more), "dim"))
    for mark, colour, text, below in _changes(done):
        _line(paper, mark, colour, text, below)
    if talk.taken_back:
        _line(
            paper,
            "-",
            "yellow",
            "“Don't tell Bas”: Juno takes that one back by hand",
            "retracted, and remembered as such",
        )


def _telling(fact: Memory) -> tuple[bool, bool, float]:
    """Who somebody is comes before what somebody did."""
    return fact.category != "identity", fact.kind == "episodic", -fact.importance


def _changes(done: Iterable[Operation]) -> Iterable[tuple[str, str, str, str]]:
    for operation in done:
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


def _line(paper: Output, mark: str, colour: str, text: str, below: str) -> None:
    paper.row((f"        {mark} ", colour), (one_line(text, paper.width - 12), ""))
    if below:
        paper.row(("          ", ""), (one_line(below, paper.width - 12), "dim"))


# ---- december


def _asked(paper: Output, question: str, hits: "Sequence[Hit]", *, why: bool) -> None:
    paper.say()
    paper.row(("  ? ", "bold"), (question, "bold"))
    for place, hit in enumerate(hits[:2], 1):
        who = (
            f"{short_name(hit.memory.role, hit.memory.speaker)}, {hit.memory.at:%d %b}: "
            if hit.memory.kind == MESSAGE
            else ""
        )
        answer = "; ".join(fact.text for fact in hit.facts)
        mark, style = ("x", "red") if hit.stale else (str(place), "green")
        paper.row((f"    {mark} ", style), (one_line(answer or who + hit.text, paper.width - 8), ""))
        if answer:
            paper.row(("      ", ""), (one_line(f"{who}{hit.text}", paper.width - 8), "dim"))
        if hit.stale:
            paper.row(("      ", ""), (one_line(f"outdated: {hit.because}", paper.width - 8), "yellow"))
        elif why and place == 1:
            _why(paper, hit)


def _why(paper: Output, hit: "Hit") -> None:
    most = max(map(abs, hit.parts.values()), default=1.0)
    for name, value in sorted(hit.parts.items(), key=lambda part: -abs(part[1])):
        bar = "▪" * max(1, round(BAR * abs(value) / most))
        paper.row((f"      {value:+.2f} ", "cyan"), (bar.ljust(BAR), "cyan"), (f" {MEANS.get(name, name)}", "dim"))


def _context(paper: Output, tale: Replay) -> None:
    found = tale.memory.context(ASKED, budget_tokens=BUDGET)
    for section in found.sections:
        paper.say(section.name, style="dim", indent=2)
        for item in section.items[:ITEMS]:
            paper.row(("    · ", "dim"), (one_line(item.text, paper.width - 8), ""))
        if (more := len(section.items) - ITEMS) > 0:
            paper.say(f"and {more} more", style="dim", indent=6)
    paper.say(
        f"{found.tokens} of {BUDGET} tokens, fenced as data: print it with `slowwave context`", style="dim", indent=2
    )
