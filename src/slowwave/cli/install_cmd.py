"""The command install: adds memory to the settings of a coding agent."""

import shlex
import sys
from pathlib import Path

import click

from slowwave.cli.options import PATH, Command, CommonOptions, common_options
from slowwave.errors import InputError
from slowwave.hooks.clients import CLIENTS, Folders


@click.command(
    "install",
    cls=Command,
    examples=(
        "slowwave install claude-code --hooks",
        "slowwave install codex --hooks --dry-run",
        "slowwave install claude-code --uninstall",
    ),
)
@click.argument("client", metavar="AGENT", type=click.Choice([*CLIENTS]))
@click.option("--hooks", is_flag=True, help="Also recall and store in every turn, without the model's help.")
@click.option("--dry-run", is_flag=True, help="Show the change, and make none.")
@click.option("--uninstall", is_flag=True, help="Remove the server and the hooks again.")
@click.option(
    "--command", metavar="WORDS", help="What starts Slowwave, such as \"uvx --from 'slowwave[server]' slowwave\"."
)
@click.option("--home", type=PATH, metavar="FOLDER", help="The home folder with the settings; by default yours.")
@common_options
def install(
    options: CommonOptions,
    client: str,
    hooks: bool,
    dry_run: bool,
    uninstall: bool,
    command: str | None,
    home: Path | None,
) -> None:
    """Add memory to a coding agent: the MCP server, and with --hooks the hooks.

    AGENT is claude-code, codex, cursor, gemini, vscode or opencode. Hooks are for claude-code and codex.

    It shows the change of each settings file, writes it at once, and keeps the former file beside it with the ending
    .before-slowwave. Entries of other programs stay as they are. With --store and --scope the agent uses that memory.
    """
    from slowwave.hooks.install import carry_out, plan_install, plan_uninstall  # noqa: PLC0415 - `--help` does without
    from slowwave.hooks.processes import end_residents  # noqa: PLC0415 - as above

    folders = Folders(home=(home or Path.home()).resolve(), project=Path.cwd())
    if uninstall:
        changes = plan_uninstall(client, folders)
    else:
        words = [*(_program() if command is None else _split(command)), *_memory_options(options)]
        changes = plan_install(client, words, folders, hooks=hooks)
    diffs = [change.diff for change in changes if change.diff]
    for diff in diffs:
        sys.stdout.write(diff)
    if dry_run:
        options.output.write("nothing was changed: this was --dry-run")
        return
    for path in carry_out(changes):
        options.output.write(f"changed {path}")
    for note in (change.note for change in changes if change.note):
        options.output.write(note)
    if uninstall and CLIENTS[client].hooks is not None and (ended := end_residents()):
        options.output.write(f"ended the processes that handled hooks: {ended}")
    if not diffs:
        options.output.write("nothing to change")
    elif uninstall:
        options.output.write("sessions that are open use it until they end")
    else:
        options.output.write(f"to use it, {CLIENTS[client].restart}")


def _program() -> list[str]:
    """What starts this Slowwave again: the program beside this Python, else the module."""
    program = Path(sys.executable).with_name("slowwave")
    return [str(program)] if program.is_file() else [sys.executable, "-m", "slowwave"]


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"--command {command!r} has a quotation mark without its end") from error
    if not words:
        raise InputError("--command is empty: give the program that starts Slowwave")
    return words


def _memory_options(options: CommonOptions) -> list[str]:
    """The options that name the memory, with an absolute path: an agent starts in another folder."""
    from slowwave.hooks.processes import SERVERS  # noqa: PLC0415 - `--help` does without

    given: list[str] = []
    if options.store is not None:
        store = options.store if options.store.startswith(SERVERS) else str(Path(options.store).resolve())
        given += ["--store", store]
    if options.scope is not None:
        given += ["--scope", options.scope]
    return given
