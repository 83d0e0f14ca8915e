"""How a command ends: its exit code, and each error as one sentence or one JSON value on the error stream."""

import io
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from errno import EBADF
from typing import BinaryIO, Final

import click

from slowwave.errors import SlowwaveError

INTERRUPTED: Final = 130
CANCELLED: Final = 1
OUTPUT_LOST: Final = 1
"""Exit code: the command was carried out, and its output could not be written."""
USAGE: Final = 2


SHELL_WORDS: Final = {
    "with user=NAME": "with --user NAME",
    "or allow overwriting it": "or replace it with --overwrite",
    "store='' names no file": "--store '' names no file",
    "or None for the one of the settings": "or leave the option out for the one of the settings",
    "`runs` lists those that exist": "`slowwave runs` lists those that exist",
    "`list_keys` lists those that exist": "`slowwave keys` lists those that exist",
    "make one with `add_key`": "make one with `slowwave keys add NAME`",
    "sleep_every=": "--every ",
    "give a timedelta, a number of seconds, or a text such as": "give a number of seconds, or a span such as",
}
"""Words of the library's errors that name arguments and methods, and those that the command line uses instead."""


class CancelledError(SlowwaveError):
    """A person answered no, or ended the question with Ctrl-C or Ctrl-D."""

    def __init__(self, code: int = CANCELLED) -> None:
        super().__init__("Cancelled: nothing was changed.")
        self.exit_code = code


class ClosedStream(io.TextIOBase):
    """Replaces an output that was closed before the program started: writing raises an error that can be reported."""

    def write(self, _: str, /) -> int:
        """Raise OSError."""
        raise OSError(EBADF, os.strerror(EBADF))

    @property
    def buffer(self) -> BinaryIO:
        """Raise OSError: there is no stream of bytes below it either."""
        raise OSError(EBADF, os.strerror(EBADF))


def run_command(function: Callable[[], int | None], *, json: bool, verbose: bool) -> int:
    """The exit code of a function. An error that a user can cause is printed as one sentence."""
    done = False
    try:
        code = function() or 0
        done = True
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort) as stop:  # click raises Abort from a KeyboardInterrupt
        cause = stop if isinstance(stop, KeyboardInterrupt) else stop.__cause__
        sentence = str(cause or "") or "interrupted; what was acknowledged is kept"
        return _report(sentence, "Interrupted", INTERRUPTED, json=json)
    except click.ClickException as error:
        return _report_usage(error, json=json)
    except SlowwaveError as error:
        if verbose:
            import traceback  # noqa: PLC0415 - few ask

            traceback.print_exception(error)
        return _report(_in_shell_words(str(error)), type(error).__name__, error.exit_code, json=json)
    except OSError as error:
        return _report_output(error, json=json, done=done)
    return code


def _report_output(error: OSError, *, json: bool, done: bool) -> int:
    """Print an error of a file; one without a name is of the output."""
    if error.filename is not None:
        return _report(f"{error.filename}: {error.strerror}", "OSError", OUTPUT_LOST, json=json)
    _discard_output()
    if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has all that it wants
        return 0
    sentence = f"the output could not be written ({error.strerror or error})"
    if done:
        sentence = f"the command was carried out, and what it stored is kept, but {sentence}"
    else:  # an output without a buffer fails at the first line, which follows what was stored
        sentence = f"{sentence}; what the command stored is kept: `slowwave runs` lists it"
    return _report(sentence, "OSError", OUTPUT_LOST, json=json)


def _report_usage(error: click.ClickException, *, json: bool) -> int:
    """Print an error in the words of a command line, with the usage before it unless it is JSON."""
    if json:
        return _report(error.format_message(), "UsageError", USAGE, json=True)
    error.show()
    return error.exit_code


def _in_shell_words(sentence: str) -> str:
    """An error of the library in the words of the command line."""
    for words, shown in SHELL_WORDS.items():
        sentence = sentence.replace(words, shown)
    return sentence


def _report(sentence: str, kind: str, code: int, *, json: bool) -> int:
    from slowwave.cli.output import visible  # noqa: PLC0415 - most commands end without an error

    line = _as_json(sentence, kind) if json else f"slowwave: {visible(sentence)}"
    with suppress(OSError):  # it cannot be read
        sys.stderr.write(f"{line}\n")
    return code


def _as_json(sentence: str, kind: str) -> str:
    return json.dumps({"error": sentence, "kind": kind})  # in ASCII, whatever the encoding of the error stream is


def _discard_output() -> None:
    """Send what is still buffered to nowhere. Python flushes it at exit, which would fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
