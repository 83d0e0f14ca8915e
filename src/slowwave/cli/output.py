"""Writes results to the terminal."""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import singledispatch
from typing import TYPE_CHECKING, Final

from slowwave.cli.json_output import to_json_value
from slowwave.model.counted import counted
from slowwave.model.memory import MESSAGE, NOTE
from slowwave.model.operations import Add, Change
from slowwave.model.plan import Receipt, Run, count_operations, reversible_run
from slowwave.policy.guard.trust import ORDER

if TYPE_CHECKING:
    from rich.console import Console


@singledispatch
def format_receipt(value: object) -> str:
    """A value as text in lines. Where it names its run, the command that reverses the run is added."""
    return with_undo_command(str(value), value)


@format_receipt.register
def _(value: Receipt) -> str:
    first = f"{', '.join(_changes(value)) or 'nothing changed'} in {value.scope}"
    first += f", {len(value.dropped)} dropped as out of date" if value.dropped else ""
    first += f", {counted(value.waiting, 'fact')} waiting for a model" if value.waiting else ""
    notes = (
        *value.notes,
        *value.problems,
        *(f"not done: {dropped.reason}" for dropped in value.dropped[:DROPPED_SHOWN]),
    )
    details = "; ".join(notes)
    if count_operations(value.applied):
        undo = undo_hint(value.run_id)
        return "\n".join((first, *((f"  {details}",) if details else ()), f"  {undo}"))
    unchanged = "it was so before" if is_edit(value.cause) else "it was stored before"
    return f"{first}\n  {details or ('nothing new to keep' if value.applied else unchanged)}"


DROPPED_SHOWN: Final = 3
"""Reasons of changes that were not made, of which a receipt shows this many."""


def with_undo_command(text: str, value: object) -> str:
    """The text of a report, in which the words about its run name the command."""
    run_id = getattr(value, "run_id", None) or getattr(getattr(value, "plan", None), "id", None)
    return text.replace(reversible_run(run_id), undo_hint(run_id)) if run_id else text


def undo_hint(run_id: str) -> str:
    """The words that tell how to take a run back."""
    return f"run {run_id}, undo with `slowwave undo {run_id}`"


STORED_CAUSES: Final = {"remember": "observe", "title": "edit/title"}
"""The causes of runs that have another name than the command that made them."""
_NAMES_OF_CAUSES: Final = {stored: name for name, stored in STORED_CAUSES.items()}


def is_edit(cause: str) -> bool:
    """Whether a run is an edit of memories by their ids, by a person or through a handle of lower trust."""
    sort, _, ceiling = cause.partition("/")
    return sort == "edit" and (not ceiling or ceiling in ORDER)


def cause_name(run: Run) -> str:
    """The cause of a run as the name of a command: what an edit did follows from its operations."""
    if is_edit(run.cause):
        changes = [operation for operation in run.plan.operations if isinstance(operation, Change)]
        return next(iter(map(_edit_name, changes)), run.cause)
    return _NAMES_OF_CAUSES.get(run.cause, run.cause)


def _edit_name(change: Change) -> str:
    before, after = change.before, change.after
    if before.phase != after.phase:
        if before.phase == "quarantined":
            return "reject" if after.phase == "retracted" else "release"
        return "delete" if after.phase == "retracted" else "revive"
    if before.pinned != after.pinned:
        return "pin" if after.pinned else "unpin"
    return "update"


def _changes(receipt: Receipt) -> Iterator[str]:
    added = Counter(operation.memory.kind for operation in receipt.applied if isinstance(operation, Add))
    messages, notes = added.pop(MESSAGE, 0), added.pop(NOTE, 0)
    if messages:
        yield f"{counted(messages, 'message')} stored"
    if notes:
        yield f"{counted(notes, 'note')} stored"
    if facts := added.total():
        yield f"{counted(facts, 'fact')} added"
    others = [operation for operation in receipt.applied if not isinstance(operation, Add)]
    if is_edit(receipt.cause):  # the reason of an edit names the change, such as "pinned"
        yield from dict.fromkeys(operation.because for operation in others if isinstance(operation, Change))
    elif counts := count_operations(others):
        yield f"undone: {counts}" if receipt.cause == "undo" else counts


_HIDDEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FORCED: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Environment variables that make programs print as if at a terminal."""
_COLUMN_MIN: Final = 20
"""Columns: a text that would have fewer on its line begins on the next one."""
_WIDTH_MAX: Final = 100
"""Columns: longer lines are hard to read, however wide the terminal is."""


def visible(text: str) -> str:
    """A text without control characters, which could send commands to the terminal."""
    return _HIDDEN.sub("\ufffd", text)


def write_utf8(text: str) -> None:
    """Print JSON in UTF-8 whatever the encoding of standard output is: a program that reads "?" has lost a letter."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def one_line(text: str, length: int) -> str:
    """A text as one line of at most `length` characters, cut after a word unless that word is most of it."""
    line = visible(" ".join(text.split()))
    if len(line) <= length:
        return line
    cut = line.rfind(" ", 0, length)
    return f"{line[: cut if cut > length // 2 else length - 1].rstrip()}…"


_WORDS: Final = re.compile(r"\s*(?:[^\s`]*`[^`]*`\S*|\S*\bslowwave [a-z]+ [0-9a-z]{20}\S*|\S+)")
"""A word, or a command between backquotes or with an id, which stays on one line."""


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most so many columns. Words and commands are never divided, so that they can be copied."""
    from rich.cells import cell_len  # noqa: PLC0415 - pipes and JSON do not need it

    lines: list[str] = []
    for paragraph in text.split("\n"):
        words: list[str] = []
        columns = 0
        for word in _WORDS.findall(paragraph.rstrip()):
            if words and columns + cell_len(word) > width:
                lines.append("".join(words))
                words, columns = [word.lstrip()], 0
            else:
                words.append(word)
            columns += cell_len(words[-1])
        lines.append("".join(words))
    return lines


def day(at: datetime | None) -> str:
    """A date as text."""
    return f"{at:%Y-%m-%d}" if at else "-"


class Output:
    """Prints text with a layout to a terminal, whole lines to a pipe, or one JSON value."""

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self._console: Console | None = None
        self._terminal = sys.stdout.isatty() or any(os.environ.get(name) for name in _FORCED)

    @property
    def console(self) -> "Console":
        """The terminal. Rich decides about colours and obeys NO_COLOR."""
        if self._console is None:
            from rich.console import Console  # noqa: PLC0415 - pipes and JSON do not need it

            self._console = Console(highlight=False, markup=False, emoji=False)
            self._console.width = min(self._console.width, _WIDTH_MAX)
        return self._console

    @property
    def width(self) -> int:
        """The columns of the layout."""
        return self.console.width if self._terminal else _WIDTH_MAX

    def write(self, text: str = "", style: str = "", indent: int = 0) -> None:
        """Print one paragraph, wrapped and indented as a whole."""
        if not self._terminal:
            sys.stdout.write(f"{' ' * indent}{visible(text)}\n")
            return
        for line in wrapped(visible(text), self.width - indent):
            self._print((" " * indent, ""), (line, style))

    def write_whole(self, text: str) -> None:
        """Print a text in its own lines: a pipe gets all its characters, a terminal no control characters."""
        shown = visible(text) if self._terminal else text
        sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")

    def write_row(self, *pieces: tuple[str, str]) -> None:
        """Print one line of texts with a style each; the last one wraps within its own column."""
        *first, (last, style) = pieces
        if not first or not self._terminal:
            self.write("".join(text for text, _ in pieces), style=style)
            return
        from rich.cells import cell_len  # noqa: PLC0415 - as above

        taken = sum(cell_len(text) for text, _ in first)
        shown = [(visible(text), colour) for text, colour in first]
        if self.width - taken < max(cell_len(last.strip()[:_COLUMN_MIN]), 1) and last:
            *before, (end, colour) = shown
            line = "".join(text for text, _ in before) + end.rstrip()
            if cell_len(line) > self.width:  # a bar may be as wide as the terminal
                self.write(line.strip(), colour)
            else:
                self._print(*before, (end.rstrip(), colour))
            self.write(last.strip(), style, indent=4)
            return
        begin, *more = wrapped(visible(last), self.width - taken)
        self._print(*shown, (begin, style))
        for line in more:
            self._print((" " * taken, ""), (line, style))

    def _print(self, *pieces: tuple[str, str]) -> None:
        """Print one line to the terminal as it is: the terminal folds what is too long, and copies it as one line."""
        from rich.text import Text  # noqa: PLC0415 - as above

        self.console.print(Text.assemble(*pieces), soft_wrap=True)

    def write_text(self, value: object) -> None:
        """Print a value as text: its first line, and the other lines dimmed."""
        first, _, rest = format_receipt(value).partition("\n")
        self.write(first)
        for line in rest.splitlines():
            self.write(line.lstrip(), style="dim", indent=len(line) - len(line.lstrip()))

    def write_json(self, value: object) -> None:
        """Print one JSON value on one line."""
        write_utf8(json.dumps(to_json_value(value), ensure_ascii=False) + "\n")

    def write_result(self, value: object) -> None:
        """Print a value as JSON if the options say so, else as text."""
        if self.json:
            self.write_json(value)
        else:
            self.write_text(value)
