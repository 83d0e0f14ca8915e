"""The command mcp: memory as an MCP server over stdin and stdout, for coding agents."""

import sys
from importlib.util import find_spec
from pathlib import Path

import click

from slowwave.cli.options import PATH, Command, CommonOptions, common_options
from slowwave.errors import InputError, SettingsError


def require_server_extra() -> None:
    """Raise SettingsError if the extra `server` is not installed."""
    if find_spec("mcp") is None:
        raise SettingsError("this command needs the extra: pip install 'slowwave[server]'")


@click.command(
    "mcp",
    cls=Command,
    examples=(
        "slowwave mcp",
        "slowwave mcp --project .",
        "slowwave mcp --profile graph",
        "slowwave mcp --profile graph --import memory.jsonl",
    ),
)
@click.option("--read-only", is_flag=True, help="Only the tools that read.")
@click.option(
    "--project",
    type=PATH,
    metavar="FOLDER",
    help="The memory of the project of this folder, below the scope, which it also reads.",
)
@click.option(
    "--profile",
    type=click.Choice(["memory", "graph"]),
    default="memory",
    show_default=True,
    help="graph: the nine tools of the official server-memory.",
)
@click.option(
    "--import", "import_file", type=PATH, metavar="FILE", help="With --profile graph: import its file, and end."
)
@common_options
def mcp(options: CommonOptions, read_only: bool, project: Path | None, profile: str, import_file: Path | None) -> None:
    """Serve memory to a coding agent, over stdin and stdout (MCP).

    An agent starts this command by itself: `slowwave install` adds it to the agent's settings. stdout carries the protocol
    only.
    """
    require_server_extra()
    if import_file is not None and profile != "graph":
        raise InputError("--import reads the file of server-memory: use it with --profile graph")
    from slowwave.hooks.place import project_memory  # noqa: PLC0415 - `--help` does without
    from slowwave.server.mcp import import_graph, run_stdio  # noqa: PLC0415 - `--help` does without

    with options.memory(create=True) as opened:
        memory = opened if project is None else project_memory(opened, project)
        if import_file is not None:
            options.output.write_result(import_graph(memory, import_file))
            return
        if sys.stdin.isatty():
            options.warn("waiting for an MCP client on stdin; Ctrl-C ends it")
        run_stdio(memory, read_only=read_only, profile="graph" if profile == "graph" else "memory")
