"""The command `slowwave`: its name, its shared options, and the rooms its commands live in."""

from typing import Annotated

import typer

from slowwave.cli import asking, bringing, editing, keeping, measuring, showing, story, tending, vaulting
from slowwave.cli.given import Embedder, Json, Llm, Scope, Store, Verbose

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


@app.callback()
def shared(
    context: typer.Context,
    store: Store = None,
    scope: Scope = None,
    llm: Llm = None,
    embedder: Embedder = None,
    json: Json = False,
    verbose: Verbose = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Keep what was said, distil what matters, let the rest fade, and find it again."""
    given = {"store": store, "scope": scope, "llm": llm, "embedder": embedder, "json": json, "verbose": verbose}
    context.obj = {name: value for name, value in given.items() if value}


for room in (story, bringing, asking, keeping, tending, editing, showing, measuring, vaulting):
    app.add_typer(room.room)
