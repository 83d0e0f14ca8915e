"""What every command is given: the options that all of them share, and how a command is run and ended."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from slowwave.cli.declared import Command, Option, parameter
from slowwave.cli.output import Output
from slowwave.errors import InputError, SlowwaveError
from slowwave.model.message import storable

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

WAITING: Final = 3
INTERRUPTED: Final = 130

_PANEL: Final = "For every command"

Store: TypeAlias = Annotated[
    str | None, Option("--store", metavar="FILE", help="Where memory lives; else SLOWWAVE_STORE.", panel=_PANEL)
]
Scope: TypeAlias = Annotated[
    str | None, Option("--scope", metavar="PATH", help="Whose memories, such as acme/alice.", panel=_PANEL)
]
Llm: TypeAlias = Annotated[
    str | None,
    Option(
        "--llm",
        metavar="NAME",
        help="Who thinks: openai:MODEL, ollama:MODEL, a URL, or none for rules alone.",
        panel=_PANEL,
    ),
]
Embedder: TypeAlias = Annotated[
    str | None,
    Option("--embedder", metavar="NAME", help="static, minilm, openai:MODEL or none.", panel=_PANEL),
]
Json: TypeAlias = Annotated[bool, Option("--json", help="Print one JSON value instead.", panel=_PANEL)]
Verbose: TypeAlias = Annotated[bool, Option("--verbose", help="Say more; show where an error came from.", panel=_PANEL)]

SHARED: Final = tuple(
    parameter(name, annotation, default)
    for name, annotation, default in (
        ("store", Store, None),
        ("scope", Scope, None),
        ("llm", Llm, None),
        ("embedder", Embedder, None),
        ("json", Json, False),
        ("verbose", Verbose, False),
    )
)
"""The options that every command has, before or after its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """The shared options, as given before or after the command."""

    store: str | None = None
    scope: str | None = None
    llm: str | None = None
    embedder: str | None = None
    json: bool = False
    verbose: bool = False

    @property
    def paper(self) -> Output:
        """What is printed on."""
        return Output(json=self.json)

    @contextmanager
    def memory(self) -> "Iterator[AgentMemory]":
        """The memory these options name, open."""
        from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without

        with AgentMemory.open(self.store, scope=self.scope, **self.doors()) as memory:
            yield memory

    @property
    def address(self) -> str:
        """Where the store is, as the options or the settings say it; nothing for the file in the user's folder."""
        if self.store is not None:
            return self.store
        from slowwave import settings  # noqa: PLC0415 - as above

        return settings.read().store or ""

    def doors(self) -> dict[str, Any]:
        """Who thinks and who embeds, where the options say so; else the settings do."""
        found: dict[str, Any] = {} if self.embedder is None else {"embedder": self.embedder}
        return found if self.llm is None else found | {"llm": None if self.llm == "none" else self.llm}


def exit_on_error(command: Command, before: Mapping[str, Any], options: Mapping[str, Any]) -> int:
    """Run a command and tell how it ended.

    Args:
        command: which.
        before: those of the shared options that were given before its name.
        options: all of its own and all shared ones, as they were given after it or by default.

    Returns:
        The exit code.
    """
    after = {one.name: options[one.name] for one in SHARED if options[one.name] != one.default}
    own = {name: value for name, value in options.items() if name not in _NAMES}
    given = CommonOptions(**{**before, **after})

    def run() -> int | None:
        _check_encoding({**before, **after, **own})
        return command.function(given, **own)

    return _ended(run, verbose=given.verbose)


def _check_encoding(options: Mapping[str, Any]) -> None:
    """Raise InputError for an argument whose bytes are not UTF-8, which Python passes on as lone surrogates.

    Paths keep them: file names of any bytes can be opened.
    """
    for name, value in options.items():
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, str) and not storable(word):
                raise InputError(f"{name.replace('_', '-')} {word!r} is not valid UTF-8: use a terminal in UTF-8")


_NAMES: Final = frozenset(one.name for one in SHARED)


def _ended(run: Callable[[], int | None], *, verbose: bool) -> int:
    """The exit code; whatever a person can do something about is one sentence on the error stream."""
    try:
        code = run() or 0
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has read enough. Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("slowwave: interrupted; what was acknowledged is kept\n")
        return INTERRUPTED
    except SlowwaveError as error:
        if verbose:
            import traceback  # noqa: PLC0415 - few ask

            traceback.print_exception(error)
        sys.stderr.write(f"slowwave: {error}\n")
        return error.exit_code
    return code
