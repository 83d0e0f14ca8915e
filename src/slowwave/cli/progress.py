"""Progress of long work, on a terminal only."""

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slowwave.cli.options import CommonOptions
    from slowwave.ports import Progress


@contextmanager
def progress(options: "CommonOptions", task: str) -> "Iterator[Progress | None]":
    """Show the share of a task on the error stream while the block runs.

    Yields:
        A function to call with how much is done, and how much there is; None if no person would see it.
    """
    if options.json or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal shows progress
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        number = shown.add_task(task, total=None)
        yield lambda done, total: shown.update(number, completed=done, total=total)
