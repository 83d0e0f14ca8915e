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
    """A value in words, in lines."""
    return str(value)


@format_receipt.register
def _(value: Receipt) -> str:
    first = f"{', '.join(_done(value)) or 'nothing changed'} in {value.scope}"
    first += f", {len(value.dropped)} dropped as out of date" if value.dropped else ""
    first += f", {value.waiting} waiting" if value.waiting else ""
    return f"{first}\n  {value.details}"


def format_counts(number: int, noun: str) -> str:
    """A number of things: "1 fact", "1,204 facts"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _done(receipt: Receipt) -> Iterator[str]:
    added = [one.memory.kind == MESSAGE for one in receipt.applied if isinstance(one, Add)]
    if said := sum(added):
        yield f"{format_counts(said, 'message')} stored"
    if facts := len(added) - said:
        yield f"{format_counts(facts, 'fact')} added"
    rest = [one for one in receipt.applied if not isinstance(one, Add)]
    if receipt.cause == "edit":  # by hand, one memory: its reason is what was done
        yield from dict.fromkeys(one.because for one in rest if isinstance(one, Change))
    elif number := count_operations(rest):
        yield f"taken back: {number}" if receipt.cause == "undo" else number


_HIDDEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FORCED: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Settings by which other programs are told to print as if at a terminal."""
_WIDEST: Final = 100
"""Columns: longer lines read badly, however wide the terminal is."""


def visible(text: str) -> str:
    """A text without what could steer a terminal."""
    return _HIDDEN.sub("\ufffd", text)


def one_line(text: str, most: int) -> str:
    """A text as one line of at most so many characters."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def day(at: datetime | None) -> str:
    """A date to show."""
    return f"{at:%Y-%m-%d}" if at else "-"


class Output:
    """Prints for a person at a terminal, as whole lines into a pipe, or as one JSON value for a program."""

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self._console: Console | None = None
        self._terminal = sys.stdout.isatty() or any(os.environ.get(name) for name in _FORCED)

    @property
    def console(self) -> "Console":
        """The terminal: colours only where they show, NO_COLOR heeded, never wider than reads well."""
        if self._console is None:
            from rich.console import Console  # noqa: PLC0415 - pipes and JSON do without

            self._console = Console(highlight=False, markup=False, emoji=False)
            self._console.width = min(self._console.width, _WIDEST)
        return self._console

    @property
    def width(self) -> int:
        """Columns to lay out for."""
        return self.console.width if self._terminal else _WIDEST

    def say(self, text: str = "", style: str = "", indent: int = 0) -> None:
        """One paragraph, wrapped and indented as a whole."""
        if not self._terminal:
            sys.stdout.write(f"{' ' * indent}{visible(text)}\n")
            return
        from rich.padding import Padding  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415

        told = Text(visible(text), style=style)
        self.console.print(Padding(told, (0, 0, 0, indent), expand=False) if indent else told)

    def row(self, *pieces: tuple[str, str]) -> None:
        """One line of differently coloured pieces; what hangs over goes on under the last of them."""
        *first, (last, style) = pieces
        if not first or not self._terminal:
            self.say("".join(text for text, _ in pieces), style=style)
            return
        from rich.table import Table  # noqa: PLC0415 - as above
        from rich.text import Text  # noqa: PLC0415

        line = Table.grid(padding=0)
        line.add_column(no_wrap=True)
        line.add_column()
        line.add_row(
            Text.assemble(*((visible(text), colour) for text, colour in first)), Text(visible(last), style=style)
        )
        self.console.print(line)

    def told(self, value: object) -> None:
        """A value that prints itself: its first line, and the rest a little dimmer."""
        first, _, rest = format_receipt(value).partition("\n")
        self.say(first)
        for line in rest.splitlines():
            self.say(line.lstrip(), style="dim", indent=len(line) - len(line.lstrip()))

    def value(self, value: object) -> None:
        """One JSON value on a line of its own."""
        sys.stdout.write(json.dumps(to_json_value(value), ensure_ascii=False) + "\n")

    def either(self, value: object) -> None:
        """The value in words, or as JSON."""
        if self.json:
            self.value(value)
        else:
            self.told(value)
