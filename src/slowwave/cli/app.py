"""The command `slowwave`: a group that imports the module of a command when the command is used."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click

from slowwave import __version__
from slowwave.cli.options import store_common_options

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Begin here": {"demo": "demo_cmd:demo"},
    "Bring in and take out": {
        "add": "write_cmds:add",
        "remember": "write_cmds:remember",
        "import": "write_cmds:import_",
        "export": "write_cmds:export",
        "vault": "vault_cmds:vault",
    },
    "Ask": {
        "recall": "recall_cmds:recall",
        "context": "recall_cmds:context",
        "facts": "recall_cmds:facts",
        "core": "recall_cmds:core",
    },
    "Keep in order": {
        "consolidate": "maintenance_cmds:consolidate",
        "sleep": "maintenance_cmds:sleep",
        "apply": "maintenance_cmds:apply",
        "undo": "maintenance_cmds:undo",
        "reembed": "maintenance_cmds:reembed",
        "doctor": "maintenance_cmds:doctor",
        "backup": "store_cmds:backup",
        "copy": "store_cmds:copy",
        "health": "review_cmds:health",
        "review": "review_cmds:review",
        "release": "review_cmds:release",
        "reject": "review_cmds:reject",
        "plot": "review_cmds:plot",
        "compact": "vault_cmds:compact",
        "worker": "worker_cmd:worker",
    },
    "Change by hand": {
        "pin": "edit_cmds:pin",
        "unpin": "edit_cmds:unpin",
        "update": "edit_cmds:update",
        "delete": "edit_cmds:delete",
        "revive": "edit_cmds:revive",
        "erase": "edit_cmds:erase",
    },
    "Look closer": {
        "explain": "inspect_cmds:explain",
        "history": "inspect_cmds:history",
        "summaries": "inspect_cmds:summaries",
        "runs": "inspect_cmds:runs",
        "status": "inspect_cmds:status",
        "cost": "inspect_cmds:cost",
    },
    "Measure": {"eval": "benchmark_cmds:eval_"},
}
"""Each command by the section that lists it in the help, with the module and the name that define it."""

LONGEST_HELP: Final = 200
"""Characters of a command's first sentence that the list of commands shows."""


class LazyGroup(click.Group):
    """A group as Click's documentation describes it under "Lazily Loading Subcommands".

    Args:
        sections: the commands as in `SECTIONS`.
        attributes: arguments of `click.Group`.
    """

    def __init__(self, *, sections: Mapping[str, Mapping[str, str]], **attributes: Any) -> None:  # noqa: ANN401 - Click's
        super().__init__(**attributes)
        self.sections = sections
        self.paths = {name: path for commands in sections.values() for name, path in commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's signature
        """The names of all commands, without importing any."""
        return [*self.paths]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - Click's signature
        """Import one command; None if there is none of this name."""
        if cmd_name not in self.paths:
            return None
        module, _, name = self.paths[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"slowwave.cli.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section."""
        for title, names in self.sections.items():
            commands = {name: self.get_command(ctx, name) for name in names}
            rows = [(name, command.get_short_help_str(LONGEST_HELP)) for name, command in commands.items() if command]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    "slowwave",
    cls=LazyGroup,
    sections=SECTIONS,
    epilog="Exit codes: 0 done · 1 a problem was found · 2 wrong input or settings · 3 work waits for a model · 4 store.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="slowwave %(version)s", help="Show the version and exit.")
@store_common_options
def app() -> None:
    """Memory for LLM agents that sleeps on it. New here? Try: slowwave demo."""
