"""The options that all commands share, and how a command is run and ended."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from slowwave.cli.output import Output
from slowwave.errors import InputError, SlowwaveError
from slowwave.model.message import storable

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

WAITING: Final = 3
"""Exit code: work waits for a model."""
INTERRUPTED: Final = 130

PATH: Final = click.Path(path_type=Path)
POSITIVE: Final = click.IntRange(min=1)

_COMMON: Final = (
    click.option("--store", metavar="FILE", help="The store: a file or postgresql://…; else SLOWWAVE_STORE."),
    click.option("--scope", metavar="PATH", help="The owner of the memories, such as acme/alice."),
    click.option(
        "--llm", metavar="NAME", help="The model: openai:MODEL, ollama:MODEL, a URL, or none for the rules alone."
    ),
    click.option("--embedder", metavar="NAME", help="static, minilm, openai:MODEL or none."),
    click.option("--json", is_flag=True, help="Print one JSON value instead of text."),
    click.option("--verbose", is_flag=True, help="Print more; with an error, its traceback."),
)
_COMMON_NAMES: Final = frozenset({"store", "scope", "llm", "embedder", "json", "verbose"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """The values of the shared options, from before and after the name of the command."""

    store: str | None = None
    scope: str | None = None
    llm: str | None = None
    embedder: str | None = None
    json: bool = False
    verbose: bool = False

    @property
    def output(self) -> Output:
        """Where results are printed."""
        return Output(json=self.json)

    @contextmanager
    def memory(self) -> "Iterator[AgentMemory]":
        """Open the memory that these options name."""
        from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without

        with AgentMemory.open(self.store, scope=self.scope, **self.models()) as memory:
            yield memory

    @property
    def address(self) -> str:
        """The store of the options or of the settings; empty for the file in the user's data folder."""
        if self.store is not None:
            return self.store
        from slowwave import settings  # noqa: PLC0415 - as above

        return settings.read().store or ""

    def models(self) -> dict[str, Any]:
        """The arguments `llm` and `embedder` of `AgentMemory.open`; those not given come from the settings."""
        models: dict[str, Any] = {} if self.embedder is None else {"embedder": self.embedder}
        return models if self.llm is None else models | {"llm": None if self.llm == "none" else self.llm}


class Command(click.Command):
    """A command whose help lists the shared options in a section of their own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options of this command, then the shared ones."""
        records: dict[str, list[tuple[str, str]]] = {"Options": [], "For every command": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):  # the first lines of the help describe the arguments
                title = "For every command" if parameter.name in _COMMON_NAMES else "Options"
                records[title].append(record)
        for title, rows in records.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def common_options(function: Callable[..., int | None]) -> Callable[..., None]:
    """Decorate the function of a command: add the shared options, pass them as `CommonOptions`, end with its exit code.

    The function returns the exit code, None for 0.
    """

    @wraps(function)
    def run(**values: Any) -> None:  # noqa: ANN401 - the options of any command
        context = click.get_current_context()
        common = {**(context.obj or {}), **_given(values)}
        own = {name: value for name, value in values.items() if name not in _COMMON_NAMES}
        options = CommonOptions(**common)

        def call() -> int | None:
            _check_encoding({**common, **own})
            return function(options, **own)

        context.exit(run_command(call, verbose=options.verbose))

    return _with_common(run)


def store_common_options(function: Callable[[], None]) -> Callable[..., None]:
    """Decorate the function of a group: add the shared options, and keep them for its commands."""

    @wraps(function)
    def run(**values: Any) -> None:  # noqa: ANN401 - the shared options
        context = click.get_current_context()
        context.obj = {**(context.obj or {}), **_given(values)}
        function()

    return _with_common(run)


def _with_common(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_COMMON):
        function = option(function)
    return function


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The shared options that were written, without the defaults."""
    return {name: value for name, value in values.items() if name in _COMMON_NAMES and value not in (None, False)}


def _check_encoding(options: Mapping[str, Any]) -> None:
    """Raise InputError for an argument whose bytes are not UTF-8, which Python passes on as lone surrogates.

    Paths keep them: file names of any bytes can be opened.
    """
    for name, value in options.items():
        for word in value if isinstance(value, tuple) else [value]:
            if isinstance(word, str) and not storable(word):
                raise InputError(f"{name.replace('_', '-')} {word!r} is not valid UTF-8: use a terminal in UTF-8")


def run_command(function: Callable[[], int | None], *, verbose: bool) -> int:
    """The exit code of a function; an error of Slowwave is printed as one sentence."""
    try:
        code = function() or 0
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe. Python flushes stdout at exit, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, click.Abort):
        sys.stderr.write("slowwave: interrupted; what was acknowledged is kept\n")
        return INTERRUPTED
    except SlowwaveError as error:
        if verbose:
            import traceback  # noqa: PLC0415 - few ask

            traceback.print_exception(error)
        sys.stderr.write(f"slowwave: {error}\n")
        return error.exit_code
    return code
