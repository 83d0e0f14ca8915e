"""Writes results to the terminal."""

import json
import os
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import singledispatch
from typing import TYPE_CHECKING, Final

from slowwave.cli.json_output import to_json_value
from slowwave.model.memory import MESSAGE
from slowwave.model.operations import Add, Change
from slowwave.model.plan import Receipt, count_operations

if TYPE_CHECKING:
    from rich.console import Console


@singledispatch
def format_receipt(value: object) -> str:
    """A value as text in lines."""
    return str(value)


@format_receipt.register
def _(value: Receipt) -> str:
    first = f"{', '.join(_changes(value)) or 'nothing changed'} in {value.scope}"
    first += f", {len(value.dropped)} dropped as out of date" if value.dropped else ""
    first += f", {value.waiting} waiting" if value.waiting else ""
    return f"{first}\n  {value.details}"


def format_counts(number: int, noun: str) -> str:
    """A number of things: "1 fact", "1,204 facts"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _changes(receipt: Receipt) -> Iterator[str]:
    added = [operation.memory.kind == MESSAGE for operation in receipt.applied if isinstance(operation, Add)]
    if messages := sum(added):
        yield f"{format_counts(messages, 'message')} stored"
    if facts := len(added) - messages:
        yield f"{format_counts(facts, 'fact')} added"
    others = [operation for operation in receipt.applied if not isinstance(operation, Add)]
    if receipt.cause == "edit":  # the reason of an edit names the change, such as "pinned"
        yield from dict.fromkeys(operation.because for operation in others if isinstance(operation, Change))
    elif counts := count_operations(others):
        yield f"taken back: {counts}" if receipt.cause == "undo" else counts


_HIDDEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FORCED: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Environment variables that make programs print as if at a terminal."""
_WIDTH_MAX: Final = 100
"""Columns: longer lines are hard to read, however wide the terminal is."""


def visible(text: str) -> str:
    """A text without control characters, which could send commands to the terminal."""
    return _HIDDEN.sub("\ufffd", text)


def one_line(text: str, length: int) -> str:
    """A text as one line of at most `length` characters."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


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
        from rich.padding import Padding  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415

        paragraph = Text(visible(text), style=style)
        self.console.print(Padding(paragraph, (0, 0, 0, indent), expand=False) if indent else paragraph)

    def write_row(self, *pieces: tuple[str, str]) -> None:
        """Print one line of texts with a style each; the last one wraps within its own column."""
        *first, (last, style) = pieces
        if not first or not self._terminal:
            self.write("".join(text for text, _ in pieces), style=style)
            return
        from rich.table import Table  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415

        row = Table.grid(padding=0)
        row.add_column(no_wrap=True)
        row.add_column()
        row.add_row(
            Text.assemble(*((visible(text), colour) for text, colour in first)), Text(visible(last), style=style)
        )
        self.console.print(row)

    def write_text(self, value: object) -> None:
        """Print a value as text: its first line, and the other lines dimmed."""
        first, _, rest = format_receipt(value).partition("\n")
        self.write(first)
        for line in rest.splitlines():
            self.write(line.lstrip(), style="dim", indent=len(line) - len(line.lstrip()))

    def write_json(self, value: object) -> None:
        """Print one JSON value on one line."""
        sys.stdout.write(json.dumps(to_json_value(value), ensure_ascii=False) + "\n")

    def write_result(self, value: object) -> None:
        """Print a value as JSON if the options say so, else as text."""
        if self.json:
            self.write_json(value)
        else:
            self.write_text(value)
