"""The short way in: what it reads, the framework reads the same; what it cannot read, it leaves alone."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from slowwave.cli import app as full, plainly
from slowwave.cli.declared import REQUIRED, Argument, Command, Parameter
from slowwave.cli.options import SHARED
from slowwave.cli.rooms import ROOMS, load

COMMANDS = [command for file in ROOMS for command in load(file).commands]
WORDS = {str: "some words", int: "7", bool: "", Path: "a/file", list[str]: "one"}
LEFT_ALONE = [
    [],
    ["--help"],
    ["recall", "-h"],
    ["recal", "ferry"],
    ["recall"],
    ["recall", "ferry", "boat"],
    ["recall", "--why"],
    ["recall", "ferry", "--wherefore"],
    ["recall", "ferry", "--top-k"],
    ["recall", "ferry", "--top-k", "-3"],
    ["recall", "ferry", "--top-k", "many"],
    ["recall", "ferry", "-k=3"],
    ["recall", "ferry", "--why=yes"],
    ["facts", "--limit", "0"],
    ["remember", "-"],
    ["recall", "--", "--why"],
    ["add", "a fact", "--importance", "0.5"],
    ["vault", "export", "pages"],
    ["--scope"],
    ["--why", "recall", "ferry"],
]


class Readings:
    """What either way would have run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        for way in (plainly, full):
            monkeypatch.setattr(way, "exit_on_error", self._ended)

    def _ended(self, command: Command, before: dict[str, Any], options: dict[str, Any]) -> int:
        self.seen.append((command.name, {name: value for name, value in before.items() if value}, options))
        return 0

    def both(self, words: Sequence[str]) -> None:
        assert plainly.run(words) == 0, words
        assert CliRunner().invoke(full.app, list(words)).exit_code == 0, words
        plain, framed = self.seen[-2:]
        assert plain == framed


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    return Readings(monkeypatch)


def spoken(one: Parameter) -> list[list[str]]:
    """Every way to write a parameter."""
    word = WORDS[one.kind]
    if not one.flags:
        return [[word]]
    if one.kind is bool:
        return [[flag] for flag in one.flags]
    joined = [[f"{flag}={word}"] for flag in one.flags if flag.startswith("--")]
    return [*([flag, word] for flag in one.flags), *joined]


def needed(command: Command) -> list[str]:
    return [WORDS[one.kind] for one in command.parameters if one.default is REQUIRED]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_plain_call_is_read_as_the_framework_reads_it(command: Command, readings: Readings) -> None:
    own = [one for one in command.parameters if one.kind is not float]
    readings.both([command.name, *needed(command)])
    for one in own:
        for words in spoken(one):
            if one.flags:
                readings.both([command.name, *words, *needed(command)])
            elif one.default is not REQUIRED:
                readings.both([command.name, *needed(command), *words])


def test_what_all_commands_share_is_read_before_and_after_the_name(readings: Readings) -> None:
    for one in SHARED:
        for words in spoken(one):
            readings.both(["--scope", "acme", *words, "recall", "ferry"])
            readings.both(["--scope", "acme", "recall", "ferry", *words])


def test_an_option_that_may_be_repeated_keeps_all_its_values_and_others_the_last(readings: Readings) -> None:
    readings.both(["recall", "--kinds", "message", "ferry", "--kinds=summary", "-k", "3", "--top-k", "4", "--json"])
    options = readings.seen[0][2]
    assert (options["kinds"], options["top_k"], options["query"]) == (["message", "summary"], 4, "ferry")


@pytest.mark.parametrize("words", LEFT_ALONE, ids=" ".join)
def test_whatever_is_not_plain_is_left_to_the_framework(words: list[str], readings: Readings) -> None:
    assert plainly.run(words) is None
    assert not readings.seen


def test_the_table_of_rooms_names_every_command_once() -> None:
    for file, names in ROOMS.items():
        assert tuple(command.name for command in load(file).commands) == names
    files = {path.stem for path in Path(plainly.__file__).parent.glob("*.py") if "\nroom = Room()" in path.read_text()}
    assert files == set(ROOMS)


def test_every_flag_is_spelled_out_and_every_argument_stands_plainly() -> None:
    for command in COMMANDS:
        for one in command.parameters:
            assert isinstance(one.how, Argument) or one.kind is not bool or one.how.flags


def test_a_question_is_answered_without_the_framework(store: Path) -> None:
    script = (
        "import sys\nfrom slowwave.cli import main\n"
        "sys.argv = ['slowwave', 'recall', 'ferry', '--llm', 'none']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print('typer' in sys.modules, 'pydantic' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["nothing found; slowwave status shows what there is", "False False"]
    assert store.exists()
