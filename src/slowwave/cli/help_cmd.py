"""The commands help and completion."""

import sys
from typing import Final

import click

from slowwave.cli.app import LazyGroup
from slowwave.cli.options import Command, CommonOptions, common_options
from slowwave.errors import InputError

_FILES: Final = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}
"""Where each shell reads the line that turns completion on."""


@click.command("help", cls=Command, examples=("slowwave help", "slowwave help vault sync"))
@click.argument("command", nargs=-1)
@common_options(uses=())
def help_(_: CommonOptions, command: tuple[str, ...]) -> None:
    """Show the help of a command, or the list of all commands.

    COMMAND is the name of a command, such as search.
    """
    context = click.get_current_context().find_root()
    found: click.Command = context.command
    for name in command:
        if not isinstance(found, click.Group):
            raise InputError(f"{found.name} has no command {name!r}: `slowwave help {found.name}` describes it")
        within = found.get_command(context, name)
        if within is None:
            if isinstance(found, LazyGroup):
                found.resolve_command(context, [name])  # raises the error that suggests another
            raise InputError(f"{found.name} has no command {name!r}: it has {', '.join(found.list_commands(context))}")
        context = found.context_class(within, info_name=within.name, parent=context)
        found = within
    click.echo(found.get_help(context))


@click.command(
    "completion", cls=Command, examples=('eval "$(slowwave completion bash)"', "slowwave completion fish | source")
)
@click.argument("shell", type=click.Choice([*_FILES]))
@common_options(uses=())
def completion(_: CommonOptions, shell: str) -> None:
    """Print the script that completes commands, options and names of conversations with the Tab key.

    SHELL is bash, zsh or fish.
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - few ask

    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(root, {}, "slowwave", "_SLOWWAVE_COMPLETE").source())
    if sys.stdout.isatty():
        line = "slowwave completion fish | source" if shell == "fish" else f'eval "$(slowwave completion {shell})"'
        sys.stderr.write(f"To turn completion on, add this line to {_FILES[shell]}: {line}\n")
