"""The settings of coding agents: in which file, at which place and in which form each keeps MCP servers and hooks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

NAME: Final = "slowwave"
"""The name of our MCP server in all settings. Agents show its tools as `mcp__slowwave__recall` and the like."""
HERE: Final = "."
"""The folder in which an agent starts the server, which is that of the project."""

Command = Sequence[str]
"""A program and its arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One coding agent.

    Attributes:
        title: its name for people.
        file: its settings, relative to the home folder, or to the folder of the project if `in_project`.
        place: the keys that lead to its MCP servers.
        entry: the entry of a server, of the command that starts it.
        project: what names the project's folder in the entry; None: the agent starts servers elsewhere, so that the memory
            of the user is served.
        in_project: whether the settings are in the folder of the project.
        toml: whether the settings are TOML.
        hooks: the settings of its hooks, relative to the home folder; None if it has no hooks that we know.
        events: its events that we handle, with the seconds that each may take.
        restart: what a person does for the change to take effect.
    """

    title: str
    file: str
    place: tuple[str, ...]
    entry: Callable[[Command], dict[str, Any]]
    project: str | None = HERE
    in_project: bool = False
    toml: bool = False
    hooks: str | None = None
    events: Mapping[str, int] = field(default_factory=dict)
    restart: str = "start a new session"


def _plain(command: Command) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _with_type(command: Command) -> dict[str, Any]:
    return {"type": "stdio", **_plain(command)}


def _of_opencode(command: Command) -> dict[str, Any]:
    return {"type": "local", "command": list(command), "enabled": True}


# No hook is asynchronous: Claude Code ends such a hook when it exits, and what the agent said would be lost.
_EVENTS: Final = {"SessionStart": 5, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 30}

CLIENTS: Final[Mapping[str, Client]] = {
    "claude-code": Client(
        title="Claude Code",
        file=".claude.json",
        place=("mcpServers",),
        entry=_with_type,
        hooks=".claude/settings.json",
        events={**_EVENTS, "SessionEnd": 30},
    ),
    "codex": Client(
        title="Codex",
        file=".codex/config.toml",
        place=("mcp_servers",),
        entry=_plain,
        toml=True,
        hooks=".codex/hooks.json",
        events=_EVENTS,
        restart="start a new session; Codex asks once whether you trust new hooks",
    ),
    "cursor": Client(
        title="Cursor",
        file=".cursor/mcp.json",
        place=("mcpServers",),
        entry=_plain,
        project=None,
        restart="restart Cursor",
    ),
    "gemini": Client(title="Gemini CLI", file=".gemini/settings.json", place=("mcpServers",), entry=_plain),
    "vscode": Client(
        title="VS Code",
        file=".vscode/mcp.json",
        place=("servers",),
        entry=_with_type,
        project="${workspaceFolder}",
        in_project=True,
        restart="start the server in the view of MCP servers",
    ),
    "opencode": Client(
        title="opencode",
        file=".config/opencode/opencode.json",
        place=("mcp",),
        entry=_of_opencode,
    ),
}
"""The agents by the name that `slowwave install` takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """Where settings are looked for."""

    home: Path
    project: Path
