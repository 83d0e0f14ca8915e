"""Every argument of every command with odd texts: an exit code and one sentence, never a traceback."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.arguments.command_lines import COMMANDS, invoker, tried, words_for, written

SHORT = 2
"""Texts for each argument in the short run; the long one tries all of them."""


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], None]:
    monkeypatch.chdir(tmp_path)
    return invoker(tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_odd_text_ends_a_command_with_a_sentence(name: str, invoke: Callable[[list[str]], None]) -> None:
    path, command = COMMANDS[name]
    chance = random.Random(name)
    for parameter in filter(tried, command.params):
        for word in chance.sample(words_for(parameter), SHORT):
            invoke([*path, *written(command, parameter, word)])


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_every_odd_text_ends_a_command_with_a_sentence(name: str, invoke: Callable[[list[str]], None]) -> None:
    path, command = COMMANDS[name]
    for parameter in filter(tried, command.params):
        for word in words_for(parameter):
            invoke([*path, *written(command, parameter, word)])
