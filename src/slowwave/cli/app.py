"""The command `slowwave`: a group that imports the module of a command when the command is used."""

import difflib
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

import click

from slowwave import __version__
from slowwave.cli.endings import run_command
from slowwave.cli.layout import HelpContext
from slowwave.cli.options import store_common_options
from slowwave.model.suggestions import instead_of

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Start": {"demo": "demo_cmd:demo", "help": "help_cmd:help_"},
    "Store": {
        "add": "write_cmds:add",
        "remember": "write_cmds:remember",
        "notes": "note_cmds:notes",
        "title": "conversation_cmds:title",
        "consolidate": "maintenance_cmds:consolidate",
    },
    "Find": {
        "search": "recall_cmds:search",
        "context": "recall_cmds:context",
        "list": "recall_cmds:list_",
        "core": "recall_cmds:core",
        "conversations": "conversation_cmds:conversations",
        "messages": "conversation_cmds:messages",
        "explain": "inspect_cmds:explain",
        "history": "inspect_cmds:history",
        "summaries": "inspect_cmds:summaries",
    },
    "Change": {
        "update": "edit_cmds:update",
        "pin": "edit_cmds:pin",
        "unpin": "edit_cmds:unpin",
        "delete": "edit_cmds:delete",
        "revive": "edit_cmds:revive",
        "review": "review_cmds:review",
        "release": "review_cmds:release",
        "reject": "review_cmds:reject",
        "runs": "inspect_cmds:runs",
        "run": "inspect_cmds:run_",
        "undo": "maintenance_cmds:undo",
        "erase": "edit_cmds:erase",
    },
    "Maintain": {
        "sleep": "maintenance_cmds:sleep",
        "apply": "maintenance_cmds:apply",
        "compact": "vault_cmds:compact",
        "worker": "worker_cmd:worker",
        "retry": "worker_cmd:retry",
        "reembed": "maintenance_cmds:reembed",
        "status": "inspect_cmds:status",
        "fleet": "fleet_cmd:fleet",
        "health": "review_cmds:health",
        "doctor": "maintenance_cmds:doctor",
        "cost": "inspect_cmds:cost",
        "plot": "review_cmds:plot",
    },
    "Import, export, copy": {
        "import": "write_cmds:import_",
        "export": "write_cmds:export",
        "vault": "vault_cmds:vault",
        "scopes": "store_cmds:scopes",
        "backup": "store_cmds:backup",
        "copy": "store_cmds:copy",
        "init": "store_cmds:init",
        "migrate": "store_cmds:migrate",
    },
    "Serve": {"serve": "serve_cmd:serve", "keys": "key_cmds:keys"},
    "Agents": {"install": "install_cmd:install", "mcp": "mcp_cmd:mcp", "hook": "hook_cmd:hook"},
    "Set up": {
        "config": "config_cmds:config",
        "completion": "help_cmd:completion",
        "eval": "benchmark_cmds:eval_",
    },
}
"""Each command by the section that lists it in the help, with the module and the name that define it."""

ALIASES: Final[Mapping[str, str]] = {
    "recall": "search",
    "facts": "list",
    "get-all": "list",
    "show": "explain",
    "get": "explain",
    "add-messages": "remember",
    "tick": "sleep",
    "ls": "list",
    "note": "notes",
    "set-title": "title",
    "settings": "config",
}
"""Other names of commands: former ones, those of the library's methods, and those that people try first."""

NO_COMMANDS: Final[Mapping[str, str]] = {
    "forget": "use `slowwave delete ID`, which can be undone, or `slowwave erase ID`, which cannot",
    "remove": "use `slowwave delete ID`, which can be undone, or `slowwave erase ID`, which cannot",
    "rm": "use `slowwave delete ID`, which can be undone, or `slowwave erase ID`, which cannot",
    "ask": "use `slowwave search WORDS`",
    "version": "use `slowwave --version`",
    "restore": "use `slowwave revive ID` for a memory, or `slowwave undo RUN` for a run",
}
"""Names that people try where two commands could be meant, with what to use."""

SIMILAR: Final = 0.85
"""The least similarity of a name to one of these, from 0 to 1, as difflib measures it."""
LONGEST_HELP: Final = 200
"""Characters of a command's first sentence that the list of commands shows."""


class LazyGroup(click.Group):
    """A group as Click's documentation describes it under "Lazily Loading Subcommands".

    Args:
        sections: the commands as in `SECTIONS`.
        attributes: arguments of `click.Group`.
    """

    context_class = HelpContext

    def __init__(self, *, sections: Mapping[str, Mapping[str, str]], **attributes: Any) -> None:  # noqa: ANN401 - Click's
        super().__init__(**attributes)
        self.sections = sections
        self.paths = {name: path for commands in sections.values() for name, path in commands.items()}

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,  # noqa: ANN401 - Click's
    ) -> Any:  # noqa: ANN401 - Click's
        """Run the command of the arguments, and exit. Errors of the arguments are printed like those of commands."""
        words = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(words, prog_name, complete_var, standalone_mode=False, **extra)

        def call() -> int | None:
            code = super(LazyGroup, self).main(words, prog_name, complete_var, standalone_mode=False, **extra)
            return code if isinstance(code, int) else None

        sys.exit(run_command(call, json="--json" in words, verbose="--verbose" in words))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's signature
        """The names of all commands, without importing any."""
        return [*self.paths]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - Click's signature
        """Import one command by its name or another name of it; None if there is none of this name."""
        cmd_name = cmd_name.replace("_", "-")  # as the methods of the library are written
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in self.paths:
            return None
        module, _, name = self.paths[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"slowwave.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments. An unknown name is an error that suggests another."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"there is no command {name!r}: {suggestion(name, self.paths)}")
        found, command, rest = super().resolve_command(ctx, args)
        return command.name if command else found, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, each with its other names."""
        others: dict[str, list[str]] = {}
        for other, name in ALIASES.items():
            others.setdefault(name, []).append(other)
        for title, names in self.sections.items():
            commands = {name: self.get_command(ctx, name) for name in names}
            rows = [(name, _summary(command, others.get(name, ()))) for name, command in commands.items() if command]
            with formatter.section(title):
                formatter.write_dl(rows)


def _summary(command: click.Command, others: Sequence[str]) -> str:
    also = f" Also: {', '.join(others)}." if others else ""
    return command.get_short_help_str(LONGEST_HELP) + also


def suggestion(name: str, known: Mapping[str, object]) -> str:
    """What to use instead of a command that does not exist."""
    if two := difflib.get_close_matches(name, NO_COMMANDS, n=1, cutoff=SIMILAR):
        return NO_COMMANDS[two[0]]
    methods = {one.replace("-", "_"): ALIASES.get(one, one) for one in (*known, *ALIASES)}
    guessed = [methods[one] for one in instead_of(name, methods)]
    near = dict.fromkeys(
        guessed or [ALIASES.get(one, one) for one in difflib.get_close_matches(name, [*known, *ALIASES], n=3)]
    )
    listed = "`slowwave help` lists all"
    return f"did you mean {' or '.join(near)}? {listed}" if near else listed


@click.group(
    "slowwave",
    cls=LazyGroup,
    sections=SECTIONS,
    epilog="Exit codes: 0 done · 1 a problem was found · 2 wrong input or settings · 3 work waits for a model · 4 store. "
    "Options may be given before or after the command. TIME is a date such as 2026-03-14, or 2026-03-14T09:30+01:00. "
    "ID may be shortened to its last 6 characters or more.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="slowwave %(version)s", help="Show the version and exit.")
@store_common_options
def app() -> None:
    """A memory for LLM agents. New here? Try: slowwave demo."""
