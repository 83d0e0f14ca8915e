"""Every command of the command line with an odd text for each of its arguments."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from slowwave import AgentMemory, Message
from slowwave.cli.app import app

WORDS = (
    *(
        "",
        " ",
        "-",
        "--",
        "---x",
        "-1",
        "0",
        "1.5",
        "nan",
        "inf",
        "9" * 30,
        "%s{}",
        "x" * 600,
        "a\nb",
        "../../x",
        "é💥",
    ),
    *(
        "'; DROP TABLE memories; --",
        "\x1b[31m\x07\u202e\u2028",
        "@",
        "{",
        "[1]",
        "2026-13-45",
        "9999-12-31",
        "x" * 50_000,
    ),
    *(os.fsdecode(b"Z\xeb"), "a\u0301" * 40),
)
LEFT_OUT = {"worker", "demo", "benchmark", "serve", "mcp"}
"""Commands that run until they are stopped, or take seconds."""
RUNS_ON = {"every", "max_passes"}
"""Options with which `sleep` repeats."""


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    if not isinstance(group, click.Group):
        yield path, group
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and name not in LEFT_OUT:
            yield from commands(command, (*path, name))


COMMANDS = {" ".join(path): (path, command) for path, command in commands(app)}


def environment(folder: Path) -> Mapping[str, str | None]:
    """The variables with which a command uses a store in this folder, and no setting of this machine; None: not set."""
    unset = dict.fromkeys(f"SLOWWAVE_{name}" for name in ("SCOPE", "LLM", "LLM_URL", "EMBEDDER_URL", "CONFIG", "VAULT"))
    return unset | {
        "SLOWWAVE_STORE": str(folder / "memory.db"),
        "SLOWWAVE_EMBEDDER": "none",
        "XDG_CONFIG_HOME": str(folder / "config"),
    }


def invoker(folder: Path) -> Callable[[list[str]], None]:
    """A function that runs a command on a store in this folder: an exit code and a sentence, never a traceback."""
    with AgentMemory.open(folder / "memory.db", llm=None, embedder="none") as memory:
        memory.add("Alice owns the deploy pipeline")
        memory.add_message(Message("user", "The database is Postgres."), "monday")

    def run(words: list[str]) -> None:
        ran = CliRunner(env=environment(folder)).invoke(app, words, input="")
        assert ran.exception is None or isinstance(ran.exception, SystemExit), (words, ran.exception)
        assert ran.exit_code in {0, 1, 2, 3, 4}, words
        assert "Traceback" not in ran.output + ran.stderr, words
        if ran.exit_code not in {0, 1}:
            assert ran.stderr.strip(), (words, "an error says what to do")

    return run


def written(command: click.Command, tried: click.Parameter, word: str) -> list[str]:
    """The words of a command line with this word for one of its arguments; the other required ones are simple."""
    words: list[str] = []
    last: list[str] = []
    for parameter in command.params:
        value = word if parameter is tried else "monday"
        if isinstance(parameter, click.Argument):
            if parameter is tried or parameter.required:
                last.append(value)
        elif parameter is tried:
            words += [parameter.opts[0], value]
        elif parameter.required:
            words += [parameter.opts[0], "monday"]
    return [*words, *(["--"] if word.startswith("-") else []), *last]


def words_for(parameter: click.Parameter) -> list[str]:
    """The texts to try. A path may have bytes that the output of this runner, unlike that of the program, cannot show."""
    return [word for word in WORDS if word.isprintable() or not isinstance(parameter.type, click.Path)]


def tried(parameter: Any) -> bool:  # noqa: ANN401 - a parameter of Click
    return parameter.name not in RUNS_ON and not getattr(parameter, "is_flag", False)
