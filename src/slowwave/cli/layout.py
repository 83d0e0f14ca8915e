"""The layout of help pages."""

import shutil
from collections.abc import Iterable
from typing import Final

import click

NARROWEST: Final = 30
"""Columns that a help page has at least; Click's own minimum is 50, which a narrow terminal cuts."""
FIRST_MIN: Final = 8
"""Columns that the names of options have at least."""
WIDEST: Final = 100


class HelpFormatter(click.HelpFormatter):
    """A formatter that is as narrow as the terminal."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = shutil.get_terminal_size().columns
        fitting = max(NARROWEST, min(columns, max_width or WIDEST) - 2)
        super().__init__(indent_increment, width=width or fitting, max_width=max_width)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of names and descriptions; on a narrow terminal long names are written above their description."""
        super().write_dl(rows, min(col_max, max(FIRST_MIN, self.width // 3)), col_spacing)


class HelpContext(click.Context):
    """A context that formats help for the terminal's width."""

    formatter_class = HelpFormatter
