"""The command `slowwave` in the framework's words: for help, for what is written wrong, and for all that is seldom written."""

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from slowwave.cli.declared import Argument, Command, Parameter, Room
from slowwave.cli.options import SHARED, exit_on_error
from slowwave.cli.rooms import ROOMS, load

app = typer.Typer(
    name="slowwave",
    help="Memory for LLM agents that sleeps on it. New here? Try: slowwave demo",
    epilog="Exit codes: 0 done · 1 a problem was found · 2 wrong input or settings · 3 work waits for a model · 4 store.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from slowwave import __version__  # noqa: PLC0415 - asked for once in a while

        typer.echo(f"slowwave {__version__}")
        raise typer.Exit


def _shared(context: typer.Context, _version: bool, **given: Any) -> None:  # noqa: ANN401 - the shared options
    """Keep what was said, distil what matters, let the rest fade, and find it again."""
    context.obj = {name: value for name, value in given.items() if value}


def _command(command: Command) -> Any:  # noqa: ANN401 - as the framework takes any function
    def run(_context: typer.Context, **options: Any) -> None:  # noqa: ANN401 - the options of any command
        raise typer.Exit(exit_on_error(command, _context.obj or {}, options))

    run.__doc__ = command.function.__doc__
    return _signed(run, [_CONTEXT, *map(_parameter, (*command.parameters, *SHARED))])


def _parameter(one: Parameter) -> inspect.Parameter:
    """A parameter as the framework declares it."""
    how: Any
    if isinstance(one.how, Argument):
        how = typer.Argument(help=one.how.help, metavar=one.how.metavar, file_okay=not one.how.folder)
    else:
        # A flag takes no value, so its help names no type of one.
        metavar = "" if one.kind is bool else one.how.metavar
        how = typer.Option(
            *one.how.flags, help=one.how.help, metavar=metavar, min=one.how.min, rich_help_panel=one.how.panel
        )
    kind = one.annotation.__origin__
    return inspect.Parameter(one.name, _KEYWORD, default=one.default, annotation=Annotated[kind, how])


_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_CONTEXT = inspect.Parameter("_context", _KEYWORD, annotation=typer.Context)


def _signed(function: Any, parameters: Sequence[inspect.Parameter]) -> Any:  # noqa: ANN401 - as above
    """A function that takes what the framework reads in its signature."""
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {one.name: one.annotation for one in parameters}
    return function


def _typed(room: Room) -> typer.Typer:
    typed = typer.Typer(help=room.help, no_args_is_help=True) if room.name else typer.Typer()
    for command in room.commands:
        typed.command(command.name, rich_help_panel=command.panel)(_command(command))
    for group in room.groups:
        typed.add_typer(_typed(group), name=group.name, rich_help_panel=group.panel)
    return typed


_VERSION = inspect.Parameter(
    "_version",
    _KEYWORD,
    default=False,
    annotation=Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ],
)
app.callback()(_signed(_shared, [_CONTEXT.replace(name="context"), *map(_parameter, SHARED), _VERSION]))
for _file in ROOMS:
    app.add_typer(_typed(load(_file)))
