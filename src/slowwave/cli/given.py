"""What every command is given: the options that all of them share, and how a command is run and ended."""

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, get_args

import typer

from slowwave.cli.paper import Paper
from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

WAITING: Final = 3
INTERRUPTED: Final = 130

_PANEL: Final = "For every command"

Store: TypeAlias = Annotated[
    str | None,
    typer.Option("--store", metavar="FILE", help="Where memory lives; else SLOWWAVE_STORE.", rich_help_panel=_PANEL),
]
Scope: TypeAlias = Annotated[
    str | None,
    typer.Option("--scope", metavar="PATH", help="Whose memories, such as acme/alice.", rich_help_panel=_PANEL),
]
Llm: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="NAME",
        help="Who thinks: openai:MODEL, ollama:MODEL, a URL, or none for rules alone.",
        rich_help_panel=_PANEL,
    ),
]
Embedder: TypeAlias = Annotated[
    str | None,
    typer.Option("--embedder", metavar="NAME", help="static, minilm, openai:MODEL or none.", rich_help_panel=_PANEL),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON value instead.", rich_help_panel=_PANEL)]
Verbose: TypeAlias = Annotated[
    bool, typer.Option("--verbose", help="Say more; show where an error came from.", rich_help_panel=_PANEL)
]

_SHARED: Final[dict[str, tuple[Any, object]]] = {
    "store": (Store, None),
    "scope": (Scope, None),
    "llm": (Llm, None),
    "embedder": (Embedder, None),
    "json": (Json, False),
    "verbose": (Verbose, False),
}
"""The shared options: how each is written, and what it is when it is not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The shared options, as given before or after the command."""

    store: str | None = None
    scope: str | None = None
    llm: str | None = None
    embedder: str | None = None
    json: bool = False
    verbose: bool = False

    @property
    def paper(self) -> Paper:
        """What is printed on."""
        return Paper(json=self.json)

    @contextmanager
    def memory(self) -> "Iterator[AgentMemory]":
        """The memory these options name, open."""
        from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without

        with AgentMemory.open(self.store, scope=self.scope, **self.doors()) as memory:
            yield memory

    def doors(self) -> dict[str, Any]:
        """Who thinks and who embeds, where the options say so; else the settings do."""
        found: dict[str, Any] = {} if self.embedder is None else {"embedder": self.embedder}
        return found if self.llm is None else found | {"llm": None if self.llm == "none" else self.llm}


Command = Callable[..., int | None]


def command(app: typer.Typer, name: str, panel: str) -> Callable[[Command], Command]:
    """Make a function a command. It takes `Given` first and returns its exit code, None for 0."""

    def register(function: Command) -> Command:
        @wraps(function)
        def run(**options: Any) -> None:  # noqa: ANN401 - the options of any command
            own = {key: value for key, value in options.items() if key not in _SHARED and key != "_context"}
            given = _given(options["_context"], {key: options[key] for key in _SHARED})
            raise typer.Exit(_ended(lambda: function(given, **own), verbose=given.verbose))

        parameters = list(inspect.signature(function).parameters.values())[1:]
        keyword = inspect.Parameter.KEYWORD_ONLY
        context = inspect.Parameter("_context", keyword, annotation=typer.Context)
        shared = [
            inspect.Parameter(key, keyword, default=default, annotation=annotation)
            for key, (annotation, default) in _SHARED.items()
        ]
        every = [context, *(parameter.replace(kind=keyword) for parameter in parameters), *shared]
        for parameter in every:
            _unlabelled(parameter.annotation)
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # typer reads it
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
        del run.__wrapped__  # else its signature would be read instead
        app.command(name, rich_help_panel=panel)(run)
        return function

    return register


def _unlabelled(annotation: object) -> None:
    """A flag takes no value, so its help names no type of one."""
    kind, *told = get_args(annotation) or (None,)
    for option in told if kind is bool else ():
        option.metavar = ""


def _given(context: typer.Context, options: dict[str, Any]) -> Given:
    before: dict[str, Any] = context.obj or {}
    after = {key: value for key, value in options.items() if value != _SHARED[key][1]}
    return Given(**{**before, **after})


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
        typer.echo("slowwave: interrupted; what was acknowledged is kept", err=True)
        return INTERRUPTED
    except SlowwaveError as error:
        if verbose:
            traceback.print_exception(error)
        typer.echo(f"slowwave: {error}", err=True)
        return error.exit_code
    return code
