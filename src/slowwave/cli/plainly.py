"""The short way in: a command that is written well is read, loaded and run without the framework, in a third of the time."""

from collections.abc import Sequence

from slowwave.cli.declared import Reader, UnclearError
from slowwave.cli.options import SHARED, exit_on_error
from slowwave.cli.rooms import with_command


def run(words: Sequence[str]) -> int | None:
    """Run a command and give its exit code; None, and nothing done, if the words are for the framework to read."""
    reader = Reader(words)
    try:
        name, before = reader.until_word(SHARED)
        command = next(one for room in with_command(name) for one in room.commands if one.name == name)
        options = reader.rest([*command.parameters, *SHARED])
    except (UnclearError, StopIteration):
        return None
    return exit_on_error(command, before, options)
