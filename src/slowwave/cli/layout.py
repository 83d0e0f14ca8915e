"""The layout of help pages."""

import shutil
from typing import Final

import click

NARROWEST: Final = 30
"""Columns that a help page has at least; Click's own minimum is 50, which a narrow terminal cuts."""
WIDEST: Final = 100


class HelpFormatter(click.HelpFormatter):
    """A formatter that is as narrow as the terminal."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = shutil.get_terminal_size().columns
        fitting = max(NARROWEST, min(columns, max_width or WIDEST) - 2)
        super().__init__(indent_increment, width=width or fitting, max_width=max_width)


class HelpContext(click.Context):
    """A context that formats help for the terminal's width."""

    formatter_class = HelpFormatter
